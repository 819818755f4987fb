"""L1/Localization/3D Detection: how many objects of a name a photo shows."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Int64

from templates.answers import Answer, Count, Label
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.named import all_listed, may_be_called
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

_OPTIONS = 4
"""Numbers that a choice offers."""
_MOST = 12
"""Largest count that a choice asks for."""
_COUNTED = 10.0
"""Margin of a count in σ: it is exact, if no object is another one."""


@dataclass(frozen=True, kw_only=True)
class NamedInPhoto(Facts):
    """All objects of a name in one photo."""

    frame: Int64[np.ndarray, "n"]
    name: Texts


@dataclass(frozen=True, kw_only=True)
class Counted(Template):
    """A number of objects, in figures or as one of four words. Measures the number."""

    formats: tuple[FormatName, ...] = ("numeric", "choice")
    needs: frozenset[str] = frozenset({"objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})
    least: ClassVar[int] = 1
    """Smallest number that a choice offers."""

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The count; right is the same number alone."""
        if format == "numeric":
            return Count(value=measured.value[:, 0], sigma=measured.sigma[:, 0], outlier_probability=measured.outliers)
        margin = np.full(len(facts), _COUNTED)
        text = np.round(measured.value[:, 0]).astype(np.int64).astype(np.str_)
        return Label(text=text, margin=margin, outlier_probability=measured.outliers)

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """Four successive numbers; the right one is any of them."""
        if format != "choice":
            return None
        count = np.array([int(text) if text else 1 for text in answers.labels().tolist()], dtype=np.int64)
        least = np.maximum(self.least, count - chance.index("options", _OPTIONS))
        numbers = least[:, None] + np.arange(_OPTIONS)
        return Offer(
            why=np.where(count > _MOST, "too many to choose from", ""),
            options=numbers.astype(np.str_),
            right=count - least,
            mistakes=np.where(numbers < count[:, None], "overlooked", "counted twice, or as a reflection"),
        )


@dataclass(frozen=True, kw_only=True)
class CountInPhoto(Counted):
    """Objects of a name of which every one is listed. Measures their number."""

    name: str = "count_in_photo"
    version: str = "3"
    ability: str = "L1/Localization/3D Detection"
    facts: ClassVar[type[Facts]] = NamedInPhoto

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
        frames = np.empty(0) if objects is None else objects.frames
        each = [
            seen.take((seen.frame == frame) & (seen.name == name))
            for frame, name in zip(facts.frame.tolist(), facts.name.tolist(), strict=True)
        ]
        photo_px = scene.clip.width_px * scene.clip.height_px
        cases = {
            "not every object of this name is listed": ~all_listed(scene, facts.name),
            "the photo has no objects": ~np.isin(facts.frame, frames) | (facts.name == ""),
            "what is visible of an object is not known": _any(each, lambda some: np.isnan(some.area_px)),
            "an object may be too small or too little visible": _any(
                each, lambda some: some.area_px < photo_px * np.where(some.is_cut, _LEAST_AREA_CUT, _LEAST_AREA)
            ),
            "another name may mean the same kind": np.array(
                [
                    may_be_called(name, seen.name[seen.frame == frame].tolist())
                    for frame, name in zip(facts.frame.tolist(), facts.name.tolist(), strict=True)
                ],
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
            evidence={"name": facts.name, "seen_at": _places(each)},
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo."""
        return Phrasing(media=(Photo(frame=fact["frame"]),), values={"name": fact["name"]})


def _places(each: list[SeenObjects]) -> Texts:
    """Where they are, in pixels: the middles of their boxes."""
    middles = [some.box_px.mean(axis=1).round().astype(int).tolist() for some in each]
    return np.array([", ".join(f"[{x}, {y}]" for x, y in of_one) for of_one in middles], dtype=np.str_)


def _any(each: list[SeenObjects], doubtful: Callable[[SeenObjects], np.ndarray]) -> Bool[np.ndarray, "n"]:
    return np.array([bool(doubtful(some).any()) for some in each], dtype=bool)


def _doubt(scene: Scene, some: SeenObjects) -> float:
    """Probability that any of them is something else, or called so."""
    objects = scene.objects
    kinds = () if objects is None else (objects.outlier_probability, objects.name_outlier_probability)
    return float(1 - np.prod([1 - kind[some.object] for kind in kinds if kind is not None]))


def _misnamed(scene: Scene, some: SeenObjects) -> bool:
    doubt = None if scene.objects is None else scene.objects.name_outlier_probability
    return doubt is not None and bool((doubt[some.object] > _LARGEST_DOUBT).any())


def _doubled(some: SeenObjects) -> bool:
    boxes = some.box_px
    return any(overlap(boxes[[a]], boxes[b])[0] > _LARGEST_OVERLAP for a, b in combinations(range(len(some)), 2))
