"""L1/Relation/Correspondence: the same point in another photo; with `unanswerable`, also points outside that photo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64, Shaped

from experts.clip import Clip
from templates.answers import Answer, Point
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.cue import Cue, Pixel, marked, photos, place
from templates.distractors import point_distractors
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing, Question
from templates.scene.correspondence import corresponding_points
from templates.scene.marks import MAX_OUTLIER_PROBABILITY, inside, spaced
from templates.scene.out_of_view import pixels_out_of_view
from templates.scene.pictures import Pictures
from templates.scene.placing import nearest_match
from templates.scene.scene import SURFACE, Scene
from templates.settings import MaxTolerances
from templates.template import Template

_MATCHES_PER_PAIR = 3
_MIN_DISTANCE = 0.08
"""Least distance between points of one pair of photos, as a share of the diagonal."""
_OUTSIDE = 0.06
"""Least distance of an unanswerable point from the edge of photo 2, as a share of the diagonal: as far as wrong points
are from the right one."""
_ANSWERABLE_PER_UNANSWERABLE = 4
"""Proposed answerable facts per unanswerable one; the balance of the dataset keeps fewer unanswerable ones."""
_POINTS = 4
"""Points that a choice shows in photo 2."""
_NOT_SHOWN = "photo 2 does not show it"


@dataclass(frozen=True, kw_only=True)
class Correspondences(Facts):
    """A point of photo a, sought in photo b."""

    frame_a: Int64[np.ndarray, "n"]
    a_px: Float64[np.ndarray, "n 2"]
    frame_b: Int64[np.ndarray, "n"]
    size: Int64[np.ndarray, "n 2"]
    """Width and height of the photos."""
    decoy_px: Float64[np.ndarray, "n 2"]
    """A point of photo b, shown where it does not show the sought one; else NaN."""


@dataclass(frozen=True, kw_only=True)
class SamePoint(Template):
    """Where a marked point of photo 1 lies in photo 2. Measures its pixel, or the label that it lies outside."""

    name: str = "same_point"
    version: str = "4"
    ability: str = "L1/Relation/Correspondence"
    formats: tuple[FormatName, ...] = ("choice", "point")
    facts: ClassVar[type[Facts]] = Correspondences
    cue_formats: tuple[FormatName, ...] = ("point",)
    needs: frozenset[str] = frozenset({"matches"})
    reads: frozenset[str] = SURFACE | {"image_tracks", "matches", "objects"}
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)
    unanswerable: bool = False
    """Whether to ask about points outside photo 2 too; choices then offer "cannot be determined"."""

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Facts:
        """Confirmed matches of every pair of frames, away from each other and from the frame's edges.

        With `unanswerable`, also points of the same pairs outside photo 2, each with a "decoy": a point inside.
        """
        matches, facts, outside = scene.matches, [], []
        if matches is None:
            return Correspondences.none()
        (apart,) = rng.spawn(1)  # so that unanswerable facts change no other
        good = (matches.outlier_probability < MAX_OUTLIER_PROBABILITY) & inside(scene.clip, matches.xy_a_px)
        good &= inside(scene.clip, matches.xy_b_px)
        for k in rng.permutation(len(matches.pairs)):
            rows, pair = rng.permutation(np.flatnonzero(good & (matches.pair == k))), matches.pairs[k].tolist()
            chosen = spaced(rows, matches.xy_a_px, _MIN_DISTANCE * scene.diagonal_px, _MATCHES_PER_PAIR)
            facts += [_fact(scene.clip, pair, matches.xy_a_px[row].tolist()) for row in chosen]
            if self.unanswerable and len(rows):
                outside += _out_of_view(scene, pair, matches.xy_b_px[rows], apart)
            if len(facts) >= count and (not self.unanswerable or len(outside) * _ANSWERABLE_PER_UNANSWERABLE >= count):
                break
        return Correspondences.from_json(_interleaved(facts[:count], outside))

    def measure(self, facts: Correspondences, scene: Scene) -> Measured:
        """The pixel in photo 2, from confirmed matches or dense depth; or the label that the point lies outside."""
        found = corresponding_points(scene, facts.frame_a, facts.a_px, facts.frame_b)
        shift = np.where((np.asarray(found.label) == "")[:, None], found.value - facts.a_px, np.nan)
        return replace(found, evidence={**found.evidence, "shift_px": shift.round()})

    def answer(self, format: FormatName, facts: Correspondences, measured: Measured) -> Answers:
        """The pixel with a tolerance of 2 % of the diagonal; or the label "cannot be determined"."""
        point = Point(
            xy_px=measured.value,
            sigma_px=measured.sigma.max(axis=1),
            tolerance_px=self._tolerance_px(facts),
            outlier_probability=measured.outliers,
        )
        label = measured.as_label()
        return Answers.either(np.asarray(label.text) == "", point, label, measured.why)

    def _tolerance_px(self, facts: Correspondences) -> Float64[np.ndarray, "n"]:
        return np.floor(self.max_tolerances.point_diagonal * np.hypot(*facts.size.T.astype(np.float64)))

    def offer(self, format: FormatName, facts: Correspondences, answers: Answers, chance: Chance) -> Offer | None:
        """Four points of photo 2 in random order; where it does not show the point, none of them is right."""
        is_outside = answers.labels() != ""
        if format != "choice":
            return Offer(why=np.where(is_outside, _NOT_SHOWN, ""))
        shown = answers.column(Point, "xy_px", facts.decoy_px)
        wrong, mistakes = self._wrong(shown, self._tolerance_px(facts), facts, chance)
        order = chance.order("mark", _POINTS)
        points = np.take_along_axis(np.concatenate([shown[:, None], wrong], axis=1), order[:, :, None], axis=1)
        cases = {
            _NOT_SHOWN: is_outside & np.isnan(facts.decoy_px).any(axis=1),
            "no room for distinct wrong points": np.isnan(wrong).any(axis=(1, 2)),
        }
        return Offer(
            why=first_reason(len(facts), cases),
            options=points.round(1),
            right=np.where(is_outside, _POINTS, (order == 0).argmax(axis=1)),
            undetermined=is_outside | self.unanswerable,
            mistakes=np.take_along_axis(np.column_stack([np.full(len(facts), ""), mistakes]), order, axis=1),
        )

    def _wrong(
        self,
        xy_px: Float64[np.ndarray, "n 2"],
        tolerance_px: Float64[np.ndarray, "n"],
        facts: Correspondences,
        chance: Chance,
    ) -> tuple[Float64[np.ndarray, "n c 2"], Shaped[np.ndarray, "n c"]]:
        """Wrong points of photo 2, and the mistake behind each."""
        return point_distractors(xy_px, tolerance_px, facts.a_px, facts.size, chance, _POINTS - 1)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A mark in photo 1; in photo 2 four numbered marks, or none."""
        assert offer is not None
        numbered = {str(k): xy_px for k, xy_px in enumerate(offer.values(0), start=1)}
        media = (Photo.marked(fact["frame_a"], {"P": fact["a_px"]}), Photo.marked(fact["frame_b"], numbered))
        return Phrasing(media=media, values=dict(zip(("width", "height"), fact["size"], strict=True)))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """A corner of one picture, and another picture."""
        drawn = pictures.points(rng, 1)
        other = drawn and pictures.other_frame(drawn[0], rng)
        if drawn is None or other is None:
            return None
        return _fact(pictures.clip, (drawn[0], other), drawn[1][0])

    def placed(self, facts: Facts, scene: Scene) -> Facts:
        """Moves the pixel to a match, in frames near the drawn ones."""
        rows = facts.to_json()
        for row in rows:
            if found := nearest_match(scene, row["frame_a"], np.array(row["a_px"]), row["frame_b"]):
                row |= {"frame_a": found[0], "a_px": found[1].tolist(), "frame_b": found[2]}
        return Correspondences.from_json(rows)

    def cue(self, question: Question, numbers: Mapping[int, int]) -> Cue | None:
        """The match, photos by number: the order of frames may be the answer to another question."""
        if (len(photos(question)), len(marked(question))) != (2, 1):
            return None
        _, second = photos(question)
        pixels: list[Pixel] = [*marked(question), (second["frames"][0], *question.answer)]
        a, b = sorted(pixels, key=lambda pixel: numbers[pixel[0]])
        text = f"{place(a, numbers)} and {place(b, numbers)} are the same point of the scene."
        return Cue(text=text, pixels=(a, b))


