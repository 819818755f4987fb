"""Points and objects of one photo in another, in rendered rooms, answered again from the true surfaces alone."""

from collections.abc import Mapping

import numpy as np

from experts.matching.reprojection import ReprojectionExpert
from experts.signals import NoEstimate, Signal
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds, surface

CLOSE_M = 0.15
"""Largest distance of two sights of one spot: surfaces are seen at grazing angles."""


def at(scene: RenderedScene, frame: int, xy_px: Json) -> np.ndarray:
    """World position of what is at a place between pixel centres: where its ray first meets a box."""
    camera, pose = scene.intrinsics, scene.world_from_cam[frame]
    ray = pose[:3, :3] @ [(xy_px[0] - camera.cx_px) / camera.fx_px, (xy_px[1] - camera.cy_px) / camera.fy_px, 1.0]
    walls = [scene.room, *scene.partitions]
    boxes = np.concatenate([[wall.world_from_box for wall in walls], scene.world_from_boxes(frame)])
    half = np.array([box.half_m for box in (*walls, *scene.furniture)])
    start = np.einsum("kji,kj->ki", boxes[:, :3, :3], pose[:3, 3] - boxes[:, :3, 3])
    along = np.einsum("kji,j->ki", boxes[:, :3, :3], ray) + 1e-12
    low, high = np.sort([(-half - start) / along, (half - start) / along], axis=0)
    enter, leave = low.max(axis=1), high.min(axis=1)
    ahead = enter[1:][(enter < leave)[1:] & (enter[1:] > 0)]  # the room is seen from inside
    return np.asarray(pose[:3, 3] + ray * min([leave[0], *ahead]))


def pairs(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """What each mark of photo 2 shows is what that point of photo 1 shows."""
    places = [(fact["frame_a"], xy_px) for xy_px in fact["a_px"]]
    places += [(fact["frame_b"], fact["b_px"][int(number) - 1]) for number in str(answer).split()]
    one, other = (np.array([at(scene, *place) for place in part]) for part in (places[:4], places[4:]))
    return bool(np.linalg.norm(one - other, axis=1).max() < CLOSE_M)


def photo(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """Photos show a spot that projects into them and has nothing before it; a mark's breadth decides at borders."""
    spot, shown = at(scene, fact["frame_a"], fact["a_px"]), []
    for frame in fact["frames_others"]:
        pose = scene.world_from_cam[frame]
        x, y, z = pose[:3, :3].T @ (spot - pose[:3, 3])
        camera = scene.intrinsics
        xy_px = np.array([camera.fx_px * x / z + camera.cx_px, camera.fy_px * y / z + camera.cy_px])
        size = np.array([camera.width_px, camera.height_px])
        is_inside = z > 0 and bool(((xy_px >= 0) & (xy_px <= size - 1)).all())
        shown.append(is_inside and np.linalg.norm(at(scene, frame, xy_px) - spot) < CLOSE_M)
    return [number for number, is_shown in enumerate(shown, start=2) if is_shown] == [int(str(answer))]


CLOCKWISE = ("ahead", "ahead and to the right", "to the right", "behind and to the right")
CLOCKWISE += ("behind", "behind and to the left", "to the left", "ahead and to the left")


def direction(
    scene: RenderedScene, frame: int, spots: np.ndarray, answer: Json, right: np.ndarray, up: np.ndarray
) -> bool:
    """Whether the photo shows none of the spots, and their middle is nearest to the named direction, or within the
    tolerance of the angle, when the viewing direction is turned step by step about `up`."""
    pose, camera = scene.world_from_cam[frame], scene.intrinsics
    seen = (spots - pose[:3, 3]) @ pose[:3, :3]
    if (camera.contains(camera.project(seen)) & (seen[:, 2] > 0)).any():
        return False
    middle = (spots.min(axis=0) + spots.max(axis=0)) / 2 - pose[:3, 3]
    along = middle - (middle @ up) * up
    ahead = np.cross(up, right)
    turned = np.radians(np.arange(0, 360, 0.5))
    toward = np.cos(turned)[:, None] * ahead + np.sin(turned)[:, None] * right
    best = float(np.arange(0, 360, 0.5)[(toward @ along).argmax()])
    said = 45.0 * CLOCKWISE.index(answer) if isinstance(answer, str) else float(answer)
    return abs((best - said + 180) % 360 - 180) <= (22.5 if isinstance(answer, str) else 15)


def point_direction(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """In the axes of the camera itself."""
    frame, spot = fact["frame_seen_from"], at(scene, fact["frame"], fact["point_px"])
    axes = scene.world_from_cam[frame, :3, :3]
    return direction(scene, frame, spot[None], answer, axes[:, 0], -axes[:, 1])


def object_direction(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """On the floor."""
    frame, ref = fact["frame_seen_from"], fact["object"]
    up = np.array([0.0, 0.0, 1.0])
    right = np.cross(scene.world_from_cam[frame, :3, 2], up)
    spots = surface(scene, meant(scene, ref), ref["frame"])
    return direction(scene, frame, spots, answer, right / np.linalg.norm(right), up)


def same(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The pixel of the answer shows what the named pixel shows: seen within the tolerance of 2 % of the diagonal."""
    size = np.array([scene.intrinsics.width_px, scene.intrinsics.height_px])
    spot, pose = at(scene, fact["frame_a"], fact["a_px"]), scene.world_from_cam[fact["frame_b"]]
    xy_px = scene.intrinsics.project(((spot - pose[:3, 3]) @ pose[:3, :3])[None])[0]
    is_near = np.linalg.norm(xy_px - answer) <= 0.02 * np.hypot(*size)
    return bool(is_near and np.linalg.norm(at(scene, fact["frame_b"], xy_px) - spot) < CLOSE_M)


def again(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the rendered pixels: the box, or the pixel, is on the object that the first photo shows."""
    if isinstance(answer, str):
        chosen = meant(scene, fact[("first", "second", "third")[int(answer) - 1]])
    else:
        x, y = np.round(answer).astype(int)
        chosen = int(scene.object_ids(fact["first"]["frame"])[y, x])
    return chosen == meant(scene, fact["object"])


RIGHT = {
    "same_object": again,
    "same_point_on_grid": same,
    "point_pairs": pairs,
    "photo_of_point": photo,
    "point_from_photo": point_direction,
    "object_from_photo": object_direction,
}


def exact(scene: RenderedScene) -> dict[str, Signal | NoEstimate]:
    """The true signals, and matches made from them."""
    signals = dict(true_signals(scene, as_clip(scene), stride=3))
    return signals | dict(ReprojectionExpert()(as_clip(scene), signals))


@seeds(1, 12)
def test_every_answer_is_that_of_the_surfaces(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, exact(scene), RIGHT, {*RIGHT})


@seeds(0, 4)
def test_experts_that_err_give_fewer_questions_and_no_wrong_ones(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    signals = imitated_signals(scene, as_clip(scene))
    check(scene, signals | dict(ReprojectionExpert()(as_clip(scene), signals)), RIGHT, set())
