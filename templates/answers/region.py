"""Regions of a picture, any pixel of which is right."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from templates.answers.answer import Answer, Errors, Recorded, Rows, or_nan, or_none
from templates.answers.sampling import normals
from templates.answers.score import UnscorableError
from templates.columns import Json
from templates.question import Question

_ON_THE_OUTLINE_PX = 0.5
_SUBPIXEL_BITS = 4
_TRIED = 40
"""Pixels a side of the grid from which the written answer is taken."""


@dataclass(frozen=True, kw_only=True)
class Region(Answer):
    """A part of a photo, and one of its pixels as the written answer. Right: any pixel of the true region."""

    name: ClassVar[str] = "region"
    numbers: ClassVar[str] = "xy_px"

    outline: Float[np.ndarray, "*n k 2"]
    """Polygons in pixels. Each ends with its first vertex; a row of NaN separates two, and a stack of unequal lengths
    ends in NaN. A polygon within another one is a hole."""
    xy_px: Float[np.ndarray, "*n 2"]
    """The written answer."""
    sigma_px: Rows
    """σ of the outline, along x and along y."""

    @classmethod
    def of(
        cls,
        polygons: Sequence[Float[np.ndarray, "_ 2"]],
        sigma_px: float,
        outlier_probability: float = 0.0,
    ) -> "Region":
        """A region with its innermost pixel as the written answer."""
        outline = _joined(polygons)
        corners = np.nanmin(outline, axis=0), np.nanmax(outline, axis=0)
        x, y = (np.unique(np.linspace(*ends, _TRIED).round()) for ends in zip(*corners, strict=True))
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        innermost = grid[np.argmin(outside_px(grid, outline))]
        return cls(outline=outline, xy_px=innermost, sigma_px=sigma_px, outlier_probability=outlier_probability)

    def p_within(self) -> Rows:
        """Share of samples of the outline's displacement that leave the written pixel inside."""
        sigma, steps = np.asarray(self.sigma_px, dtype=float), normals(2)
        known = np.isfinite(sigma)
        reach = np.linalg.norm(steps, axis=1).max() * np.where(known, sigma, 0.0)
        p = np.where(known & (-outside_px(self.xy_px, self.outline) >= reach), 1.0, 0.0)
        near = known & (p == 0)
        rows = zip(self.xy_px[near], self.outline[near], sigma[near], strict=True)
        p[near] = [_is_inside(xy + each * steps, _without_end(outline)).mean() for xy, outline, each in rows]
        return p

    @property
    def limits(self) -> Float[np.ndarray, "*n 1"]:
        """Half a pixel: the outline belongs to the region."""
        return np.full((*self.xy_px.shape[:-1], 1), _ON_THE_OUTLINE_PX)

    def error(self, truth: "Region") -> tuple[Float[np.ndarray, "*n 1"], Float[np.ndarray, "... 1"]]:
        """Distance of the written pixel from the true region; negative inside."""
        return outside_px(self.xy_px, truth.outline)[..., None], np.asarray(truth.sigma_px, dtype=float)[..., None]

    def difference(self, truth: "Region") -> Errors:
        """Distance from the true region as `outside`."""
        return {"outside": float(outside_px(self.xy_px, truth.outline))}, {
            "outside": float(np.hypot(self.sigma_px, truth.sigma_px))
        }

    def tolerance_in_words(self) -> str:
        """ "any pixel of the region"."""
        return "any pixel of the region"

    def to_json(self) -> Recorded:
        """[x, y]; the polygons, without the repeated vertex, are a parameter of the score."""
        xy = self.xy_px.tolist()
        return Recorded(
            value=xy,
            answer=[round(part, 1) for part in xy],
            sigma=or_none(self.sigma_px),
            tolerance=_ON_THE_OUTLINE_PX,
            unit="px",
            scorer_params={"polygons": [polygon[:-1].tolist() for polygon in self._polygons()]},
        )

    @classmethod
    def from_json(cls, question: Question) -> "Region":
        """Raises `UnscorableError` where pixel or polygons are missing."""
        polygons = [np.array(p, float) for p in question.scorer_params["polygons"]]
        if not polygons or any(p.ndim != 2 or p.shape[1] != 2 or not np.isfinite(p).all() for p in polygons):
            raise UnscorableError("a region without polygons")
        return cls(
            outline=_joined(polygons),
            xy_px=np.array(question.value, dtype=float),
            sigma_px=or_nan(question.sigma),
        )

    def predicted(self, value: Json) -> "Region | None":
        """A pair of numbers."""
        xy = pixel(value)
        return None if xy is None else replace(self, xy_px=xy)

    def detail(self, prediction: "Region") -> Mapping[str, Json]:
        """Distance from the region."""
        distance = max(0.0, float(outside_px(prediction.xy_px, self.outline)))
        return {"value": prediction.xy_px.tolist(), "distance_px": distance, "squared_error": distance**2}

    def mask_png(self, width_px: int, height_px: int) -> str:
        """The region in white on black, as base64 of a PNG."""
        import cv2

        mask = np.zeros((height_px, width_px), dtype=np.uint8)
        vertices = [np.round(polygon * 2**_SUBPIXEL_BITS).astype(np.int32) for polygon in self._polygons()]
        cv2.fillPoly(mask, vertices, 255, shift=_SUBPIXEL_BITS)
        return b64encode(cv2.imencode(".png", mask)[1].tobytes()).decode()

    def _polygons(self) -> list[Float[np.ndarray, "_ 2"]]:
        gaps = np.flatnonzero(np.isnan(self.outline).any(axis=-1))
        parts = np.split(self.outline, gaps)
        return [part[~np.isnan(part).any(axis=-1)] for part in parts if np.isfinite(part).any()]


