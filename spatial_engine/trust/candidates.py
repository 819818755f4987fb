"""Facts drawn from a clip's media alone, before any signal is seen: what the yield of labels is a share of.

Frames are drawn by chance, pixels are corners of the picture. Nothing asks whether a fact can be measured.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from experts.clip import Clip
from templates.fact import Fact
from templates.measured import Json
from templates.scene.marks import listed, spread_frames

DRAWN = 24
"""Facts of each template and clip."""
_LOOKED_AT = 12
"""Pictures in which corners are found, evenly spread."""
_CORNERS = 400
_APART = 0.15
"""Marks in one picture lie at least this share of the diagonal apart, ..."""
_BORDER = 0.06
"""... and this share of its size away from its edges."""


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """What is known of a clip without measuring."""

    clip: Clip
    corners: Mapping[int, Float64[np.ndarray, "k 2"]]
    """By frame: pixels at full size, rounded to 0.1; frames with at least three of them."""


def pictures_of(clip: Clip) -> Pictures:
    """Reads a few pictures and finds their corners (Shi and Tomasi 1994)."""
    import cv2

    width, height = clip.working_size
    apart = _APART * float(np.hypot(width, height)) / 8
    found = {}
    for frame, grey in clip.read_grey(spread_frames(clip.frames, _LOOKED_AT)):
        corners = cv2.goodFeaturesToTrack(grey, _CORNERS, 0.01, apart)
        xy = np.empty((0, 2)) if corners is None else corners.reshape(-1, 2).astype(np.float64)
        full = np.round(clip.full_from_working(xy), 1)
        size = np.array([clip.width_px, clip.height_px])
        full = full[np.all((full >= _BORDER * size) & (full <= (1 - _BORDER) * size - 1), axis=1)]
        if len(full) >= 3:
            found[frame] = full
    return Pictures(clip=clip, corners=found)


def candidates(pictures: Pictures, template: str, seed: int) -> list[Fact] | None:
    """`DRAWN` facts of a template, fewer where the clip has not so many; None for a template that is not known here.

    Same clip and seed, same facts.
    """
    draw = _DRAWS.get(template)
    if draw is None:
        return None
    digest = hashlib.sha256("\0".join([str(seed), pictures.clip.id, template, "candidates"]).encode()).digest()
    rng = np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))
    facts: dict[str, Fact] = {}
    for _ in range(4 * DRAWN):
        params = draw(pictures, rng)
        if params is not None and len(facts) < DRAWN:
            fact = Fact(template=template, params=params)
            facts.setdefault(fact.id(""), fact)
    return list(facts.values())


Params = dict[str, Json] | None


def _two_points(pictures: Pictures, rng: np.random.Generator) -> Params:
    drawn = _points(pictures, rng, 2)
    return drawn and {"frame": drawn[0], "a": drawn[1][0], "b": drawn[1][1]}


def _one_point(pictures: Pictures, rng: np.random.Generator) -> Params:
    drawn = _points(pictures, rng, 1)
    return drawn and {"frame": drawn[0], "a": drawn[1][0]}


def _one_frame(pictures: Pictures, rng: np.random.Generator) -> Params:
    return {"frame": int(rng.choice(pictures.clip.frames))}


def _interval(pictures: Pictures, rng: np.random.Generator) -> Params:
    frames = _between(pictures.clip.frames, rng, 4)
    return None if frames is None else {"frames": frames}


def _path(pictures: Pictures, rng: np.random.Generator) -> Params:
    frames = _between(pictures.clip.frames, rng, 8)
    if frames is None or len(frames) < 3:
        return None
    return {"frames": frames, "plane": str(rng.choice(["floor", "camera"]))}


def _moving(pictures: Pictures, rng: np.random.Generator) -> Params:
    drawn = _points(pictures, rng, 1)
    return drawn and {"frame": drawn[0], "xy": drawn[1][0], "frames": _after(pictures, drawn[0], rng)}


def _which_moves(pictures: Pictures, rng: np.random.Generator) -> Params:
    drawn = _points(pictures, rng, 3)
    return drawn and {"frame": drawn[0], "points": drawn[1], "frames": _after(pictures, drawn[0], rng)}


def _same_point(pictures: Pictures, rng: np.random.Generator) -> Params:
    drawn = _points(pictures, rng, 1)
    others = pictures.clip.frames[pictures.clip.frames != drawn[0]] if drawn else []
    if drawn is None or not len(others):
        return None
    size = [pictures.clip.width_px, pictures.clip.height_px]
    return {"frame_a": drawn[0], "xy_a": drawn[1][0], "frame_b": int(rng.choice(others)), "size": size}


def _place(pictures: Pictures, rng: np.random.Generator) -> Params:
    if len(pictures.clip.frames) < 2:
        return None
    a, b = rng.choice(pictures.clip.frames, 2, replace=False).tolist()
    return {"from": a, "seen_from": b}


def _route(pictures: Pictures, rng: np.random.Generator) -> Params:
    if len(pictures.clip.frames) < 5:
        return None
    first, *rest = np.sort(rng.choice(pictures.clip.frames, 5, replace=False)).tolist()
    return {"first": first, "shuffled": rng.permutation(rest).tolist()}


def _way(pictures: Pictures, rng: np.random.Generator) -> Params:
    drawn = _points(pictures, rng, 1)
    others = pictures.clip.frames[pictures.clip.frames != drawn[0]] if drawn else []
    if drawn is None or not len(others):
        return None
    point = drawn[1][0] if rng.integers(2) else None
    return {"from": drawn[0], "to": int(rng.choice(others)), "point": point, "counts": rng.integers(3, 11, 2).tolist()}


_DRAWS: Mapping[str, Callable[[Pictures, np.random.Generator], Params]] = {
    "range_ratio": _two_points,
    "range_metres": _one_point,
    "camera_tilt": _one_frame,
    "camera_turn": _interval,
    "camera_travel": _interval,
    "point_moves": _moving,
    "which_moves": _which_moves,
    "same_point": _same_point,
    "place_direction": _place,
    "path_map": _path,
    "route_order": _route,
    "navigate": _way,
}


def _points(pictures: Pictures, rng: np.random.Generator, count: int) -> tuple[int, list[list[float]]] | None:
    """A frame and corners of it that lie apart; None if this draw finds none."""
    if not pictures.corners:
        return None
    frame = int(rng.choice(sorted(pictures.corners)))
    apart = _APART * float(np.hypot(pictures.clip.width_px, pictures.clip.height_px))
    kept: list[Float64[np.ndarray, "2"]] = []
    for xy in rng.permutation(pictures.corners[frame]):
        if all(np.linalg.norm(xy - other) >= apart for other in kept):
            kept.append(xy)
        if len(kept) == count:
            return frame, [listed(each) for each in kept]
    return None


def _between(frames: Sequence[int] | np.ndarray, rng: np.random.Generator, count: int) -> list[int] | None:
    """A stretch of frames, at most `count` of them spread over it."""
    if len(frames) < 2:
        return None
    a, b = np.sort(rng.choice(len(frames), 2, replace=False))
    return [int(frame) for frame in np.asarray(frames)[np.unique(np.linspace(a, b, count).round().astype(int))]]


def _after(pictures: Pictures, frame: int, rng: np.random.Generator) -> list[int]:
    """At most four frames from `frame` on."""
    later = pictures.clip.frames[pictures.clip.frames >= frame]
    return spread_frames(later[: int(rng.integers(1, len(later) + 1))], 4)
