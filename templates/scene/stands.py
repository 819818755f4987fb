"""How objects stand to one another in a scene: what carries them, and which of two hides a part of the other one.

The definitions of relations that questions about them share. `templates.scene.contact` says how two objects touch,
`templates.scene.support` what one stands on.
"""

import numpy as np
from jaxtyping import Int64

from templates.columns import Texts
from templates.scene.contact import INSIDE, contact, with_hollow
from templates.scene.object_boxes import Number, Row, boxes_of
from templates.scene.scene import Scene
from templates.scene.support import FLOOR, UNKNOWN, supports

CARRIED, CARRIES, TOGETHER, SEPARATE = "carried", "carries", "together", "separate"
"""The other one carries it, it carries the other one, a third one carries both, or none of these."""
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
        if other in below:
            relation[row] = CARRIED
        elif one in other_below:
            relation[row] = CARRIES
        elif below & other_below:
            relation[row] = TOGETHER
        elif complete and other_complete:
            relation[row] = SEPARATE
        known = sorted(({one, other} | below | other_below) if relation[row] else ())
        margin[row] = min((_margins(scene, photo)[k] for k in known), default=np.nan)
    return relation, margin


def carriers(scene: Scene, frame: int, object: int) -> Carriers:
    """What carries an object of a photo."""
    beneath, below = _beneath(scene, frame), list[int]()
    at = int(beneath[object])
    while at >= 0 and at not in below:
        below.append(at)
        at = int(beneath[at])
    return frozenset(below), at == FLOOR


def _beneath(scene: Scene, frame: int) -> Int64[np.ndarray, "k"]:
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


def _margins(scene: Scene, frame: int) -> Number:
    """By how many σ of its box each object would have to be elsewhere to stand on something else."""
    return scene.once(("margins of supports", frame), lambda: _margins_of(scene, frame))


def _margins_of(scene: Scene, frame: int) -> Number:
    beneath = _beneath(scene, frame)
    every, frames = np.arange(len(beneath)), np.full(len(beneath), frame)
    _, _, size, centre_sigma, side_sigma = boxes_of(scene, frames, every)
    with np.errstate(invalid="ignore", divide="ignore"):
        alone = size.min(axis=1) / 2 / np.hypot(centre_sigma, side_sigma.max(axis=1) / 2)
        on_another = contact(scene, frames, every, np.where(beneath >= 0, beneath, -1)).margin
    return np.where(beneath >= 0, np.fmin(on_another, alone), np.where(beneath == FLOOR, alone, np.inf))
