"""How the distance between two objects changes in a video, and which of them moves, or whether both meet or part."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float64, Int64

from templates.scene.object_boxes import longest_sides
from templates.scene.object_gaps import gaps
from templates.scene.scene import Scene, find_rows

NEARER, AWAY = "approaches", "leaves"
MEET, NEARER_APART, PART, AWAY_APART = MEETINGS = ("meet", "come_nearer", "part", "go_farther")
"""Two that move come together, or nearer without that; they part from each other, or were apart before."""
_TOGETHER, _APART = 0.5, 1.5
"""Largest gap of two objects that are together, in longest sides of the smaller one; least gap of two that are apart,
in longest sides of the larger one."""
_EITHER = 0.25
"""Least part of the change of the distance that the motion of either one makes."""
_LEAST_CHANGE, _LEAST_SHARE = 0.2, 0.08
"""Least change of a distance that is seen: as a share of the largest distance, and of the distance from the camera."""
_LEAST_SIGMAS = 5.0
_MOST_BACK = 0.15
"""Largest change the other way at any time, as a share of the change that is told."""
_STILL, _NOT_TURNED = 0.01, 0.02
"""Largest way of an object that stands still, as a share of the way of the one that moves; and largest change of a
component of its axes."""


@dataclass(frozen=True, kw_only=True)
class Encounter:
    """What one object does with respect to another one."""

    why: str
    """Why that is not decided; "" where it is."""
    mover: int = -1
    """0 for the first object, 1 for the second: the only one that moves; -1 where the phases say it."""
    phases: tuple[str, ...] = ()
    """It approaches the other one, leaves it, or does both in this order."""
    change: float = np.nan
    """The smallest change of the distance, in path units."""
    margin: float = np.nan
    """By how many σ it changes visibly."""

    @property
    def code(self) -> str:
        """ "1 approaches leaves", "meet"; "" where it is not decided."""
        return " ".join([str(self.mover + 1)] * (self.mover >= 0) + [*self.phases])


def encounter(scene: Scene, frames: Int64[np.ndarray, "v"], a: int, b: int) -> Encounter:
    """What happens between two objects in the frames of a video."""
    objects = scene.objects
    if objects is None or (rows := find_rows(objects.frames, frames)).min(initial=0) < 0:
        return Encounter(why="the places of the objects are not known")
    ones = np.ones(len(frames), dtype=np.int64)
    apart, sigma, centres = gaps(scene, frames, a * ones, b * ones)
    places = objects.world_from_object[..., :3, 3][rows][:, [a, b]]
    from_camera = np.linalg.norm(places - scene.world_from_cam(frames)[:, None, :3, 3], axis=2)
    if not np.isfinite(apart).all() or not np.isfinite(from_camera).all():
        return Encounter(why="the places of the objects are not known")
    ways = np.linalg.norm(places - places[:1], axis=2).max(axis=0)
    mover = int(ways.argmax())
    least = visible_way(scene, frames, places, float(sigma.max()))
    if ways[mover] < least:
        return Encounter(why="neither object moves visibly")
    axes = objects.world_from_object[rows][:, (a, b)[1 - mover], :3, :3]
    axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    if ways[1 - mover] > _STILL * ways[mover] or np.abs(axes - axes[:1]).max() > _NOT_TURNED:
        return Encounter(why="both objects move")
    told = [_phases(each, max(least, _LEAST_CHANGE * float(each.max()))) for each in (apart, centres)]
    if told[0] is None or told[0] != told[1]:
        return Encounter(why="the distance of the objects changes too little or too often")
    change = min(_changes(apart, len(told[0])))
    scale = float(np.maximum(sigma.max(), 1e-9 * from_camera.max()))
    return Encounter(why="", mover=mover, phases=told[0], change=change, margin=min((change - least / 2) / scale, 1e6))


def meeting(scene: Scene, frames: Int64[np.ndarray, "v"], a: int, b: int) -> Encounter:
    """What two objects do that both move towards or away from each other."""
    objects = scene.objects
    if objects is None or (rows := find_rows(objects.frames, frames)).min(initial=0) < 0:
        return Encounter(why="the places of the objects are not known")
    ones = np.ones(len(frames), dtype=np.int64)
    apart, sigma, centres = gaps(scene, frames, a * ones, b * ones)
    places = objects.world_from_object[..., :3, 3][rows][:, [a, b]]
    sides = longest_sides(scene, frames[:1].repeat(2), np.array([a, b]))
    if not (np.isfinite(apart).all() and np.isfinite(sides).all()):
        return Encounter(why="the places of the objects are not known")
    least = visible_way(scene, frames, places, float(sigma.max()))
    told = [_phases(each, max(least, _LEAST_CHANGE * float(each.max()))) for each in (apart, centres)]
    if told[0] is None or told[0] != told[1] or len(told[0]) != 1:
        return Encounter(why="the distance of the objects changes too little or too often")
    nearer = told[0][0] == NEARER
    middle = places[0 if nearer else -1]
    axis = (middle[1] - middle[0]) / np.linalg.norm(middle[1] - middle[0])
    steps = (places[-1] - places[0]) @ axis * ([1, -1] if nearer else [-1, 1])
    change, gap = abs(float(apart[-1] - apart[0])), float(apart[-1] if nearer else apart[0])
    if steps.min() < max(_EITHER * change, least / 2):
        return Encounter(why="not both objects move towards or away from each other")
    together, separate = _TOGETHER * float(sides.min()), _APART * float(sides.max())
    if together < gap < separate:
        return Encounter(why="the objects are neither together nor clearly apart")
    label = (MEET if gap <= together else NEARER_APART) if nearer else (PART if gap <= together else AWAY_APART)
    scale = float(np.maximum(sigma.max(), 1e-9 * centres.max()))
    clear = min(change - least / 2, abs(gap - (together + separate) / 2))
    return Encounter(why="", phases=(label,), change=change, margin=min(clear / scale, 1e6))


def visible_way(
    scene: Scene, frames: Int64[np.ndarray, "v"], places: Float64[np.ndarray, "v k 3"], sigma: float
) -> float:
    """The least way or change of a distance that is seen, in path units."""
    from_camera = np.linalg.norm(places - scene.world_from_cam(frames)[:, None, :3, 3], axis=2)
    return float(max(_LEAST_SHARE * float(np.median(from_camera)), _LEAST_SIGMAS * sigma))


def _changes(distance: Float64[np.ndarray, "v"], phases: int) -> list[float]:
    """Sizes of the changes of a distance before and after its turning point."""
    turn = _extreme(distance)
    if phases == 1:
        return [abs(float(distance[-1] - distance[0]))]
    return [abs(float(distance[turn] - distance[0])), abs(float(distance[-1] - distance[turn]))]


def _phases(distance: Float64[np.ndarray, "v"], least: float) -> tuple[str, ...] | None:
    """Whether a distance falls, rises, or does one after the other, clearly and with hardly a change the other way."""
    for edges in ([0, len(distance) - 1], [0, _extreme(distance), len(distance) - 1]):
        parts = [distance[low : high + 1] for low, high in pairwise(edges)]
        signs = [float(np.sign(part[-1] - part[0])) for part in parts]
        clear = all(
            len(part) > 1
            and abs(part[-1] - part[0]) >= least
            and _back(sign * part) <= _MOST_BACK * abs(part[-1] - part[0])
            for part, sign in zip(parts, signs, strict=True)
        )
        if clear and (len(signs) == 1 or signs[0] != signs[1]):
            return tuple(AWAY if sign > 0 else NEARER for sign in signs)
    return None


def _extreme(distance: Float64[np.ndarray, "v"]) -> int:
    """The place of the smallest or the largest value, whichever is farther from both ends."""
    low, high = int(distance.argmin()), int(distance.argmax())
    below, above = min(distance[0], distance[-1]) - distance[low], distance[high] - max(distance[0], distance[-1])
    return low if below >= above else high


def _back(rising: Float64[np.ndarray, "v"]) -> float:
    """How far a rising curve falls at most."""
    return float((np.maximum.accumulate(rising) - rising).max())