def _fact(clip: Clip, pair: Sequence[int], a_px: Json, decoy_px: Json = None) -> dict[str, Json]:
    size = [clip.width_px, clip.height_px]
    return {"frame_a": pair[0], "a_px": a_px, "frame_b": pair[1], "size": size, "decoy_px": decoy_px}


def _out_of_view(
    scene: Scene, pair: Sequence[int], shown_px: np.ndarray, rng: np.random.Generator
) -> list[dict[str, Json]]:
    """Unanswerable facts of matched pairs only, so that the pair of photos does not reveal the answer."""
    xy = pixels_out_of_view(scene, pair[0], pair[1], _OUTSIDE * scene.diagonal_px)
    chosen = spaced(rng.permutation(len(xy)), xy, _MIN_DISTANCE * scene.diagonal_px, _MATCHES_PER_PAIR)
    return [_fact(scene.clip, pair, xy[row].tolist(), rng.choice(shown_px).tolist()) for row in chosen]


def _interleaved(facts: list[dict[str, Json]], unanswerable: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Answerable facts in their order, with unanswerable ones between them."""
    every = _ANSWERABLE_PER_UNANSWERABLE
    placed = [*enumerate(facts), *((every * (k + 0.5) - 0.5, fact) for k, fact in enumerate(unanswerable))]
    return [fact for place, fact in sorted(placed, key=itemgetter(0)) if place < len(facts)]
