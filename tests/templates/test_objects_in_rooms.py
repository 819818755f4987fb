"""Questions about objects in rendered rooms, answered again from points on the surfaces, without the formulas."""

from collections.abc import Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from experts.objects.object_names import folded
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from spatial_engine.rendering.rooms import random_room
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds, surface


def closest(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    frame = fact["first"]["frame"]
    camera = scene.world_from_cam[frame, :3, 3]
    each = [surface(scene, meant(scene, fact[name]), frame) for name in ("first", "second", "third")]
    return int(np.argmin([np.linalg.norm(points - camera, axis=1).min() for points in each])) == int(answer) - 1


def wider(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    widths = [_width(surface(scene, meant(scene, fact[name]), fact[name]["frame"])) for name in ("first", "second")]
    ratio = widths[1] / widths[0]
    return (answer == "2") == (ratio > 1) if isinstance(answer, str) else abs(answer / ratio - 1) < 0.15


def _width(points: np.ndarray) -> float:
    """Longer side of the smallest rectangle around the points, seen from above."""
    turns = Rotation.from_euler("z", np.arange(0, 90.0)[:, None], degrees=True).as_matrix()[:, :2, :2]
    sides = np.ptp(points[:, :2] @ turns, axis=1)
    return float(sides[np.prod(sides, axis=1).argmin()].max())


def counted(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    ids = scene.object_ids(fact["frame"])
    return sum(folded(scene.objects[row].name) == fact["name"] for row in np.unique(ids[ids >= 0])) == int(answer)


def faces(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
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


@seeds(1, 20)
def test_every_answer_is_that_of_the_surfaces(seed: int) -> None:
    scene = random_room(np.random.default_rng(seed), frames=12, width_px=320, height_px=240)
    check(scene, true_signals(scene, as_clip(scene), stride=4), RIGHT, {*RIGHT})


@seeds(0, 12)
def test_among_many_pieces_of_furniture_too(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, true_signals(scene, as_clip(scene), stride=6), RIGHT, {*RIGHT})


@seeds(0, 4)
def test_experts_that_err_give_fewer_questions_and_no_wrong_ones(seed: int) -> None:
    """Masks, names, depth and fronts with the errors of networks, through the real code of the experts."""
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, imitated_signals(scene, as_clip(scene)), RIGHT, set())
