"""Questions by the hundred, balanced or with a leak planted."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from templates.question import Question

CLIPS = 30
SCORERS = {"numeric": "numbers", "json": "numbers", "point": "point", "plan": "plan"}
PLACES = ("to the left", "to the right", "far ahead", "just behind", "above it", "below it")


def choice(
    n: int, clip: str, options: Sequence[str], right: int, prompt: str = "Where is it?", **more: Any
) -> Question:
    return question(n, clip, "choice", "ABCDEFGH"[right], prompt, options=list(options), **more)


def question(n: int, clip: str, form: Any, answer: Any, prompt: str, **more: Any) -> Question:
    photo = {
        "id": f"photo {n}", "kind": "frames", "path": f"media/{n}.jpg", "frames": [n], "times_s": None, "marks": [],
        "frame_size_px": [320, 240], "size_px": [320, 240],
    }  # fmt: skip
    fields: dict[str, Any] = {
        "id": f"{n:016x}", "ability": "L1/Geometry/Distance", "template": f"t {form}", "format": form,
        "instructions": "", "prompt": prompt, "options": [], "answer": answer, "value": answer, "unit": "",
        "sigma": None, "tolerance": None, "margin": 5.0, "scorer": SCORERS.get(form, "label"), "scorer_params": {},
        "media": [photo], "fact": {"n": n},
        "fact_id": f"fact {n}", "evidence": {}, "clip": clip, "seed": 0, "provenance": [],
        "licence": {"footage": "CC-BY-4.0", "signals": ["MIT"], "commercial_ok": True},
    }  # fmt: skip
    return Question(**{**fields, **more})


def clip_of(n: int) -> str:
    return f"clip {n % CLIPS:02d}"


def scenes_of(questions: Sequence[Question]) -> dict[str, str]:
    return {question.clip: question.clip for question in questions}


def made(one: Callable[[int, str, np.random.Generator], Question], count: int = 300, seed: int = 0) -> list[Question]:
    """`count` of them, over 30 clips."""
    rng = np.random.default_rng(seed)
    return [one(n, clip_of(n), rng) for n in range(count)]


def fair_choice(n: int, clip: str, rng: np.random.Generator) -> Question:
    options = rng.permutation(PLACES)[:4].tolist()
    words = rng.permutation(["chair", "table", "lamp", "window", "door", "shelf"])
    return choice(n, clip, options, int(rng.integers(4)), f"Where is the {words[0]}, seen from the {words[1]}?")


def fair_yes_no(n: int, clip: str, rng: np.random.Generator) -> Question:
    word = rng.choice(["chair", "table", "lamp", "window"])
    return question(n, clip, "yes_no", str(rng.choice(["yes", "no"])), f"Does the {word} move?")


def fair_number(n: int, clip: str, rng: np.random.Generator) -> Question:
    word = rng.choice(["chair", "table", "lamp", "window"])
    value = round(float(rng.uniform(0, 20)), 2)
    return question(n, clip, "numeric", value, f"How far is the {word}?", tolerance=0.5)


def fair_order(n: int, clip: str, rng: np.random.Generator) -> Question:
    return question(n, clip, "order", (rng.permutation(4) + 2).tolist(), "In which order?")


def fair_point(n: int, clip: str, rng: np.random.Generator) -> Question:
    return question(n, clip, "point", rng.uniform(0, 240, 2).tolist(), "Where is it in photo 2?", tolerance=8.0)


def fair_pose(n: int, clip: str, rng: np.random.Generator) -> Question:
    answer = {"roll": float(rng.uniform(-40, 40)), "pitch": float(rng.uniform(-40, 40))}
    return question(n, clip, "json", answer, "How is it held?", tolerance={"roll": 5.0, "pitch": 5.0})


FAIR = (fair_choice, fair_yes_no, fair_number, fair_order, fair_point, fair_pose)


def all_fair(seed: int, count: int = 120) -> list[Question]:
    """Some of everything, nothing to be guessed; ids differ."""
    found = [q for one in FAIR for q in made(one, count, seed)]
    return [replace(q, id=f"{n:016x}", fact_id=f"fact {n}") for n, q in enumerate(found)]
