"""L1/Motion/Allo: does a marked point move in the world, whatever the camera does?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from experts.signals import PointTracks
from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.marks import inside, spaced
from templates.scene.pictures import Pictures
from templates.scene.placing import nearest, tracked
from templates.scene.point_motion import INSIDE_PX, point_motion
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_PHOTOS = 4
_MIN_FRAMES = 6
_MIN_DISTANCE = 0.12
"""Least distance between marks, as a share of the diagonal."""
_MARKS = ("1", "2", "3")
"""Three marks: four points with 99.7 % confidence each have less than 99 % together."""


@dataclass(frozen=True, kw_only=True)
class MarkedTracks(Facts):
    """One or several points marked in the first of several photos."""

    frames: Int64[np.ndarray, "n k"]
    """In order of time."""
    points_px: Float64[np.ndarray, "n m 2"]
    """In the first frame."""


class FollowedPoints(Template):
    """Common base: the label of tracked points over several photos."""

    version: str = "3"
    ability: str = "L1/Motion/Allo"
    facts: ClassVar[type[Facts]] = MarkedTracks
    marks: ClassVar[tuple[str, ...]]
    needs: frozenset[str] = frozenset({"tracks"})
    reads: frozenset[str] = SURFACE | {"image_tracks", "objects"}

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The label."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Photos in order of time; the first has the marks."""
        first, *rest = fact["frames"]
        marked = Photo.marked(first, dict(zip(self.marks, fact["points_px"], strict=True)))
        return Phrasing(media=(marked, *(Photo(frame=frame) for frame in rest)))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Corners of a frame, that frame and later ones."""
        drawn = pictures.points(rng, len(self.marks))
        return drawn and {"points_px": drawn[1], "frames": pictures.from_frame(drawn[0], rng)}

    def placed(self, facts: MarkedTracks, scene: Scene) -> Facts:
        """Moves pixels to tracks that all photos show."""
        points = facts.points_px.copy()
        for row, frames in enumerate(facts.frames):
            places = tracked(scene, frames[frames >= 0])
            points[row] = [nearest(xy, places, scene) for xy in points[row]]
        return replace(facts, points_px=points).rounded()


@dataclass(frozen=True, kw_only=True)
class PointMoves(FollowedPoints):
    """Whether one marked point moves."""

    name: str = "point_moves"
    formats: tuple[FormatName, ...] = ("yes_no",)
    marks: ClassVar[tuple[str, ...]] = ("P",)
    inside_px: float = INSIDE_PX

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Facts:
        """Moving and static tracks by turns, over the frames that show them."""
        if scene.tracks is None:
            return _facts([], 1)
        moving, static = (rng.permutation(np.flatnonzero(scene.tracks.motion == m))[:count] for m in (1, 0))
        spans = _spans(scene, scene.tracks, alternating(moving, static)[:count])
        return _facts([(frames, [xy]) for frames, xy in filter(None, spans)], 1)

    def measure(self, facts: MarkedTracks, scene: Scene) -> Measured:
        """Label "yes" or "no", and the residual against the static world in px at 640 px width."""
        return point_motion(scene, facts.frames[:, 0], facts.points_px[:, 0], facts.frames, self.inside_px)


@dataclass(frozen=True, kw_only=True)
class WhichMoves(FollowedPoints):
    """Which of three marked points moves."""

    name: str = "which_moves"
    formats: tuple[FormatName, ...] = ("choice",)
    marks: ClassVar[tuple[str, ...]] = _MARKS
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    inside_px: float = INSIDE_PX

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Facts:
        """One moving and two static tracks that the same photos show."""
        if scene.tracks is None:
            return _facts([], len(_MARKS))
        facts = []
        moving = rng.permutation(np.flatnonzero(scene.tracks.motion == 1))[:count].tolist()
        for row, span in zip(moving, _spans(scene, scene.tracks, moving), strict=True):
            if span is None:
                continue
            frames, _ = span
            columns = np.searchsorted(scene.tracks.frames, frames)
            seen = scene.tracks.visible[:, columns].all(axis=1) & (scene.tracks.motion == 0)
            xy_px = scene.tracks.xy_px[:, columns[0]]
            static = rng.permutation(np.flatnonzero(seen))
            static = static[inside(scene.clip, xy_px[static])]
            rows = spaced(np.append(row, static), xy_px, _MIN_DISTANCE * scene.diagonal_px, len(_MARKS))
            if len(rows) == len(_MARKS):
                facts.append((frames, xy_px[rng.permutation(rows)].tolist()))
        return _facts(facts, len(_MARKS))

    def measure(self, facts: MarkedTracks, scene: Scene) -> Measured:
        """The number of the only moving point."""
        n, frames = len(facts), np.repeat(facts.frames, len(_MARKS), axis=0)
        each = point_motion(scene, frames[:, 0], facts.points_px.reshape(-1, 2), frames, self.inside_px)
        assert each.label is not None and each.margin is not None
        by_fact = {name: getattr(each, name).reshape(n, len(_MARKS)) for name in ("why", "label", "margin", "outliers")}
        unknown, moving = by_fact["why"] != "", by_fact["label"] == "yes"
        why = np.take_along_axis(by_fact["why"], unknown.argmax(axis=1)[:, None], axis=1)[:, 0]
        one = first_reason(n, {"not exactly one of the points moves": moving.sum(axis=1) != 1})
        return Measured(
            why=np.where(why == "", one, why),
            value=each.value.reshape(n, len(_MARKS)),
            sigma=each.sigma.reshape(n, len(_MARKS)),
            label=np.array(_MARKS)[moving.argmax(axis=1)],
            margin=by_fact["margin"].min(axis=1, initial=np.inf),
            outlier_probability=1 - np.prod(1 - by_fact["outliers"], axis=1),
            evidence={name: column.reshape(n, len(_MARKS)) for name, column in each.evidence.items()},
        )


def _facts(rows: Sequence[tuple[list[int], list[list[float]]]], marks: int) -> MarkedTracks:
    """From the frames and the pixels of each fact."""
    found = MarkedTracks.from_json([{"frames": frames, "points_px": points} for frames, points in rows])
    return found if len(rows) else replace(found, points_px=np.empty((0, marks, 2)))


def alternating(a: np.ndarray, b: np.ndarray) -> list[int]:
    """Rows of both by turns, so that a limit on facts keeps both kinds."""
    return [int(row) for pair in zip_longest(a, b) for row in pair if row is not None]


def _spans(scene: Scene, tracks: PointTracks, rows: Sequence[int]) -> list[tuple[list[int], list[float]] | None]:
    """Of each of the tracks: frames spread over those that show it, and its pixel in the first; None if too few do."""
    at = np.array(rows, dtype=np.int64)
    shown = tracks.visible[at]
    count = shown.sum(axis=1)
    place = np.linspace(0, np.maximum(count - 1, 0), _PHOTOS, axis=1).round().astype(np.int64)
    columns = np.take_along_axis(np.argsort(~shown, axis=1, kind="stable"), place, axis=1)
    xy_px = tracks.xy_px[at, columns[:, 0]]
    enough = (count >= min(_MIN_FRAMES, len(tracks.frames))) & inside(scene.clip, xy_px)
    spans = zip(tracks.frames[columns].tolist(), xy_px.tolist(), strict=True)
    return [(sorted({*frames}), xy) if known else None for (frames, xy), known in zip(spans, enough, strict=True)]
