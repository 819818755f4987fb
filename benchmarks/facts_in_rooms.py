"""Counts what the templates of L1, L2, dynamics, hidden relations and routes ask in rendered rooms: by exact signals
and by imitated experts.

    python -m benchmarks.facts_in_rooms OUT [ROOMS]

Each room is seventeen clips: two furnished rooms, for all templates; the same with a camera that goes round the table,
for what things hide; with small objects that lean, for their tilt; a camera that stands, goes and turns, for its
motion; one that tilts and rolls, for gravity; two that move in several ways, for stories and manners; one that goes
along with a crate, one that comes out from behind a board, and one that wanders about, for the other manners; one
that turns all round, for the area of a room; crates that slide about, for the motion of objects; crates that move one
after the other, and some that meet, for what happens; a cart that carries a crate along; a camera that goes straight
on, and crates that do so before a camera on a tripod, for what comes next.

Answers to exact signals are compared with the independent evaluators of `tests/templates`. Those to imitated experts
(1 px borders, 10 % missed, 3 % confused names, depth 3 %, scale 2 %, fronts 10° and 5 % flipped) are compared with the
exact signals, and the names in them with those of the objects. OUT keeps a file per clip and source: what is there is
not computed again. Prints a table, with the most frequent reasons for which facts are not asked of imitated experts.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np

from experts.matching.reprojection import ReprojectionExpert
from experts.objects.object_names import folded
from experts.signals import NoEstimate, Signal
from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, staged_rooms, true_signals
from spatial_engine.rendering.camera_paths import Poses, Stance
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from spatial_engine.rendering.rooms import random_room
from templates.asked import ClipQuestions, Draft
from templates.columns import Json
from templates.generate import SURPLUS, ask_clip
from templates.media import Photo, Video
from templates.registry import create_templates
from templates.scene.objects import UNNAMED
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from templates.truth import verdict
from templates.world import Procedural
from tests.templates import (
    test_gravity_in_rooms,
    test_motion_in_rooms,
    test_motion_stories_in_rooms,
)

FACTS = 60
"""Most facts of one template about one clip."""
FRAMES = 24
"""Of each clip, that have depth and objects."""
WIDTH_PX, HEIGHT_PX = 480, 360
ABOUT = ["L1", "L2", "L3/Causal Reasoning/Dynamics", "L3/Causal Reasoning/Relation", "L3/Sequential Planning/Route"]
TEMPLATES = {n: t for n, t in create_templates(ABOUT).items() if t.world is not Procedural}
EVALUATORS = sorted(Path(test_motion_in_rooms.__file__).parent.glob("test_*_in_rooms.py"))
MODULES = [import_module(f"tests.templates.{file.stem}") for file in EVALUATORS]
RIGHT = {name: right for module in MODULES for name, right in getattr(module, "RIGHT", {}).items()}
"""Evaluators of facts and answers, ..."""
RIGHT_DRAFTS = {name: right for module in MODULES for name, right in getattr(module, "RIGHT_DRAFTS", {}).items()}
"""... and of questions in words."""
Found = Mapping[str, Signal | NoEstimate]


def furnished(seed: int) -> RenderedScene:
    """Two rooms with about fifty objects, some of which may move."""
    return furnished_room(np.random.default_rng(seed), frames=2 * FRAMES, width_px=WIDTH_PX, height_px=HEIGHT_PX)


def orbiting(seed: int) -> RenderedScene:
    """The same, with a camera that goes round the table: it sees what things hide."""
    rng = np.random.default_rng(seed)
    return furnished_room(rng, frames=2 * FRAMES, width_px=WIDTH_PX, height_px=HEIGHT_PX, path="orbit")


def leaning(seed: int) -> RenderedScene:
    """The same, but small objects lean."""
    return staged_rooms.leaning(furnished(seed), seed)


def along(path: Callable[[int, Stance], Poses]) -> Callable[[int], RenderedScene]:
    """Rooms with few objects and a camera that goes along a path."""
    return lambda seed: random_room(
        np.random.default_rng(seed), frames=2 * FRAMES, width_px=WIDTH_PX, height_px=HEIGHT_PX, path=path
    )


def busy(seed: int) -> RenderedScene:
    """A room in which crates slide about."""
    return staged_rooms.busy_room(seed, FRAMES, WIDTH_PX)


def racing(seed: int) -> RenderedScene:
    """A room in which crates slide straight on before a camera that stands still."""
    return staged_rooms.crossing_room(seed, 2 * FRAMES, WIDTH_PX, racing=True)


_MANNER = ("L2/Understanding/Motion Understanding/camera_manner",)
CLIPS: Mapping[str, tuple[Callable[[int], RenderedScene], tuple[str, ...]]] = {
    "furnished": (furnished, ("L1", "L2", "L3")),
    "orbiting": (orbiting, ("L3/Causal Reasoning/Relation/behind_it",)),
    "leaning": (leaning, tuple(f"L1/Orientation/Object Orientation/object_{name}" for name in ("tilt", "angles"))),
    "halting": (along(test_motion_in_rooms.halting), ("L1/Motion/Ego",)),
    "swaying": (along(test_gravity_in_rooms.swaying), ("L1/Orientation/Gravity",)),
    "story": (
        test_motion_stories_in_rooms.room_of,
        ("L2/Understanding/Motion Understanding/camera_", "L3/Sequential Planning/Route"),
    ),
    "filmed": (test_motion_stories_in_rooms.filmed, _MANNER),
    "following": (lambda seed: staged_rooms.following_room(seed, 2 * FRAMES, WIDTH_PX), _MANNER),
    "revealing": (lambda seed: staged_rooms.revealing_room(seed, 2 * FRAMES, WIDTH_PX), _MANNER),
    "wandering": (test_motion_stories_in_rooms.wandering, _MANNER),
    "staged": (staged_rooms.staged, ("L2/Understanding/Motion Understanding/what_happens",)),
    "meeting": (staged_rooms.meeting_room, ("L2/Understanding/Motion Understanding/what_happens",)),
    "carrying": (staged_rooms.carrying_room, ("L2/Understanding/Relation Understanding/moves_along",)),
    "turning": (along(camera_paths.around), ("L2/Memory/Cognitive Map/room_area",)),
    "busy": (busy, ("L1/Motion/Allo",)),
    "driving": (along(camera_paths.driving), ("L3/Causal Reasoning/Dynamics/time_to_contact",)),
    "racing": (racing, tuple(f"L3/Causal Reasoning/Dynamics/{name}" for name in ("where_next", "meets_first"))),
}
"""How each clip of a room is made, and beginnings of ability/template about which it is asked."""


def exact(scene: RenderedScene) -> Found:
    """The true signals, and matches made from them."""
    signals = dict(true_signals(scene, as_clip(scene), stride=max(1, len(scene.world_from_cam) // FRAMES)))
    return signals | dict(ReprojectionExpert()(as_clip(scene), signals))


def imitated(scene: RenderedScene) -> Found:
    """Signals with the errors of networks, and matches made from them."""
    signals = imitated_signals(scene, as_clip(scene))
    return signals | dict(ReprojectionExpert()(as_clip(scene), signals))


SOURCES: Mapping[str, Callable[[RenderedScene], Found]] = {"exact": exact, "imitated": imitated}


def contradicted(scene: RenderedScene, drafts: list[Draft]) -> Iterator[bool]:
    """Whether the independent evaluator, where there is one, has another answer."""
    for draft in drafts:
        if draft.template in RIGHT_DRAFTS:
            yield not RIGHT_DRAFTS[draft.template](scene, draft)
        else:
            right = RIGHT.get(draft.template)
            yield right is not None and not right(scene, draft.fact, draft.answer.to_json().answer)


def wrong(scene: RenderedScene, drafts: list[Draft]) -> Iterator[bool]:
    """Whether exact signals have another answer, or a name is not that of the object."""
    media = [medium for draft in drafts for medium in draft.media]
    shown = {medium.frame for medium in media if isinstance(medium, Photo)}
    shown |= {frame for medium in media if isinstance(medium, Video) for frame in medium.frames}
    if not shown:
        return
    clip = as_clip(scene)
    (truth,) = scenes_of(clip, true_signals(scene, clip, sorted(shown)))
    for draft in drafts:
        by_truth = verdict(TEMPLATES[draft.template], draft.format, dict(draft.fact), draft.answer, truth)
        yield by_truth is False or misnamed(scene, draft.fact)


def misnamed(scene: RenderedScene, fact: Mapping[str, Json]) -> bool:
    """Whether a reference has a name, and not that of the object at its pixel."""
    refs = (value for value in fact.values() if isinstance(value, dict) and value.get("name"))
    for ref in (ref for ref in refs if ref["name"] != UNNAMED):
        x, y = np.round(ref["inside_px"]).astype(int)
        row = int(scene.object_ids(ref["frame"])[y, x])
        if row < 0 or ref["name"] != folded(scene.objects[row].name):
            return True
    return False


def counted(asked: ClipQuestions, drafts: list[Draft], are_wrong: Iterator[bool]) -> dict[str, dict[str, Json]]:
    """By template: the number of facts asked and of wrong ones, and of refusals by reason. Prints wrong ones."""
    facts = {name: {d.fact_id: False for d in drafts if d.template == name} for name in TEMPLATES}
    for draft, is_wrong in zip(drafts, are_wrong, strict=True):
        facts[draft.template][draft.fact_id] |= is_wrong
        if is_wrong:
            print("    WRONG", draft.template, draft.format, draft.fact, draft.answer.to_json().answer, flush=True)
    reasons: dict[str, Counter[str]] = {name: Counter() for name in TEMPLATES}
    for refusal in asked.refusals:
        if refusal.reason != SURPLUS:
            reasons[refusal.template][refusal.reason] += refusal.count
    return {n: {"facts": len(f), "wrong": sum(f.values()), "reasons": dict(reasons[n])} for n, f in facts.items()}


def result(seed: int, kind: str, source: str) -> dict[str, dict[str, Json]]:
    """Counts of one clip and source."""
    make, asked_about = CLIPS[kind]
    scene = make(seed)
    templates = [t for t in TEMPLATES.values() if f"{t.ability}/{t.name}".startswith(asked_about)]
    settings = AskSettings(facts_per_template=FACTS)
    asked = ask_clip(as_clip(scene), dict(SOURCES[source](scene)), templates, settings, 0)
    drafts = [draft for part in asked.asked for draft in part.drafts()]
    return counted(asked, drafts, contradicted(scene, drafts) if source == "exact" else wrong(scene, drafts))


def table(results: Mapping[str, list[dict[str, dict[str, Json]]]]) -> Iterator[str]:
    """Lines of a table, a template a line."""
    yield "| template | facts, exact | wrong | facts, imitated | wrong | yield (%) | most frequent reason |"
    yield "|---|--:|--:|--:|--:|--:|---|"
    for name in TEMPLATES:
        sums = {
            source: [sum(each[name][key] for each in clips) for key in ("facts", "wrong")]
            for source, clips in results.items()
        }
        reasons = sum((Counter(each[name]["reasons"]) for each in results["imitated"]), Counter())
        often = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common(2))
        (facts, contradictions), (kept, errors) = sums["exact"], sums["imitated"]
        share = f"{100 * kept / facts:.0f}" if facts else "–"
        checked = contradictions if name in {*RIGHT, *RIGHT_DRAFTS} else "–"
        yield f"| {name} | {facts} | {checked} | {kept} | {errors} | {share} | {often} |"


def main(out: Path, rooms: int) -> None:
    """Counts what is not there yet, then prints the table."""
    out.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[dict[str, dict[str, Json]]]] = {source: [] for source in SOURCES}
    for seed in range(rooms):
        for kind, source in product(CLIPS, SOURCES):
            path = out / f"{seed:03d}_{kind}_{source}.json"
            if not path.exists():
                print(path.stem, flush=True)
                path.write_text(json.dumps(result(seed, kind, source)), encoding="utf-8")
            results[source].append(json.loads(path.read_text(encoding="utf-8")))
    print("\n".join(table(results)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)
