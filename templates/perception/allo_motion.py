"""L1/Motion/Allo: does a marked point move in the world, whatever the camera does?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experts.signals import PointTracks
from templates.answers import Answer, Label
from templates.fact import Fact
from templates.measured import Measured, Undecided
from templates.question import FormatName, Mark, Option, Photo, Phrasing
from templates.scene.marks import listed, spaced
from templates.scene.pictures import Params, Pictures
from templates.scene.placing import at_tracks
from templates.scene.point_motion import INSIDE_PX, point_motion
from templates.scene.scene import Scene, inside
from templates.template import Template

_PHOTOS = 4
_TRACKS = 16
_MIN_FRAMES = 6
_MIN_DISTANCE = 0.12
"""Least distance between marks, as a share of the diagonal."""
_MARKS = "123"
"""Three marks: four points with 99.7 % confidence each have less than 99 % together."""
_SETTING = "These photos were taken one after another; the camera may move. "


class _Motion(Template):
    """Common base: the label of tracked points over several photos."""

    version: str = "1"
    ability: str = "L1/Motion/Allo"
    needs: frozenset[str] = frozenset({"tracks"})
    reads: frozenset[str] = frozenset({"tracks", "camera_path", "sparse_points", "image_tracks"})

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The label."""
        assert measured.label is not None and measured.margin is not None
        return Label(text=measured.label, margin=measured.margin, outlier_probability=measured.outlier_probability)

    def placed(self, facts: Sequence[Fact], scene: Scene) -> list[Fact]:
        """Moves pixels to tracks that all photos show."""
        return at_tracks(facts, scene)


@dataclass(frozen=True, kw_only=True)
class PointMoves(_Motion):
    """Whether one marked point moves."""

    name: str = "point_moves"
    formats: tuple[FormatName, ...] = ("yes_no",)
    inside_px: float = INSIDE_PX

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Moving and static tracks by turns, over the frames that show them."""
        if scene.tracks is None:
            return []
        moving, static = (rng.permutation(np.flatnonzero(scene.tracks.motion == m))[:_TRACKS] for m in (1, 0))
        facts = []
        for row in _alternating(moving, static):
            if (span := _span(scene, scene.tracks, row)) is not None:
                frames, xy = span
                params = {"frame": frames[0], "xy": xy, "frames": frames}
                facts.append(Fact(template=self.name, params=params))
        return facts

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """Label "yes" or "no", and the residual against the static world in px at 640 px width."""
        return [_motion(fact, fact.params["xy"], scene, self.inside_px) for fact in facts]

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Photos in order of time; the first has the mark."""
        return Phrasing(
            prompt=_SETTING + "Does the thing marked A in photo 1 move in the world (not merely in the picture) while "
            "the photos are taken? Answer yes or no.",
            media=_photos(fact, {"A": fact.params["xy"]}),
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """A corner of a frame, that frame and later ones."""
        drawn = pictures.points(rng, 1)
        return drawn and {"frame": drawn[0], "xy": drawn[1][0], "frames": pictures.from_frame(drawn[0], rng)}


@dataclass(frozen=True, kw_only=True)
class WhichMoves(_Motion):
    """Which of three marked points moves."""

    name: str = "which_moves"
    formats: tuple[FormatName, ...] = ("choice",)
    inside_px: float = INSIDE_PX

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """One moving and two static tracks that the same photos show."""
        if scene.tracks is None:
            return []
        facts = []
        for row in rng.permutation(np.flatnonzero(scene.tracks.motion == 1))[:_TRACKS]:
            if (span := _span(scene, scene.tracks, int(row))) is None:
                continue
            frames, _ = span
            columns = np.searchsorted(scene.tracks.frames, frames)
            seen = scene.tracks.visible[:, columns].all(axis=1) & (scene.tracks.motion == 0)
            xy_px = scene.tracks.xy_px[:, columns[0]]
            static = rng.permutation(np.flatnonzero(seen))
            static = static[inside(scene.clip, xy_px[static])]
            rows = spaced(np.append(row, static), xy_px, _MIN_DISTANCE * scene.diagonal_px, len(_MARKS))
            if len(rows) == len(_MARKS):
                points = [listed(xy_px[r]) for r in rng.permutation(rows)]
                facts.append(Fact(template=self.name, params={"frame": frames[0], "points": points, "frames": frames}))
        return facts

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """The number of the only moving point."""
        return [self._measure(fact, scene) for fact in facts]

    def _measure(self, fact: Fact, scene: Scene) -> Measured | Undecided:
        each = [_motion(fact, xy, scene, self.inside_px) for xy in fact.params["points"]]
        known = [m for m in each if isinstance(m, Measured)]
        if len(known) < len(each):
            return next(m for m in each if isinstance(m, Undecided))
        moving = [i for i, m in enumerate(known) if m.label == "yes"]
        if len(moving) != 1:
            return Undecided(reason="not exactly one of the points moves")
        return Measured(
            value=np.concatenate([m.value for m in known]),
            sigma=np.concatenate([m.sigma for m in known]),
            label=_MARKS[moving[0]],
            margin=min(m.margin for m in known if m.margin is not None),
            outlier_probability=float(1 - np.prod([1 - m.outlier_probability for m in known])),
            evidence={"points": [dict(m.evidence) for m in known]},
        )

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Photos in order of time; the first has the numbered marks."""
        assert isinstance(answer, Label)
        return Phrasing(
            prompt=_SETTING + "Which of the things marked in photo 1 moves in the world (not merely in the picture) "
            "while the photos are taken?",
            media=_photos(fact, dict(zip(_MARKS, fact.params["points"], strict=True))),
            options=tuple(Option(shown=f"Point {mark}", value=mark) for mark in _MARKS),
            answer=_MARKS.index(str(answer.text)),
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """Three corners of a frame, that frame and later ones."""
        drawn = pictures.points(rng, len(_MARKS))
        return drawn and {"frame": drawn[0], "points": drawn[1], "frames": pictures.from_frame(drawn[0], rng)}


def _motion(fact: Fact, xy_px: Sequence[float], scene: Scene, inside_px: float) -> Measured | Undecided:
    params = fact.params
    return point_motion(scene, params["frame"], np.array(xy_px, dtype=float), params["frames"], inside_px)


def _photos(fact: Fact, marks: Mapping[str, Sequence[float]]) -> tuple[Photo, ...]:
    """Photos in order of time; the first has the marks."""
    x_y = {text: (float(x), float(y)) for text, (x, y) in marks.items()}
    first, *rest = fact.params["frames"]
    marked = Photo(frame=first, marks=tuple(Mark(text=text, xy_px=xy) for text, xy in x_y.items()))
    return (marked, *(Photo(frame=frame) for frame in rest))


def _alternating(a: np.ndarray, b: np.ndarray) -> list[int]:
    """Rows of both by turns, so that a limit on facts keeps both kinds."""
    longest = max(len(a), len(b))
    return [int(rows[i]) for i in range(longest) for rows in (a, b) if i < len(rows)]


def _span(scene: Scene, tracks: PointTracks, row: int) -> tuple[list[int], list[float]] | None:
    """Frames spread over those that show a track, and its pixel in the first; None if too few show it."""
    seen = np.flatnonzero(tracks.visible[row])
    if len(seen) < min(_MIN_FRAMES, len(tracks.frames)):
        return None
    columns = seen[np.unique(np.linspace(0, len(seen) - 1, _PHOTOS).round().astype(int))]
    xy = tracks.xy_px[row, columns[0]]
    if not inside(scene.clip, xy):
        return None
    return [int(tracks.frames[c]) for c in columns], listed(xy)
