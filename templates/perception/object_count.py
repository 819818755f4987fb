"""L1/Localization/3D Detection: how many objects of a name a photo shows."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Int64

from experts.objects.object_names import folded
from templates.answers import Answer, Count
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.objects import SeenObjects, overlap, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

_LEAST_AREA = 0.001
"""Least area of a visible object that is counted, as a share of the photo; a smaller one makes the count unclear."""
_LEAST_AREA_CUT = 0.01
"""The same for an object that the border cuts."""
_ONCE = 3
"""A count of 1 must not be the best guess by far."""
_LARGEST_DOUBT = 0.01
"""Of the name of a counted object."""
_LARGEST_OVERLAP = 0.6
"""Of the boxes of two objects of one name: they may be one object."""


@dataclass(frozen=True, kw_only=True)
class NamedInPhoto(Facts):
    """All objects of a name in one photo."""

    frame: Int64[np.ndarray, "n"]
    name: Texts


@dataclass(frozen=True, kw_only=True)
class CountInPhoto(Template):
    """Objects of a name of which every one is listed. Measures their number."""

    name: str = "count_in_photo"
    version: str = "1"
    ability: str = "L1/Localization/3D Detection"
    formats: tuple[FormatName, ...] = ("numeric",)
    facts: ClassVar[type[Facts]] = NamedInPhoto
    needs: frozenset[str] = frozenset({"objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> NamedInPhoto:
        """Names in photos, in random order; those that a photo shows once are at most `_ONCE` times as many as the
        others, or `_ONCE`."""
        seen = seen_objects(scene)
        shown = Counter(zip(seen.frame.tolist(), seen.name.tolist(), strict=True))
        mixed = [sorted(shown)[row] for row in rng.permutation(len(shown))]
        several = [pair for pair in mixed if shown[pair] > 1]
        once = [pair for pair in mixed if shown[pair] == 1][: _ONCE * max(1, len(several))]
        chosen = [pair for pair in mixed if pair in {*several, *once}][:count]
        return NamedInPhoto.from_json([{"frame": frame, "name": name} for frame, name in chosen])

    def measure(self, facts: NamedInPhoto, scene: Scene) -> Measured:
        """The count, where no object is doubtful."""
        seen, objects = seen_objects(scene), scene.objects
        listed = {folded(name) if name != "*" else name for name in (() if objects is None else objects.complete)}
        frames = np.empty(0) if objects is None else objects.frames
        each = [
            seen.take((seen.frame == frame) & (seen.name == name))
            for frame, name in zip(facts.frame.tolist(), facts.name.tolist(), strict=True)
        ]
        photo_px = scene.clip.width_px * scene.clip.height_px
        cases = {
            "not every object of this name is listed": ~np.isin(facts.name, [*listed]) & ("*" not in listed),
            "the photo has no objects": ~np.isin(facts.frame, frames) | (facts.name == ""),
            "what is visible of an object is not known": _any(each, lambda some: np.isnan(some.area_px)),
            "an object may be too small or too little visible": _any(
                each, lambda some: some.area_px < photo_px * np.where(some.is_cut, _LEAST_AREA_CUT, _LEAST_AREA)
            ),
            "another name may mean the same kind": np.array(
                [_has_rival(seen, *fact) for fact in zip(facts.frame.tolist(), facts.name.tolist(), strict=True)],
                dtype=bool,
            ),
            "the name of an object is not sure": np.array([_misnamed(scene, some) for some in each], dtype=bool),
            "two objects may be one": np.array([_doubled(some) for some in each], dtype=bool),
        }
        wrong = np.array([_doubt(scene, some) for some in each])
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.array([len(some) for some in each], dtype=float).reshape(-1, 1),
            sigma=np.zeros((len(facts), 1)),
            outlier_probability=wrong.reshape(-1),
            evidence={"name": facts.name},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Count:
        """The count; right is the same number alone."""
        return Count(value=measured.value[:, 0], sigma=measured.sigma[:, 0], outlier_probability=measured.outliers)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo."""
        return Phrasing(media=(Photo(frame=fact["frame"]),), values={"name": fact["name"]})


def _any(each: list[SeenObjects], doubtful: Callable[[SeenObjects], np.ndarray]) -> Bool[np.ndarray, "n"]:
    return np.array([bool(doubtful(some).any()) for some in each], dtype=bool)


def _doubt(scene: Scene, some: SeenObjects) -> float:
    """Probability that any of them is something else, or called so."""
    objects = scene.objects
    kinds = () if objects is None else (objects.outlier_probability, objects.name_outlier_probability)
    return float(1 - np.prod([1 - kind[some.object] for kind in kinds if kind is not None]))


def _has_rival(seen: SeenObjects, frame: int, name: str) -> bool:
    """Whether the photo shows an object whose name is the plural of this one, a kind of it, or no name at all."""
    others = {*seen.name[seen.frame == frame].tolist()} - {name}
    pairs = [pair for other in others for pair in ((name, other), (other, name))]
    return "" in others or any(long in (f"{short}s", f"{short}es") or long.endswith(short) for short, long in pairs)


def _misnamed(scene: Scene, some: SeenObjects) -> bool:
    doubt = None if scene.objects is None else scene.objects.name_outlier_probability
    return doubt is not None and bool((doubt[some.object] > _LARGEST_DOUBT).any())


def _doubled(some: SeenObjects) -> bool:
    boxes = some.box_px
    return any(overlap(boxes[[a]], boxes[b])[0] > _LARGEST_OVERLAP for a, b in combinations(range(len(some)), 2))
