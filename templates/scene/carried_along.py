"""Whether one object carries another one along, both move side by side, or each on its own."""

import numpy as np
from jaxtyping import Float64, Int64

from templates.scene.contact import APART, INSIDE, ON, UNDER, contact
from templates.scene.encounters import Encounter, visible_way
from templates.scene.object_boxes import boxes_of
from templates.scene.scene import Scene, find_rows
from templates.scene.support import over_one_another

RIDES, CARRIES, BESIDE, OWN_WAY = MANNERS = ("rides", "carries", "beside", "own_way")
"""The second object carries the first along, or the other way round; both move in the same way beside each other, and
neither carries the other one; each moves, or stands still, on its own all the time."""
_FIRM = 0.05
"""Largest way of one object before the axes of the other one, where both move as one: as a share of their way in the
world, and change of a component of its axes."""
_LEAST_S = 1.0
"""Shortest time that decides, where times are known."""


def carried_along(scene: Scene, frames: Int64[np.ndarray, "v"], a: int, b: int) -> Encounter:
    """What the first object does with respect to the second in the frames of a video."""
    objects = scene.objects
    if objects is None or (rows := find_rows(objects.frames, frames)).min(initial=0) < 0:
        return Encounter(why="the places of the objects are not known")
    poses = objects.world_from_object[rows][:, [a, b]]
    known, _, _, centre_sigma, side_sigma = boxes_of(scene, frames[:1].repeat(2), np.array([a, b]))
    if not (known.all() and np.isfinite(poses).all()):
        return Encounter(why="the places of the objects are not known")
    first_s, last_s = (scene.clip.time_s(int(frame)) for frame in frames[[0, -1]])
    if first_s is not None and last_s is not None and last_s - first_s < _LEAST_S:
        return Encounter(why="the video is shorter than a second")
    places, sigma = (
        poses[..., :3, 3],
        float(np.hypot(centre_sigma.max(), side_sigma[np.isfinite(side_sigma)].max(initial=0.0))),
    )
    least = visible_way(scene, frames, places, sigma)
    ways = np.linalg.norm(places - places[:1], axis=2).max(axis=0)
    if ways.max() < least:
        return Encounter(why="neither object moves visibly")
    scale = max(sigma, 1e-9 * float(ways.max()))
    way, turn = _firmness(poses[:, 0], poses[:, 1])
    back, _ = _firmness(poses[:, 1], poses[:, 0])
    if min(way, back) >= least:
        if _together_at_times(poses, least):
            return Encounter(why="the objects move neither as one nor clearly apart")
        return _told(OWN_WAY, float(ways.max()), (min(way, back) - least / 2) / scale)
    if ways.min() < least or max(way, back) > _FIRM * ways.min() or turn > _FIRM:
        return Encounter(why="the objects move neither as one nor clearly apart")
    ones = np.ones(len(frames), dtype=np.int64)
    touching = contact(scene, frames, a * ones, b * ones)
    margin = min(float(touching.margin.min()), (least / 2 - max(way, back)) / scale)
    above, _ = over_one_another(scene, frames[:1], a * ones[:1], b * ones[:1])
    for label, relations in ((RIDES, (ON, INSIDE)), (CARRIES, (UNDER,)), (BESIDE, (APART,))):
        stacked = label == BESIDE and above.any()  # something between the two may hold up the upper one
        if np.isin(touching.relation, relations).all() and not stacked:
            return _told(label, float(ways.min()), margin)
    return Encounter(why="how the objects touch is not known")


def _firmness(object: Float64[np.ndarray, "v 4 4"], other: Float64[np.ndarray, "v 4 4"]) -> tuple[float, float]:
    """How far an object moves in the axes of another one, and the largest change of a component of its axes there."""
    inside = np.linalg.inv(other) @ object
    away = np.linalg.norm(inside[:, :3, 3] - inside[0, :3, 3], axis=1).max()
    return float(away), float(np.abs(inside[:, :3, :3] - inside[0, :3, :3]).max())


def _together_at_times(poses: Float64[np.ndarray, "v 2 4 4"], least: float) -> bool:
    """Whether both objects go the same visible way between any two frames."""
    seen_from = (np.linalg.inv(poses[:, 1]) @ poses[:, 0])[:, :3, 3]
    places = poses[..., :3, 3]
    ways = np.linalg.norm(places[:, None] - places[None], axis=3).min(axis=2)
    apart = np.linalg.norm(seen_from[:, None] - seen_from[None], axis=2)
    return bool(((ways >= least) & (apart <= _FIRM * ways)).any())


def _told(label: str, change: float, margin: float) -> Encounter:
    return Encounter(why="", phases=(label,), change=change, margin=min(margin, 1e6))
