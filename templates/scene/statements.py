"""Statements about objects of one photo, and by how much each is true or false."""

from collections.abc import Mapping

import numpy as np

from templates.columns import Texts
from templates.scene.at_wall import AGAINST, HANGS, at_wall
from templates.scene.hiding import EACH, HIDES, hiding
from templates.scene.object_boxes import Number, Row, corners_cam, range_to_boxes
from templates.scene.scene import Scene
from templates.scene.stands import BELOW, CARRIES, TOGETHER, held, straight_below

STATEMENTS: Mapping[str, str] = {
    "nearer": "Object {a} is nearer to the camera than object {b}.",
    "higher": "The top of object {a} is higher up than the top of object {b}.",
    "carries": "Object {a} carries object {b}.",
    "together": "One and the same object carries objects {a} and {b}.",
    "hides": "Object {a} hides a part of object {b}.",
    "below": "Object {a} is straight below object {b}, with space between the two.",
    "hangs": "A wall alone holds up object {a}.",
    "against": "Object {a} stands on the floor, against a wall.",
    "between": "Object {a} is between objects {b} and {c}.",
}
"""By kind."""
PARTS: Mapping[str, int] = {kind: sum(f"{{{letter}}}" in text for letter in "abc") for kind, text in STATEMENTS.items()}
"""How many objects each kind is about."""
_NEARER, _HIGHER = 0.15, 0.05
"""Least difference of two distances from the camera, as a share of them; of two heights, as a share of the distance."""
_ON_LINE, _OFF_LINE = 0.2, 0.4
"""The middle of what is between two others is at most so far from the line between theirs, as a share of its length;
that of what is not is at least so far from all of it."""
_FROM_ENDS = 0.2
"""Least share of the line before and behind what is between two others."""


def truth(scene: Scene, frame: Row, kind: Texts, a: Row, b: Row, c: Row) -> Number:
    """By how many σ each statement is true; negative for what is false, NaN for what is open."""
    found = np.full(len(frame), np.nan)
    for each, measure in (("nearer", _nearer), ("higher", _higher)):
        rows = kind == each
        found[rows] = measure(scene, frame[rows], a[rows], b[rows])
    for each, relation, true in (
        ("carries", held, (CARRIES,)), ("together", held, (TOGETHER,)), ("hides", hiding, (HIDES, EACH)),
        ("below", straight_below, (BELOW,)),
    ):  # fmt: skip
        rows = kind == each
        word, margin = relation(scene, frame[rows], a[rows], b[rows])
        found[rows] = np.where(word == "", np.nan, np.where(np.isin(word, true), margin, -margin))
    for each, at in (("hangs", HANGS), ("against", AGAINST)):
        rows = kind == each
        word, margin = at_wall(scene, frame[rows], a[rows])
        found[rows] = np.where(word == "", np.nan, np.where(word == at, margin, -margin))
    rows = kind == "between"
    found[rows] = _between(scene, frame[rows], a[rows], b[rows], c[rows])
    return found


def _nearer(scene: Scene, frame: Row, a: Row, b: Row) -> Number:
    (one, one_sigma), (other, other_sigma) = (range_to_boxes(scene, frame, each) for each in (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        clear = np.abs(one - other) >= _NEARER * np.minimum(one, other)
        return np.where(clear, (other - one) / np.hypot(one_sigma, other_sigma), np.nan)


def _higher(scene: Scene, frame: Row, a: Row, b: Row) -> Number:
    up, up_sigma = scene.up_cam(frame)
    (one, one_sigma), (other, other_sigma) = (corners_cam(scene, frame, each) for each in (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        rise = np.einsum("nci,ni->nc", one, up).max(axis=1) - np.einsum("nci,ni->nc", other, up).max(axis=1)
        middles = one.mean(axis=1), other.mean(axis=1)
        away = np.linalg.norm(middles, axis=2).max(axis=0)
        tilt = up_sigma * np.linalg.norm(middles[0] - middles[1], axis=1)
        sigma = np.sqrt(one_sigma**2 + other_sigma**2 + tilt**2)
        return np.where(np.abs(rise) >= _HIGHER * away, rise / sigma, np.nan)


def _between(scene: Scene, frame: Row, a: Row, b: Row, c: Row) -> Number:
    (one, one_sigma), (start, start_sigma), (end, end_sigma) = (corners_cam(scene, frame, each) for each in (a, b, c))
    one, start, end = (each.mean(axis=1) for each in (one, start, end))
    with np.errstate(invalid="ignore", divide="ignore"):
        length = np.linalg.norm(end - start, axis=1)
        along = ((one - start) * (end - start)).sum(axis=1) / length**2
        to_line = np.linalg.norm(one - start - along[:, None] * (end - start), axis=1) / length
        to_segment = np.linalg.norm(one - start - np.clip(along, 0, 1)[:, None] * (end - start), axis=1) / length
        sigma = np.sqrt(one_sigma**2 + start_sigma**2 + end_sigma**2) / length
        inside = np.minimum(_ON_LINE - to_line, np.minimum(along, 1 - along) - _FROM_ENDS)
        outside = to_segment - _OFF_LINE
        return np.where(inside > 0, inside / sigma, np.where(outside > 0, -outside / sigma, np.nan))
