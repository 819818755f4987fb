"""L1/Localization/3D Detection: whether a photo shows an object of a name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.object_count import NamedInPhoto
from templates.question import FormatName, Phrasing
from templates.scene.named import all_listed, may_be_called
from templates.scene.objects import SeenObjects, boxed, seen_objects
from templates.scene.outlines import outline_sigma_px
from templates.scene.scene import Scene
from templates.template import Template

_LEAST_AREA = 0.003
"""Least visible area of an object that is there, as a share of the photo."""


@dataclass(frozen=True, kw_only=True)
class ObjectThere(Template):
    """Objects of a name of which every one is listed, and which some photos of the clip show. Measures the largest
    visible area of one, as a share of the photo."""

    name: str = "object_there"
    version: str = "2"
    ability: str = "L1/Localization/3D Detection"
    formats: tuple[FormatName, ...] = ("yes_no",)
    facts: ClassVar[type[Facts]] = NamedInPhoto
    needs: frozenset[str] = frozenset({"objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> NamedInPhoto:
        """Of each name as many photos that show it as photos that do not: names tell nothing about the answer."""
        objects, seen = scene.objects, seen_objects(scene)
        if objects is None:
            return NamedInPhoto.none()
        clear, rows = boxed(seen, scene), []
        for name in sorted({*clear.name.tolist()} - {""}):
            there = np.unique(clear.frame[clear.name == name])
            absent = np.setdiff1d(objects.frames, seen.frame[seen.name == name])
            equal = min(len(there), len(absent))
            rows += [(int(f), name) for frames in (there, absent) for f in rng.permutation(frames)[:equal]]
        mixed = [rows[k] for k in rng.permutation(len(rows))[:count]]
        return NamedInPhoto.from_json([{"frame": frame, "name": name} for frame, name in mixed])

    def measure(self, facts: NamedInPhoto, scene: Scene) -> Measured:
        """Yes where one is clearly visible, no where nothing of any is; else the photo does not decide."""
        seen, objects = seen_objects(scene), scene.objects
        clear, elsewhere = boxed(seen, scene), {*seen.name.tolist()}
        photo_px, pairs = (
            scene.clip.width_px * scene.clip.height_px,
            [*zip(facts.frame.tolist(), facts.name.tolist(), strict=True)],
        )
        here = [seen.take((seen.frame == frame) & (seen.name == name)) for frame, name in pairs]
        names = [seen.name[seen.frame == frame].tolist() for frame, _ in pairs]
        area = np.array([_largest(clear, *pair) for pair in pairs]).reshape(-1) / photo_px
        shown = np.array([len(some) > 0 for some in here], dtype=bool)
        cases = {
            "not every object of this name is listed": ~all_listed(scene, facts.name),
            "the photo has no objects": ~np.isin(facts.frame, [] if objects is None else objects.frames),
            "no photo of the clip shows an object of this name": ~np.isin(facts.name, [*elsewhere - {""}]),
            "what is visible of an object is not known": _any([np.isnan(some.area_px) for some in here]),
            "another name may mean the same kind": np.array(
                [may_be_called(name, others) for (_, name), others in zip(pairs, names, strict=True)], dtype=bool
            ),
            "an object may be too small or too little visible": shown & ~(area >= _LEAST_AREA),
        }
        side_px = np.sqrt(photo_px * np.maximum(area, _LEAST_AREA))
        return Measured(
            why=first_reason(len(facts), cases),
            value=area[:, None],
            sigma=(4 * side_px * outline_sigma_px(scene) / photo_px)[:, None],
            label=np.where(shown, "yes", "no"),
            margin=side_px / (4 * outline_sigma_px(scene)),
            outlier_probability=np.array([_doubt(scene, frame) for frame in facts.frame.tolist()]).reshape(-1),
            evidence={"name": facts.name, "largest_share_percent": (100 * area).round(2)},
            traps={
                "overlooked": np.where(shown, "no", ""),
                "guessed from the kind of room": np.where(shown, "", "yes"),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The word."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo."""
        return Phrasing(media=(Photo(frame=fact["frame"]),), values={"name": fact["name"]})


def _largest(clear: SeenObjects, frame: int, name: str) -> float:
    return float(clear.area_px[(clear.frame == frame) & (clear.name == name)].max(initial=0.0))


def _any(each: list[np.ndarray]) -> np.ndarray:
    return np.array([bool(some.any()) for some in each], dtype=bool)


def _doubt(scene: Scene, frame: int) -> float:
    """Probability that any object in the photo is called by a wrong name."""
    seen, objects = seen_objects(scene), scene.objects
    doubts = None if objects is None else objects.name_outlier_probability
    return 0.0 if doubts is None else float(1 - np.prod(1 - doubts[seen.object[seen.frame == frame]]))
