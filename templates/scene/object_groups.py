"""Groups of objects of one photo whose boxes do not overlap, and how their boxes lie in the picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64

from templates.facts import Facts, ObjectRefs
from templates.scene.object_boxes import boxes_of, outliers
from templates.scene.objects import SeenObjects, boxed, seen_objects
from templates.scene.scene import Scene

_TRIES = 8
"""Groups drawn for each that is asked for."""
_LITTLE = 0.3
"""Largest overlap of two boxes that can still be told apart well."""

_LARGEST_DOUBT = 0.01
"""Largest probability that an object is another one; beyond it no answer is sure."""
Known = Literal["place", "box", "sides"]
"""What is known of an object: where it is, its box (sides whose far end nobody saw count as seen), all sides of it."""


@dataclass(frozen=True, kw_only=True)
class ObjectGroups:
    """Groups of k objects each, one photo each."""

    seen: SeenObjects
    rows: Int64[np.ndarray, "n k"]
    """Of `seen`."""

    def take(self, rows: np.ndarray) -> "ObjectGroups":
        """The groups at the given indices, or where a mask is true."""
        return ObjectGroups(seen=self.seen, rows=self.rows[rows])

    @property
    def objects(self) -> list[Int64[np.ndarray, "n"]]:
        """Of each group the first object, the second, ..., by their numbers in the scene."""
        return [*self.seen.object[self.rows].T]

    def refs(self) -> list[ObjectRefs]:
        """References to the first object of each group, to the second, ..."""
        return [self.seen.take(rows).refs() for rows in self.rows.T]


@dataclass(frozen=True, kw_only=True)
class ThreeObjects(Facts):
    """Objects of one photo."""

    first: ObjectRefs
    second: ObjectRefs
    third: ObjectRefs

    @property
    def each(self) -> tuple[ObjectRefs, ...]:
        """In the order of their marks."""
        return self.first, self.second, self.third

    @classmethod
    def of(cls, groups: ObjectGroups) -> "ThreeObjects":
        """From groups of three."""
        first, second, third = groups.refs()
        return cls(first=first, second=second, third=third)


def _well_known(scene: Scene, seen: SeenObjects, size: int, known: Known) -> SeenObjects:
    """The objects of which so much is known, where a photo shows enough of them; else all."""
    is_known, pose, sides, _, side_sigma = boxes_of(scene, seen.frame, seen.object)
    if known != "place":
        is_known = is_known & np.isfinite(pose).all(axis=(1, 2)) & np.isfinite(sides).all(axis=1)
    if known == "sides":
        is_known = is_known & np.isfinite(side_sigma).all(axis=1)
    good = seen.take(is_known & (outliers(scene, seen.object) <= _LARGEST_DOUBT))
    return good if np.unique(good.frame, return_counts=True)[1].max(initial=0) >= size else seen


def object_groups(
    scene: Scene,
    rng: np.random.Generator,
    count: int,
    size: int,
    begin: Int64[np.ndarray, "k j"] | None = None,
    known: Known = "place",
) -> ObjectGroups:
    """Random groups of `size` whole objects that boxes can mark, up to `_TRIES` times as many as `count`.

    Their boxes do not overlap. `begin`: rows of those objects (`boxed`), each row of one photo: every group begins with
    one of these, and the boxes of the others may overlap a little. `known`: what the measurement needs of each object;
    objects of which less is known, or that may be others, are taken only where no photo shows enough of the rest.
    """
    seen = boxed(seen_objects(scene), scene)
    seen = seen if begin is not None else _well_known(scene, seen, size, known)
    _, start, photo, shown = np.unique(seen.frame, return_index=True, return_inverse=True, return_counts=True)
    first = start[:, None] if begin is None else begin
    first = first[shown[photo[first[:, 0]]] >= size]
    if not len(first):
        return ObjectGroups(seen=seen, rows=np.empty((0, size), dtype=np.int64))
    first = rng.choice(first, _TRIES * count)
    at = photo[first[:, 0]]
    keys = rng.random((len(at), shown.max()))
    keys[np.arange(shown.max()) >= shown[at][:, None]] = np.inf
    if begin is not None:
        np.put_along_axis(keys, first - start[at][:, None], np.arange(-first.shape[1], 0.0)[None], axis=1)
    rows = start[at][:, None] + keys.argsort(axis=1)[:, :size]
    box = seen.box_px[rows]
    apart = [
        shared_share(box[:, a], box[:, b]) <= (0 if begin is None or b < begin.shape[1] else _LITTLE)
        for a, b in combinations(range(size), 2)
    ]
    return ObjectGroups(seen=seen, rows=rows[np.all(apart, axis=0)])


def shared_share(a: Float64[np.ndarray, "n 2 2"], b: Float64[np.ndarray, "n 2 2"]) -> Float64[np.ndarray, "n"]:
    """Common area of boxes as a share of the smaller one."""
    common = np.clip(np.minimum(a[:, 1], b[:, 1]) - np.maximum(a[:, 0], b[:, 0]), 0, None).prod(axis=1)
    return common / np.minimum(*((each[:, 1] - each[:, 0]).prod(axis=1) for each in (a, b)))


def stacked_boxes(refs: Sequence[ObjectRefs]) -> Float64[np.ndarray, "n k 2 2"]:
    """The boxes of the objects of each group."""
    return np.stack([each.box_px for each in refs], axis=1)


def areas_px(box_px: Float64[np.ndarray, "n k 2 2"]) -> Float64[np.ndarray, "n k"]:
    """Areas of boxes in the picture."""
    return np.asarray(np.prod(box_px[:, :, 1] - box_px[:, :, 0], axis=2))
