"""L1/Relation/Relative Direction: which of two marked points lies higher above the ground."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.geometry import PointPairs
from templates.question import FormatName, Phrasing
from templates.scene.compared import VISIBLE_RISE, rise
from templates.scene.marks import frames_with_surface, markable, spread_frames
from templates.scene.misleading import misleading_first
from templates.scene.pictures import MIN_DISTANCE, Pictures
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_FRAMES = 8
_SURE = 2.5
"""Least difference of heights that is proposed, in its σ."""
_PICTURE_ORDER = 0.02
"""Least difference of heights in the picture, as a share of the diagonal: one mark is clearly higher there."""
_OPPOSITE = 0.5
"""Least share of pairs whose lower point is higher in the picture."""


@dataclass(frozen=True, kw_only=True)
class HigherPoint(Template):
    """Heights of two points of one photo along gravity. Measures (height of 2 - height of 1) / the larger range."""

    name: str = "higher_point"
    version: str = "1"
    ability: str = "L1/Relation/Relative Direction"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = PointPairs
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": ("1", "2")}
    needs: frozenset[str] = frozenset({"camera_path", "gravity"})
    with_bars: ClassVar[bool] = True
    reads: frozenset[str] = SURFACE | {"gravity", "image_tracks"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PointPairs:
        """Pairs of distant markable points whose heights differ visibly; in half of them the lower point is higher in
        the picture."""
        frame, xy = markable(scene, spread_frames(frames_with_surface(scene), max(_FRAMES, count // 100)))
        frames, start, points = np.unique(frame, return_index=True, return_counts=True)
        if not len(frames):
            return PointPairs.none()
        at = rng.integers(len(frames), size=16 * count)
        a, b = (start[at] + (rng.random(len(at)) * points[at]).astype(np.int64) for _ in "ab")
        apart = np.linalg.norm(xy[a] - xy[b], axis=1) >= MIN_DISTANCE * scene.diagonal_px
        apart &= np.abs(xy[a, 1] - xy[b, 1]) >= _PICTURE_ORDER * scene.diagonal_px
        a, b = a[apart], b[apart]
        surface = scene.surface(frame, xy)
        higher, sigma = rise(scene, frame[a], surface.take(a), surface.take(b))
        with np.errstate(invalid="ignore"):
            clear = np.abs(higher) >= np.maximum(VISIBLE_RISE, _SURE * sigma)
        a, b, higher = a[clear], b[clear], higher[clear]
        rows = misleading_first(higher * (xy[a, 1] - xy[b, 1]) < 0, rng, _OPPOSITE)[:count]
        return PointPairs(frame=frame[a[rows]], a_px=xy[a[rows]], b_px=xy[b[rows]])

    def measure(self, facts: PointPairs, scene: Scene) -> Measured:
        """The higher point."""
        a, b = scene.surface(facts.frame, facts.a_px), scene.surface(facts.frame, facts.b_px)
        higher, sigma = rise(scene, facts.frame, a, b)
        up, _ = scene.up_cam(facts.frame)
        with np.errstate(invalid="ignore", divide="ignore"):
            margin = np.abs(higher) / sigma
            cases = {
                "gravity is not known in this frame": ~np.isfinite(up).all(axis=1),
                "the place of a marked point is not known": ~np.isfinite(higher) | ~np.isfinite(sigma),
                "two points are about equally high": np.abs(higher) < VISIBLE_RISE,
            }
            level = a.xyz_cam[:, 1] - b.xyz_cam[:, 1]
            traps = {
                "higher in the picture": _which(facts.a_px[:, 1] - facts.b_px[:, 1]),
                "tilt of the camera left out": _which(level),
                "closer to the camera": _which(a.range - b.range),
            }
        return Measured(
            why=first_reason(len(facts), cases),
            value=higher[:, None],
            sigma=sigma[:, None],
            label=_which(higher),
            margin=margin,
            outlier_probability=1 - (1 - a.outlier_probability) * (1 - b.outlier_probability),
            evidence={
                "rise": higher.round(4),
                "rise_sigma": sigma.round(4),
                "heights": np.column_stack([np.einsum("ni,ni->n", p.xyz_cam, up) for p in (a, b)]).round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps=traps,
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two numbered marks in one photo."""
        return Phrasing(media=(Photo.marked(fact["frame"], {"1": fact["a_px"], "2": fact["b_px"]}),))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Two corners of one picture."""
        drawn = pictures.points(rng, 2)
        return drawn and {"frame": drawn[0], "a_px": drawn[1][0], "b_px": drawn[1][1]}


def _which(second_minus_first: Float64[np.ndarray, "n"]) -> np.ndarray:
    return np.where(second_minus_first > 0, "2", "1")
