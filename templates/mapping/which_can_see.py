"""L2/Understanding/Perspective Taking: from which one of three marked points an object can be seen, or cannot."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.mapping.can_see import CLEARLY, PointAndObject, points_and_objects
from templates.measured import Measured, first_reason
from templates.media import Box, Mark, Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.elsewhere import on_mover
from templates.scene.lines_of_sight import HIDDEN, SEEN, seen_from_points, ways_to
from templates.scene.misleading import taking_turns
from templates.scene.object_boxes import outliers
from templates.scene.objects import found_again
from templates.scene.pictures import MIN_DISTANCE
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_MARKS = ("1", "2", "3")
_EACH = 5
"""Points of one photo that are tried for each answer about an object."""
_LEAST_TRIED = 240
"""As few points see what the photo shows but other things hide, points are drawn as for so many facts at least."""
_SPARE = 4
"""So many times fewer facts than are wanted are proposed: all of these are measured."""
_TRIES = 30
"""Groups of points drawn for each object of a photo."""
_SEVERAL = 4
"""Most facts about an object of a photo."""


@dataclass(frozen=True, kw_only=True)
class PointsAndObject(Facts):
    """Three points and an object of one photo."""

    frame: Int64[np.ndarray, "n"]
    points_px: Float64[np.ndarray, "n 3 2"]
    object: ObjectRefs
    seen: Bool[np.ndarray, "n"]
    """Whether it is asked from which point the object can be seen; otherwise, from which one it cannot."""


@dataclass(frozen=True, kw_only=True)
class WhichCanSee(Template):
    """From which one of three points an object of the photo can be seen, or from which one it cannot. Measures 1 for
    each point that sees it, 0 for the others."""

    name: str = "which_can_see"
    version: str = "1"
    ability: str = "L2/Understanding/Perspective Taking"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = PointsAndObject
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "depth", "objects"})
    reads: frozenset[str] = SURFACE | {"objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PointsAndObject:
        """Points of which one differs from the two others; objects take turns, and so do both questions."""
        pairs, object, likely = points_and_objects(scene, rng, max(count, _LEAST_TRIED))
        found, wanted = list[PointsAndObject](), count // _SPARE
        hidden = np.flatnonzero(likely == HIDDEN)
        keys = np.unique(np.column_stack([object, pairs.frame])[hidden], axis=0)
        keys = keys[rng.permutation(len(keys))]
        for one, frame in keys[taking_turns(keys[:, 0].astype(np.str_))].tolist():
            if sum(map(len, found)) >= 2 * wanted:
                break
            here = (object == one) & (pairs.frame == frame)
            rows = np.concatenate([np.flatnonzero(here & (likely == word))[:_EACH] for word in (SEEN, HIDDEN)])
            if len(rows) >= len(_MARKS):
                words = seen_from_points(scene, pairs.frame[rows], pairs.point_px[rows], object[rows])
                found.append(_groups(scene, pairs.take(rows), words, rng))
        if not found:
            return PointsAndObject.none()
        facts = PointsAndObject.from_json([row for each in found for row in each.to_json()])
        order = rng.permutation(len(facts))
        order = order[taking_turns(facts.object.name[order])]
        return facts.take(order[taking_turns(facts.seen[order].astype(np.str_))][:wanted])

    def measure(self, facts: PointsAndObject, scene: Scene) -> Measured:
        """From which points all lines of sight are free; from the others, all must be blocked."""
        object, n = found_again(scene, facts.object), len(facts)
        frame, xy = facts.frame.repeat(len(_MARKS)), facts.points_px.reshape(-1, 2)
        words = seen_from_points(scene, frame, xy, object.repeat(len(_MARKS))).reshape(n, len(_MARKS))
        doubt = np.nan_to_num(scene.surface(frame, xy).outlier_probability, nan=1.0).reshape(n, len(_MARKS))
        wanted = np.where(facts.seen, SEEN, HIDDEN)[:, None]
        middle = facts.object.box_px.mean(axis=1)[:, None]
        away = np.linalg.norm(facts.points_px - middle, axis=2) * np.where(facts.seen, 1, -1)[:, None]
        cases = {
            "an object is not found again": object < 0,
            "depth is not measured": np.full(n, scene.measured_depth is None),
            "a marked point moves": on_mover(scene, frame, xy).reshape(n, len(_MARKS)).any(axis=1),
            "not all lines of sight are free, or all blocked": (words == "").any(axis=1),
            "not exactly one marked point is the answer": (words == wanted).sum(axis=1) != 1,
        }
        marks = np.array(_MARKS)
        return Measured(
            why=first_reason(n, cases),
            value=(words == SEEN).astype(float),
            sigma=np.zeros((n, len(_MARKS))),
            label=marks[(words == wanted).argmax(axis=1)],
            margin=np.full(n, CLEARLY),
            outlier_probability=1 - np.prod(1 - doubt, axis=1) * (1 - outliers(scene, object)),
            evidence={
                "distances": ways_to(scene, frame, xy, object.repeat(len(_MARKS))).reshape(n, len(_MARKS)).round(2),
                "length_unit": np.full(n, scene.length_unit),
            },
            traps={"by the distance in the picture": marks[away.argmin(axis=1)]},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with three points and a box."""
        ref = fact["object"]
        marks = [Mark(text=text, xy_px=tuple(xy)) for text, xy in zip(_MARKS, fact["points_px"], strict=True)]
        box = Box(text="X", points_px=tuple(map(tuple, ref["box_px"])))
        return Phrasing(
            media=(Photo(frame=fact["frame"], marks=(*marks, box)),),
            wording="choice.seen" if fact["seen"] else "choice.hidden",
            values={"name": ref["name"]},
        )

    def placed(self, facts: PointsAndObject, scene: Scene) -> Facts:
        """As they are: a pixel that is moved may no longer show its object."""
        return facts


def _groups(scene: Scene, pairs: PointAndObject, words: Texts, rng: np.random.Generator) -> PointsAndObject:
    """Groups of three distant points about one object, of which one alone sees it or does not."""
    drawn = rng.random((_TRIES, len(words))).argsort(axis=1)[:, : len(_MARKS)]
    points, said = pairs.point_px[drawn], words[drawn]
    apart = np.linalg.norm(points - np.roll(points, 1, axis=1), axis=2).min(axis=1) >= MIN_DISTANCE * scene.diagonal_px
    seeing, blind = ((said == word).sum(axis=1) for word in (SEEN, HIDDEN))
    rows = np.flatnonzero(apart & (seeing + blind == len(_MARKS)) & (seeing * blind > 0))
    alone = said == np.where(seeing == 1, SEEN, HIDDEN)[:, None]
    away = np.linalg.norm(points - pairs.object.box_px[0].mean(axis=0), axis=2) * np.where(seeing == 1, 1, -1)[:, None]
    expected = away.argmin(axis=1) == alone.argmax(axis=1)
    rows = rows[np.argsort(expected[rows], kind="stable")]  # where the distance in the picture misleads
    rows = rows[taking_turns(seeing[rows].astype(np.str_))][:_SEVERAL]
    first = np.zeros(len(rows), dtype=np.int64)
    return PointsAndObject(
        frame=pairs.frame[first], points_px=points[rows], object=pairs.object.take(first), seen=seeing[rows] == 1
    )
