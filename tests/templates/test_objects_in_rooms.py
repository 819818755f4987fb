"""Questions about objects in rendered rooms, answered again from points on the surfaces, without the formulas."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.objects.object_names import folded
from experts.signals import NoEstimate, Signal
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from spatial_engine.rendering.rooms import random_room
from templates.columns import Json
from templates.generate import ask_clip
from templates.registry import TEMPLATES
from templates.scene.objects import UNNAMED
from templates.settings import AskSettings

NAMES = ("closest_object", "wider_object", "count_in_photo", "object_faces")
_GRID = np.stack(np.meshgrid(*[np.linspace(-1, 1, 15)] * 3), axis=-1).reshape(-1, 3)
_FACES = _GRID[np.abs(_GRID).max(axis=1) == 1]


def surface(scene: RenderedScene, row: int, frame: int) -> np.ndarray:
    """Points on all boxes of an object, in the world."""
    poses = scene.world_from_boxes(frame)
    each = scene.objects[row].boxes
    return np.concatenate([_FACES * scene.furniture[k].half_m @ poses[k][:3, :3].T + poses[k][:3, 3] for k in each])


def meant(scene: RenderedScene, ref: dict[str, Json]) -> int:
    """The object that a reference points at."""
    x, y = np.round(ref["inside_px"]).astype(int)
    row = int(scene.object_ids(ref["frame"])[y, x])
    assert row >= 0 and ref["name"] in (folded(scene.objects[row].name), UNNAMED)
    return row


def closest(scene: RenderedScene, fact: dict[str, Json], answer: Json) -> bool:
    frame = fact["first"]["frame"]
    camera = scene.world_from_cam[frame, :3, 3]
    each = [surface(scene, meant(scene, fact[name]), frame) for name in ("first", "second", "third")]
    return int(np.argmin([np.linalg.norm(points - camera, axis=1).min() for points in each])) == int(answer) - 1


def wider(scene: RenderedScene, fact: dict[str, Json], answer: Json) -> bool:
    widths = [_width(surface(scene, meant(scene, fact[name]), fact[name]["frame"])) for name in ("first", "second")]
    ratio = widths[1] / widths[0]
    return (answer == "2") == (ratio > 1) if isinstance(answer, str) else abs(answer / ratio - 1) < 0.15


def _width(points: np.ndarray) -> float:
    """Longer side of the smallest rectangle around the points, seen from above."""
    turns = Rotation.from_euler("z", np.arange(0, 90.0)[:, None], degrees=True).as_matrix()[:, :2, :2]
    sides = np.ptp(points[:, :2] @ turns, axis=1)
    return float(sides[np.prod(sides, axis=1).argmin()].max())


def counted(scene: RenderedScene, fact: dict[str, Json], answer: Json) -> bool:
    ids = scene.object_ids(fact["frame"])
    return sum(folded(scene.objects[row].name) == fact["name"] for row in np.unique(ids[ids >= 0])) == answer


def faces(scene: RenderedScene, fact: dict[str, Json], answer: Json) -> bool:
    """By where the front points on the floor: along the line of sight, or across it."""
    frame = fact["object"]["frame"]
    pose = scene.world_from_objects(frame)[meant(scene, fact["object"])]
    ahead, front = (
        v[:2] / np.linalg.norm(v[:2]) for v in (pose[:3, 3] - scene.world_from_cam[frame, :3, 3], -pose[:3, 1])
    )
    along, to_right = front @ ahead, front @ [ahead[1], -ahead[0]]
    if abs(along) > abs(to_right):
        return bool(answer == ("away from the camera" if along > 0 else "towards the camera"))
    return bool(answer == ("to the right" if to_right > 0 else "to the left"))


RIGHT = {"closest_object": closest, "wider_object": wider, "count_in_photo": counted, "object_faces": faces}


def check(scene: RenderedScene, signals: dict[str, Signal | NoEstimate], least: set[str]) -> None:
    templates = [TEMPLATES.load(name)() for name in NAMES]
    found = ask_clip(as_clip(scene), signals, templates, AskSettings(facts_per_template=60), 0)
    asked = [
        (one.template.name, fact, draft.answer.to_json().answer)
        for one in found.asked
        for fact, draft in zip(one.facts.to_json(), one.drafts(), strict=True)
    ]
    assert {name for name, _, _ in asked} >= least
    for name, fact, value in asked:
        assert RIGHT[name](scene, fact, value), (name, fact, value)


def seeds(quick: int, all_of_them: int) -> pytest.MarkDecorator:
    slow = [pytest.param(seed, marks=pytest.mark.long(sample=seed == quick)) for seed in range(quick, all_of_them)]
    return pytest.mark.parametrize("seed", [*range(quick), *slow])


@seeds(1, 20)
def test_every_answer_is_that_of_the_surfaces(seed: int) -> None:
    scene = random_room(np.random.default_rng(seed), frames=12, width_px=320, height_px=240)
    check(scene, true_signals(scene, as_clip(scene), stride=4), {*NAMES})


@seeds(0, 12)
def test_among_many_pieces_of_furniture_too(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, true_signals(scene, as_clip(scene), stride=6), {*NAMES})


@seeds(0, 4)
def test_experts_that_err_give_fewer_questions_and_no_wrong_ones(seed: int) -> None:
    """Masks, names, depth and fronts with the errors of networks, through the real code of the experts."""
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, imitated_signals(scene, as_clip(scene)), set())
