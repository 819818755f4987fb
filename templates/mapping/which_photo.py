"""L2/Memory/Memory Retrieval: in which photo does a point appear nearest to an edge? It needs no camera path."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from experts.signals import PointTracks
from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.offer import Offer
from templates.perception.allo_motion import FollowedPoints, MarkedTracks, alternating
from templates.question import FormatName, Phrasing
from templates.scene.correspondence import corresponding_points
from templates.scene.marks import inside
from templates.scene.pictures import Pictures
from templates.scene.point_motion import INSIDE_PX, point_motion, tracks_at
from templates.scene.scene import SURFACE, Scene, find_rows

_LATER = ("2", "3", "4")
_TOWARDS = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}
"""Edges of a photo, with the direction towards them in pixels."""
_MIN_GAP = 0.03
"""Least lead of the nearest photo over the next one, as a share of the diagonal: a person sees it."""
_SIGMA_PX = 2.0
"""σ of a tracked point, added to that of its track (at 640 px width): the mark lies beside the track."""


@dataclass(frozen=True, kw_only=True)
class TracksTowardsEdge(MarkedTracks):
    """A point marked in the first of four photos, and an edge."""

    edge: Texts
    """A key of `_TOWARDS`."""


@dataclass(frozen=True, kw_only=True)
class WhichPhoto(FollowedPoints):
    """The photo, of the three later ones, in which a marked point appears nearest to an edge. Measures how far each
    leads towards the edge, in pixels."""

    name: str = "which_photo"
    version: str = "3"
    ability: str = "L2/Memory/Memory Retrieval"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = TracksTowardsEdge
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _LATER}
    marks: ClassVar[tuple[str, ...]] = ("P",)
    inside_px: float = INSIDE_PX
    reads: frozenset[str] = SURFACE | {"image_tracks", "matches", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Facts:
        """Moving and static tracks by turns, each over photos of which one is nearest to an edge by far."""
        tracks = scene.tracks
        if tracks is None:
            return TracksTowardsEdge.none()
        moving, static = (rng.permutation(np.flatnonzero(tracks.motion == m)) for m in (1, 0))
        rows = (_shown(scene, tracks, row, rng) for row in alternating(moving, static))
        return TracksTowardsEdge.from_json([*islice(filter(None, rows), count)])

    def measure(self, facts: TracksTowardsEdge, scene: Scene) -> Measured:
        """By its track, else by measured depth."""
        if facts.frames.shape[1] <= len(_LATER):
            return Measured.none(len(facts), "too few photos", components=len(_LATER))
        tracks = scene.tracks
        if tracks is None or not len(tracks.motion):
            seen = _by_depth(facts, scene)
        else:
            seen = _by_tracks(facts, scene, tracks, self.inside_px)
        towards = np.array([_TOWARDS[edge] for edge in facts.edge]).reshape(-1, 2)
        along = np.einsum("nkx,nx->nk", seen.xy_px, towards)
        second, first = np.sort(along, axis=1)[:, -2:].T
        cases = {
            "too few photos": (facts.frames < 0).any(axis=1),
            "appears about as near to the edge in two photos": ~(first - second >= _MIN_GAP * scene.diagonal_px),
        }
        return Measured(
            why=np.where(seen.why == "", first_reason(len(facts), cases), seen.why),
            value=along,
            sigma=seen.sigma_px,
            label=np.array(_LATER)[along.argmax(axis=1)],
            margin=(first - second) / (np.sqrt(2) * seen.sigma_px.max(axis=1)),
            outlier_probability=seen.outlier_probability,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Four photos in order of time; the first has the mark."""
        return Phrasing(media=super().phrase(format, fact, answer, offer).media, values={"edge": fact["edge"]})

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """A corner of a frame, that frame and later ones, and an edge."""
        drawn = super().draw(pictures, rng)
        return drawn and {**drawn, "edge": str(rng.choice(list(_TOWARDS)))}


def _shown(scene: Scene, tracks: PointTracks, row: int, rng: np.random.Generator) -> dict[str, Json] | None:
    """A fact about a track: its first photo, a later one that is nearest to an edge, and two that are clearly farther;
    None if there are too few."""
    seen = np.flatnonzero(tracks.visible[row])
    if len(seen) <= len(_LATER) or not inside(scene.clip, tracks.xy_px[row, seen[0]]):
        return None
    for edge in rng.permutation(list(_TOWARDS)).tolist():
        along = tracks.xy_px[row, seen[1:]] @ _TOWARDS[edge]
        farther = np.flatnonzero(along < along.max() - 1.5 * _MIN_GAP * scene.diagonal_px)
        if len(farther) >= len(_LATER) - 1:
            others = rng.choice(farther, len(_LATER) - 1, replace=False)
            later = tracks.frames[seen[1:][np.sort([along.argmax(), *others])]]
            frames = [int(tracks.frames[seen[0]]), *later.tolist()]
            return {"frames": frames, "points_px": [tracks.xy_px[row, seen[0]].tolist()], "edge": edge}
    return None


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """A marked point in the later photos."""

    why: Texts
    xy_px: Float64[np.ndarray, "n k 2"]
    sigma_px: Float64[np.ndarray, "n k"]
    outlier_probability: Float64[np.ndarray, "n"]


def _by_tracks(facts: MarkedTracks, scene: Scene, tracks: PointTracks, inside_px: float) -> _Seen:
    """Where the point's track is."""
    start, frames = facts.points_px[:, 0], facts.frames
    point = point_motion(scene, frames[:, 0], start, frames, inside_px)
    found, column = tracks_at(scene, frames[:, 0], start), find_rows(tracks.frames, frames[:, 1:])
    row = np.maximum(found, 0)
    cases = {
        "point is not tracked": found < 0,
        "point is not seen in all photos": ~((column >= 0) & tracks.visible[row[:, None], column]).all(axis=1),
    }
    return _Seen(
        why=np.where(point.why == "", first_reason(len(facts), cases), point.why),
        xy_px=tracks.xy_px[row[:, None], column],
        sigma_px=np.hypot(tracks.sigma_px[row[:, None], column], _SIGMA_PX * scene.pixel_scale),
        outlier_probability=tracks.outlier_probability[row],
    )


def _by_depth(facts: MarkedTracks, scene: Scene) -> _Seen:
    """Where the correspondences are; a point that leaves a photo has no place in it."""
    each = [
        corresponding_points(scene, facts.frames[:, 0], facts.points_px[:, 0], frame) for frame in facts.frames[:, 1:].T
    ]
    cases = {
        reason: np.any([found.why == reason for found in each], axis=0)
        for found in each
        for reason in {*found.why} - {""}
    }
    left = np.any([found.label == "cannot be determined" for found in each], axis=0)
    return _Seen(
        why=first_reason(len(facts), {**cases, "point leaves the picture": left}),
        xy_px=np.stack([found.value for found in each], axis=1),
        sigma_px=np.column_stack([found.sigma.max(axis=1) for found in each]),
        outlier_probability=np.max([found.outliers for found in each], axis=0),
    )
