"""L1/Relation/Correspondence: the same point in another photo; with `unanswerable`, also points outside that photo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from templates.answers import Answer, Label, Point
from templates.cue import Cue, Pixel, marked, photos, place
from templates.distractors import point_distractors
from templates.fact import Fact
from templates.measured import Measured, Undecided
from templates.question import FormatName, Mark, Option, Photo, Phrasing, Question
from templates.scene.correspondence import corresponding_point
from templates.scene.marks import MAX_OUTLIER_PROBABILITY, listed, spaced
from templates.scene.out_of_view import pixels_out_of_view
from templates.scene.pictures import Params, Pictures
from templates.scene.placing import at_matches
from templates.scene.scene import Scene, inside
from templates.settings import MaxTolerances
from templates.template import Template
from templates.unanswerable import is_unanswerable, undetermined_option

_MATCHES_PER_PAIR = 3
_MIN_DISTANCE = 0.08
"""Least distance between points of one pair of photos, as a share of the diagonal."""
_OUTSIDE = 0.06
"""Least distance of an unanswerable point from the edge of photo 2, as a share of the diagonal: as far as wrong points
are from the right one."""
_ANSWERABLE_PER_UNANSWERABLE = 4
"""Proposed answerable facts per unanswerable one; the balance of the data set keeps fewer unanswerable ones."""
_NOT_SHOWN = undetermined_option("photo 2 does not show it")


@dataclass(frozen=True, kw_only=True)
class SamePoint(Template):
    """Where a marked point of photo 1 lies in photo 2. Measures its pixel, or the label that it lies outside."""

    name: str = "same_point"
    version: str = "2"
    ability: str = "L1/Relation/Correspondence"
    formats: tuple[FormatName, ...] = ("choice", "point")
    cue_formats: tuple[FormatName, ...] = ("point",)
    needs: frozenset[str] = frozenset({"matches"})
    reads: frozenset[str] = frozenset({"matches", "camera_path", "sparse_points", "depth", "tracks", "image_tracks"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)
    unanswerable: bool = False
    """Whether to ask about points outside photo 2 too; choices then offer "cannot be determined"."""

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Confirmed matches of every pair of frames, away from each other and from the frame's edges.

        With `unanswerable`, also points of the same pairs outside photo 2, each with a "decoy": a point inside.
        """
        matches = scene.matches
        if matches is None:
            return []
        good = (matches.outlier_probability < MAX_OUTLIER_PROBABILITY) & inside(scene.clip, matches.xy_a_px)
        good &= inside(scene.clip, matches.xy_b_px)
        facts = []
        for pair in rng.permutation(len(matches.pairs)):
            rows = rng.permutation(np.flatnonzero(good & (matches.pair == pair)))
            for row in spaced(rows, matches.xy_a_px, _MIN_DISTANCE * scene.diagonal_px, _MATCHES_PER_PAIR):
                facts.append(self._fact(scene, matches.pairs[pair], matches.xy_a_px[row]))
        return _interleaved(facts, self._out_of_view(scene, good, rng)) if self.unanswerable else facts

    def _out_of_view(self, scene: Scene, good: np.ndarray, rng: np.random.Generator) -> list[Fact]:
        """Unanswerable facts of matched pairs only, so that the pair of photos does not reveal the answer."""
        assert scene.matches is not None
        matches, facts = scene.matches, []
        for pair in rng.permutation(len(matches.pairs)):
            shown = np.flatnonzero(good & (matches.pair == pair))
            if not len(shown):
                continue
            frame_a, frame_b = (int(f) for f in matches.pairs[pair])
            xy = pixels_out_of_view(scene, frame_a, frame_b, _OUTSIDE * scene.diagonal_px)
            for row in spaced(rng.permutation(len(xy)), xy, _MIN_DISTANCE * scene.diagonal_px, _MATCHES_PER_PAIR):
                decoy = listed(matches.xy_b_px[rng.choice(shown)])
                facts.append(self._fact(scene, matches.pairs[pair], xy[row], decoy=decoy))
        return facts

    def _fact(self, scene: Scene, pair: np.ndarray, xy_a_px: np.ndarray, **more: list[float]) -> Fact:
        frame_a, frame_b = (int(f) for f in pair)
        size = [scene.clip.width_px, scene.clip.height_px]
        params = {"frame_a": frame_a, "xy_a": listed(xy_a_px), "frame_b": frame_b, "size": size, **more}
        return Fact(template=self.name, params=params)

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """The pixel in photo 2, from confirmed matches or dense depth; or the label that the point lies outside."""
        return [
            corresponding_point(
                scene, f.params["frame_a"], np.array(f.params["xy_a"], dtype=float), f.params["frame_b"]
            )
            for f in facts
        ]

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The pixel with a tolerance of 2 % of the diagonal; or the label "cannot be determined"."""
        if measured.label is not None:
            assert measured.margin is not None
            return Label(text=measured.label, margin=measured.margin, outlier_probability=measured.outlier_probability)
        return Point(
            xy_px=measured.value,
            sigma_px=float(measured.sigma.max()),
            tolerance_px=self._tolerance_px(fact),
            outlier_probability=measured.outlier_probability,
        )

    def _tolerance_px(self, fact: Fact) -> float:
        return float(np.floor(self.max_tolerances.point_diagonal * np.hypot(*fact.params["size"])))

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """A mark in photo 1; in photo 2 four numbered marks, or none."""
        p = fact.params
        first = Photo(frame=p["frame_a"], marks=(Mark(text="A", xy_px=tuple(p["xy_a"])),))
        if is_unanswerable(answer):
            if format != "choice" or "decoy" not in p:
                return Undecided(reason="photo 2 does not show it")
            shown = np.array(p["decoy"], dtype=float)
        else:
            assert isinstance(answer, Point)
            shown = answer.xy_px
        if format == "point":
            return Phrasing(
                prompt=(
                    "Point A is marked in photo 1. Where is the same point of the scene in photo 2? Answer with its "
                    f"pixel [x, y] in photo 2, which is {p['size'][0]} pixels wide and {p['size'][1]} pixels high "
                    f"(x to the right, y down). {answer.tolerance_in_words().capitalize()} counts as right."
                ),
                media=(first, Photo(frame=p["frame_b"])),
            )
        wrong = point_distractors(
            shown, self._tolerance_px(fact), np.array(p["xy_a"], dtype=float), np.array(p["size"]), rng
        )
        if len(wrong) < 3:
            return Undecided(reason="no room for distinct wrong points")
        undetermined = (_NOT_SHOWN,) if self.unanswerable or is_unanswerable(answer) else ()
        points = [shown, *wrong[:3]]
        order = rng.permutation(4)
        marks = tuple(Mark(text=str(i + 1), xy_px=_pixel(points[k])) for i, k in enumerate(order))
        return Phrasing(
            prompt=(
                "Point A is marked in photo 1. Which of the numbered points in photo 2 is the same point of the scene?"
            ),
            media=(first, Photo(frame=p["frame_b"], marks=marks)),
            options=(*(Option(shown=f"Point {mark.text}", value=list(mark.xy_px)) for mark in marks), *undetermined),
            answer=4 if is_unanswerable(answer) else int(np.flatnonzero(order == 0)[0]),
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """A corner of one picture, and another picture."""
        drawn = pictures.points(rng, 1)
        other = drawn and pictures.other_frame(drawn[0], rng)
        if drawn is None or other is None:
            return None
        size = [pictures.clip.width_px, pictures.clip.height_px]
        return {"frame_a": drawn[0], "xy_a": drawn[1][0], "frame_b": other, "size": size}

    def placed(self, facts: Sequence[Fact], scene: Scene) -> list[Fact]:
        """Moves the pixel to a match, in frames near the drawn ones."""
        return at_matches(facts, scene)

    def cue(self, question: Question, numbers: Mapping[int, int]) -> Cue | None:
        """The match, photos by number: the order of frames may be the answer to another question."""
        if (len(photos(question)), len(marked(question))) != (2, 1):
            return None
        _, second = photos(question)
        pixels: list[Pixel] = [*marked(question), (second["frames"][0], *question.answer)]
        a, b = sorted(pixels, key=lambda pixel: numbers[pixel[0]])
        text = f"{place(a, numbers)} and {place(b, numbers)} are the same point of the scene."
        return Cue(text=text, pixels=(a, b))


def _pixel(xy: np.ndarray) -> tuple[float, float]:
    x, y = listed(xy)
    return x, y


def _interleaved(facts: list[Fact], unanswerable: list[Fact]) -> list[Fact]:
    """Answerable facts in their order, with unanswerable ones between them."""
    mixed, rest, every = [], iter(unanswerable), _ANSWERABLE_PER_UNANSWERABLE
    for k, fact in enumerate(facts):
        mixed.append(fact)
        if k % every == every // 2 - 1 and (other := next(rest, None)) is not None:
            mixed.append(other)
    return mixed
