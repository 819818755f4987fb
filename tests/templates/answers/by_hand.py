"""Questions made from an answer alone, without a template."""

from typing import Any

from spatial_engine.dataset.question_line import from_line, to_line
from templates.answers import Answer
from templates.question import Question

WIDTH, HEIGHT = 320, 240


def asked(answer: Answer, form: str, /, *, prompt: str = "Where is it?", number: int = 0, **more: Any) -> Question:
    """A question about one photo, as read from its line."""
    recorded = answer.to_json()
    photo = {
        "id": f"photo{number}", "kind": "frames", "path": f"media/{number}.png", "frames": [number], "times_s": None,
        "marks": [], "frame_size_px": [WIDTH, HEIGHT], "size_px": [WIDTH, HEIGHT],
    }  # fmt: skip
    fields: dict[str, Any] = {
        "id": f"{number:016x}", "ability": "L1/Localization/3D Grounding", "template": f"by hand {form}",
        "format": form, "prompt": prompt, "options": [], "answer": recorded.answer, "value": recorded.value,
        "unit": recorded.unit, "sigma": recorded.sigma, "tolerance": recorded.tolerance, "margin": recorded.margin,
        "scorer": answer.name, "scorer_params": dict(recorded.scorer_params), "media": [photo],
        "fact": {"frame": number}, "fact_id": f"fact {number}", "evidence": {}, "clip": "c" * 16, "seed": 0,
        "provenance": [{"expert": "hand", "version": "1"}],
        "licence": {"footage": "CC-BY-4.0", "signals": ["MIT"], "commercial_ok": True},
    }  # fmt: skip
    return from_line(to_line(Question(**{**fields, **more})))
