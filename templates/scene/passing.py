"""Whether an object that moves passes between two that stand still, past one of them, or neither."""

import numpy as np
from jaxtyping import Float64, Int64

from templates.scene.encounters import Encounter, visible_way
from templates.scene.object_boxes import boxes_of
from templates.scene.scene import Scene, find_rows

BETWEEN, PAST_FIRST, PAST_SECOND, ONE_SIDE = PASSAGES = ("between", "past_first", "past_second", "one_side")
_CLEARANCE = 0.1
"""Least distance of its box from the line's border between two answers, as a share of the distance of the two."""
_FARTHEST = 1.0
"""Largest distance of its way from the object that it passes, as a share of the distance of the two."""
_STILL, _LEAST_SIGMAS, _MOST_BACK = 0.01, 3.0, 0.15
_UNKNOWN = "the places of the objects are not known"


def passing(scene: Scene, frames: Int64[np.ndarray, "v"], mover: int, first: int, second: int) -> Encounter:
    """By where the centre of the mover crosses the line through the other two, seen from above."""
    objects = scene.objects
    if objects is None or (rows := find_rows(objects.frames, frames)).min(initial=0) < 0:
        return Encounter(why=_UNKNOWN)
    three, up = np.array([mover, first, second]), scene.up_world
    if up is None:
        return Encounter(why="which way is up is not known")
    places = objects.world_from_object[..., :3, 3][rows][:, three]
    known, poses, sizes, centre_sigma, side_sigma = boxes_of(scene, np.full(3, frames[0]), three)
    if not (known.all() and np.isfinite(places).all() and np.isfinite(sizes).all()):
        return Encounter(why=_UNKNOWN)
    least = visible_way(scene, frames, places, float(centre_sigma.max()))
    ways = np.linalg.norm(places - places[:1], axis=2).max(axis=0)
    if ways[0] < least:
        return Encounter(why="neither object moves visibly")
    if (ways[1:] > _STILL * ways[0]).any():
        return Encounter(why="both objects move")
    upright = np.einsum("nji,j->ni", poses[:, :3, :3], up) ** 2
    radius = np.sqrt((sizes**2 * np.maximum(1 - upright, 0)).sum(axis=1)) / 2
    half_height = np.sqrt((sizes**2 * upright).sum(axis=1)) / 2
    level = places[0] - np.outer(places[0] @ up, up)
    line = level[2] - level[1]
    length = float(np.linalg.norm(line))
    apart = np.abs((places[0, 1:] - places[0, 0]) @ up) > half_height[0] + half_height[1:]
    if length < 1.5 * radius.sum() or apart.any():
        return Encounter(why="the two that stand still are too near each other, or at another height")
    along = line / length
    s, t = (places[:, 0] - places[0, 1]) @ along, (places[:, 0] - places[0, 1]) @ np.cross(up, along)
    sigma = float(np.hypot(centre_sigma.max(), side_sigma[np.isfinite(side_sigma)].max(initial=0.0) / 2))
    sigma = float(np.hypot(sigma, np.nanmax(scene.up_cam(frames)[1]) * np.ptp(places @ up)))
    clear = max(_CLEARANCE * length, _LEAST_SIGMAS * sigma)
    beyond = radius[0] + radius[1:].max() + clear
    scale = max(sigma, 1e-9 * length)
    if np.abs(t).min() >= beyond and (t > 0).all() == (t > 0).any():
        return _told(ONE_SIDE, float(np.abs(t).min() - beyond + clear), scale)
    if t[0] * t[-1] >= 0 or min(abs(t[0]), abs(t[-1])) < beyond or _wavers(np.sign(t[-1]) * t):
        return Encounter(why="the object does not clearly pass")
    cross = np.flatnonzero(t[1:] * t[:-1] <= 0)
    at = np.append(s[cross], s[cross + 1])
    near = np.abs(t) <= beyond
    at = np.append(at, s[near])
    room = {
        BETWEEN: min(float(at.min() - radius[1]), float(length - radius[2] - at.max())) - radius[0],
        PAST_FIRST: float(-at.max() - radius[1] - radius[0]),
        PAST_SECOND: float(at.min() - length - radius[2] - radius[0]),
    }
    label = max(room, key=lambda each: room[each])
    far = max(float(-at.min()), float(at.max() - length)) > _FARTHEST * length
    if room[label] < clear or far:
        return Encounter(why="the object does not clearly pass")
    return _told(label, room[label], scale)


def _told(label: str, room: float, sigma: float) -> Encounter:
    return Encounter(why="", phases=(label,), change=room, margin=min(room / sigma, 1e6))


def _wavers(rising: Float64[np.ndarray, "v"]) -> bool:
    """Whether it goes back by more than a small share."""
    return bool((np.maximum.accumulate(rising) - rising).max() > _MOST_BACK * (rising[-1] - rising[0]))
