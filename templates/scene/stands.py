"""How objects stand to one another in a scene: what carries them, and which of two lies straight below the other one.

The definitions of relations that questions about them share. `templates.scene.contact` says how two objects touch,
`templates.scene.support` what one stands on.
"""

import numpy as np
from jaxtyping import Int64

from templates.columns import Texts
from templates.scene.contact import APART, INSIDE, ON, UNDER, contact, with_hollow
from templates.scene.object_boxes import Number, Row, boxes_of, corners_cam
from templates.scene.object_gaps import passages
from templates.scene.scene import Scene
from templates.scene.support import FLOOR, UNKNOWN, over_one_another, supports

CARRIED, CARRIES, TOGETHER, SEPARATE = "carried", "carries", "together", "separate"
"""The other one carries it, it carries the other one, a third one carries both, or none of these. Where one carries the
other and a third one carries both, two of these are true, and nothing is decided."""
BELOW, ABOVE, STACKED, ASIDE = "below", "above", "stacked", "aside"
"""It lies straight below the other one, or above it, and does not touch it; one stands on the other; or neither lies
over the other."""
_OVER, _SURELY_OVER = 0.25, 0.5
"""Share of the smaller footprint that lies over the other one: the border, and the least of what lies over it."""
_BESIDE = 0.05
"""Least horizontal distance of what lies aside, as a share of the distance from the camera."""
Carriers = tuple[frozenset[int], bool]
"""What carries an object, directly or by way of others, and whether that is all down to the floor."""


def held(scene: Scene, frame: Row, a: Row, b: Row) -> tuple[Texts, Number]:
    """How each object a is held up, compared with its b: one of the four words, "" where that is not known; and the
    margin in σ by which what carries them is known."""
    relation, margin = np.full(len(frame), "", dtype="<U8"), np.full(len(frame), np.nan)
    for row, (photo, one, other) in enumerate(zip(frame.tolist(), a.tolist(), b.tolist(), strict=True)):
        if min(one, other) < 0 or one == other:
            continue
        (below, complete), (other_below, other_complete) = (carriers(scene, photo, each) for each in (one, other))
        if below & other_below and (other in below or one in other_below):
            continue
        if other in below:
            relation[row] = CARRIED
        elif one in other_below:
            relation[row] = CARRIES
        elif below & other_below:
            relation[row] = TOGETHER
        elif complete and other_complete:
            relation[row] = SEPARATE
        known = sorted(({one, other} | below | other_below) if relation[row] else ())
        margin[row] = min((margins_of_support(scene, photo)[k] for k in known), default=np.nan)
    return relation, margin


def straight_below(scene: Scene, frame: Row, a: Row, b: Row) -> tuple[Texts, Number]:
    """Whether each object a lies straight below its b: one of the four words, "" where that is not known; and the
    margin in σ."""
    touching = contact(scene, frame, a, b)
    (one, sigma), (other, other_sigma) = (corners_cam(scene, frame, each) for each in (a, b))
    aside, _, aside_sigma = passages(scene, frame, a, b)
    up, _ = scene.up_cam(frame)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, other_low = (np.einsum("nci,ni->nc", each, up) for each in (one, other))
        rise = np.maximum(other_low.min(axis=1) - low.max(axis=1), low.min(axis=1) - other_low.max(axis=1))
        share, side = over_one_another(scene, frame, a, b)
        over = (rise > 0) & (touching.relation == APART) & (share >= _SURELY_OVER)
        beside = aside >= _BESIDE * np.linalg.norm(one.mean(axis=1), axis=1)
        cases = [
            np.isin(touching.relation, (ON, UNDER)),
            over & (low.max(axis=1) < other_low.min(axis=1)),
            over,
            beside,
        ]
        by = np.minimum(rise, (share - _OVER) * side) / np.hypot(sigma, other_sigma)
        margins = [touching.margin, by, by, aside / aside_sigma]
    return np.select(cases, [STACKED, BELOW, ABOVE, ASIDE], ""), np.select(cases, margins, np.nan)


def carriers(scene: Scene, frame: int, object: int) -> Carriers:
    """What carries an object of a photo."""
    under, below = beneath(scene, frame), list[int]()
    at = int(under[object])
    while at >= 0 and at not in below:
        below.append(at)
        at = int(under[at])
    return frozenset(below), at == FLOOR


def beneath(scene: Scene, frame: int) -> Int64[np.ndarray, "k"]:
    """As `supports`; what lies in the hollow of an object is carried by it."""
    return scene.once(("beneath", frame), lambda: _supports_and_hollows(scene, frame))


def _supports_and_hollows(scene: Scene, frame: int) -> Int64[np.ndarray, "k"]:
    found = supports(scene, frame)
    hollow = np.flatnonzero(with_hollow(scene, np.arange(len(found))))
    a, b = (each.ravel() for each in np.meshgrid(np.flatnonzero(found == UNKNOWN), hollow, indexing="ij"))
    a, b = a[a != b], b[a != b]
    inside = contact(scene, np.full(len(a), frame), a, b).relation == INSIDE
    found[a[inside]] = b[inside]
    return found


def margins_of_support(scene: Scene, frame: int) -> Number:
    """By how many σ of its box each object would have to be elsewhere to stand on something else."""
    return scene.once(("margins of supports", frame), lambda: _margins_of(scene, frame))


def _margins_of(scene: Scene, frame: int) -> Number:
    under = beneath(scene, frame)
    every, frames = np.arange(len(under)), np.full(len(under), frame)
    _, _, size, centre_sigma, side_sigma = boxes_of(scene, frames, every)
    with np.errstate(invalid="ignore", divide="ignore"):
        alone = size.min(axis=1) / 2 / np.hypot(centre_sigma, side_sigma.max(axis=1) / 2)
        on_another = contact(scene, frames, every, np.where(under >= 0, under, -1)).margin
    return np.where(under >= 0, np.fmin(on_another, alone), np.where(under == FLOOR, alone, np.inf))