def pixel(value: Json) -> Float[np.ndarray, "2"] | None:
    """A pair of numbers; None for anything else."""
    xy = np.array([or_nan(part) for part in value] if isinstance(value, list | tuple) else [])
    return xy if xy.shape == (2,) and np.isfinite(xy).all() else None


def outside_px(xy_px: Float[np.ndarray, "*n 2"], outline: Float[np.ndarray, "*m k 2"]) -> Float[np.ndarray, "..."]:
    """Distance of points from a region, negative inside. Leading axes broadcast."""
    xy, a, b = xy_px[..., None, :], outline[..., :-1, :], outline[..., 1:, :]
    edge = b - a
    with np.errstate(all="ignore"):
        share = np.clip(np.nan_to_num(np.sum((xy - a) * edge, axis=-1) / np.sum(edge**2, axis=-1)), 0, 1)
        distance = np.nanmin(np.linalg.norm(xy - a - share[..., None] * edge, axis=-1), axis=-1)
    return np.asarray(np.where(_is_inside(xy_px, outline), -distance, distance))


def _is_inside(xy_px: Float[np.ndarray, "*n 2"], outline: Float[np.ndarray, "*m k 2"]) -> Bool[np.ndarray, "..."]:
    """Whether an odd number of edges lies to the right. A comparison with NaN is false."""
    (x, y), a, b = np.moveaxis(xy_px[..., None, :], -1, 0), outline[..., :-1, :], outline[..., 1:, :]
    rises, falls = (a[..., 1] <= y) & (b[..., 1] > y), (a[..., 1] > y) & (b[..., 1] <= y)
    with np.errstate(all="ignore"):
        crossing_x = a[..., 0] + (b[..., 0] - a[..., 0]) * (y - a[..., 1]) / (b[..., 1] - a[..., 1])
    return np.asarray(np.sum((rises | falls) & (x < crossing_x), axis=-1) % 2 == 1)


def _without_end(outline: Float[np.ndarray, "k 2"]) -> Float[np.ndarray, "_ 2"]:
    """The outline without the rows of NaN at its end."""
    return outline[: np.flatnonzero(~np.isnan(outline[:, 0])).max(initial=-1) + 1]


def _joined(polygons: Sequence[Float[np.ndarray, "_ 2"]]) -> Float[np.ndarray, "k 2"]:
    closed = [np.vstack([polygon, polygon[:1], np.full((1, 2), np.nan)]) for polygon in polygons]
    return np.vstack(closed)[:-1]
