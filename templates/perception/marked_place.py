"""L1/Localization/3D Grounding: which of four marked points lies at a described place."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.columns import Columns, Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.marks import frames_with_surface, markable, spread_frames
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_FRAMES = 8
_UNKNOWN = "distance of a marked point is not known"
_READS = SURFACE | {"image_tracks"}

_MARKS = ("1", "2", "3", "4")
_TOLERANCE_RAD, _TOLERANCE_LN = np.radians(5.0), np.log(1.15)
"""Of the angle and of the ratio that describe a place."""
_FITS, _BORDER, _MISSES = 1.0, 1.5, 2.0
"""In tolerances, the larger of angle and ratio: a point at the place, the border, a point elsewhere."""
_DRAWN_FITS, _DRAWN_MISSES = 0.7, 2.2
"""The same for proposed facts."""
_LEAST_ANGLE_DEG, _LEAST_LN = 10.0, np.log(1.3)
_STEEPEST_RAD = np.radians(35.0)
"""Largest elevation of a point: above it, a turn to the side is hard to see."""
_AT_THE_PLACE = 0.25
"""Share of outliers that happen to lie at the described distance."""
_APART = 0.1
"""Least distance between marks, as a share of the diagonal."""
_OTHERS = 40
"""Points among which the wrong ones are sought."""
_TRIES = 12
"""Pairs of points that are drawn for each fact."""


@dataclass(frozen=True, kw_only=True)
class _Bearings(Columns):
    """Points as a camera sees them."""

    azimuth_rad: Float64[np.ndarray, "n"]
    """To the right of straight ahead, in the camera's own axes."""
    focal_rad: Float64[np.ndarray, "n"]
    """Change of the azimuth by a relative change of the focal length."""
    elevation_rad: Float64[np.ndarray, "n"]
    ln_range: Float64[np.ndarray, "n"]
    sigma: Float64[np.ndarray, "n"]
    """Of `ln_range`."""
    outlier_probability: Float64[np.ndarray, "n"]


def _bearings(scene: Scene, frame: Int64[np.ndarray, "n"], xy_px: Float64[np.ndarray, "n 2"]) -> _Bearings:
    seen = scene.surface(frame, xy_px)
    x, y, z = seen.xyz_cam.T
    azimuth = np.arctan2(x, z)
    with np.errstate(divide="ignore", invalid="ignore"):
        elevation, ln_range = np.arcsin(-y / seen.range), np.log(seen.range)
    return _Bearings(
        azimuth_rad=azimuth,
        focal_rad=np.sin(azimuth) * np.cos(azimuth),
        elevation_rad=elevation,
        ln_range=ln_range,
        sigma=seen.range_relative_sigma,
        outlier_probability=seen.outlier_probability,
    )


@dataclass(frozen=True, kw_only=True)
class DescribedPlaces(Facts):
    """A place described from point P of a photo, and four points of which one lies there."""

    frame: Int64[np.ndarray, "n"]
    from_px: Float64[np.ndarray, "n 2"]
    points_px: Float64[np.ndarray, "n 4 2"]
    ratio: Float64[np.ndarray, "n"]
    """Distance from the camera, in distances of P."""
    angle_deg: Float64[np.ndarray, "n"]
    """To the right of P as the camera turns; negative: to the left."""


@dataclass(frozen=True, kw_only=True)
class MarkAtPlace(Template):
    """Which of four marked points lies at a place, described from another point. Measures by how much distance (as a
    logarithm) and direction (in rad) of the nearest point differ from the description."""

    name: str = "mark_at_place"
    version: str = "1"
    ability: str = "L1/Localization/3D Grounding"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = DescribedPlaces
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = _READS

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> DescribedPlaces:
        """Random pairs of points of a photo, described by rounded numbers, with three points of different mistakes."""
        frame, xy = markable(scene, spread_frames(frames_with_surface(scene), max(_FRAMES, count // 50)))
        seen = _bearings(scene, frame, xy)
        level = np.abs(seen.elevation_rad) <= _STEEPEST_RAD
        seen, frame, xy = seen.take(level), frame[level], xy[level]
        frames, first, points = np.unique(frame, return_index=True, return_counts=True)
        if not len(frames):
            return DescribedPlaces.none()
        at = rng.integers(len(frames), size=_TRIES * count)
        a, b = (first[at] + (rng.random(len(at)) * points[at]).astype(np.int64) for _ in "ab")
        turn, log_ratio = seen.azimuth_rad[b] - seen.azimuth_rad[a], seen.ln_range[b] - seen.ln_range[a]
        angle_deg, ratio = 5 * np.round(np.degrees(turn) / 5), np.maximum(np.round(np.exp(log_ratio), 1), 0.1)
        good = np.linalg.norm(xy[a] - xy[b], axis=1) >= _APART * scene.diagonal_px
        good &= (np.abs(angle_deg) >= _LEAST_ANGLE_DEG) & (np.abs(np.log(ratio)) >= _LEAST_LN)
        good &= _beyond(turn - np.radians(angle_deg), log_ratio - np.log(ratio)) <= _DRAWN_FITS
        at, a, b, angle_deg, ratio = (column[good] for column in (at, a, b, angle_deg, ratio))
        other = first[at, None] + (rng.random((len(at), _OTHERS)) * points[at, None]).astype(np.int64)
        kind = _kinds(seen, a, other, np.radians(angle_deg), np.log(ratio))
        marks_px = _one_each(kind, xy[other], np.stack([xy[a], xy[b]], axis=1), _APART * scene.diagonal_px)
        rows = np.flatnonzero(np.isfinite(marks_px).all(axis=(1, 2)))[:count]
        order = rng.random((len(rows), len(_MARKS))).argsort(axis=1)
        return DescribedPlaces(
            frame=frame[a[rows]],
            from_px=xy[a[rows]],
            points_px=np.take_along_axis(marks_px[rows, 1:], order[:, :, None], axis=1),
            ratio=ratio[rows],
            angle_deg=angle_deg[rows],
        )

    def measure(self, facts: DescribedPlaces, scene: Scene) -> Measured:
        """The mark that fits, if the others clearly do not; σ of its distance and its direction."""
        n, k = facts.points_px.shape[:2]
        start = _bearings(scene, facts.frame, facts.from_px)
        each = _bearings(scene, np.repeat(facts.frame, k), facts.points_px.reshape(-1, 2))
        column = {name: value.reshape(n, k) for name, value in vars(each).items()}
        turn = column["azimuth_rad"] - start.azimuth_rad[:, None] - np.radians(facts.angle_deg)[:, None]
        log_ratio = column["ln_range"] - start.ln_range[:, None] - np.log(facts.ratio)[:, None]
        turn_sigma = scene.focal_relative_sigma * np.abs(column["focal_rad"] - start.focal_rad[:, None])
        ratio_sigma = np.hypot(column["sigma"], start.sigma[:, None])
        by_angle, by_ratio = np.abs(turn) / _TOLERANCE_RAD, np.abs(log_ratio) / _TOLERANCE_LN
        beyond, row = _beyond(turn, log_ratio), np.arange(n)
        right = np.where(np.isnan(beyond), np.inf, beyond).argmin(axis=1)
        others = np.arange(k) != right[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.minimum(
                (_BORDER - by_angle) * _TOLERANCE_RAD / turn_sigma, (_BORDER - by_ratio) * _TOLERANCE_LN / ratio_sigma
            )
            margin = np.where(others, -inside, inside).min(axis=1)
        steep = np.abs(np.column_stack([start.elevation_rad, column["elevation_rad"]])) > _STEEPEST_RAD
        misplaced = np.where(by_angle >= _MISSES, 0.0, _AT_THE_PLACE) * column["outlier_probability"]
        wrong = np.where(others, misplaced, column["outlier_probability"])
        cases = {
            _UNKNOWN: np.isnan(beyond).any(axis=1),
            "a marked point lies too far above or below the camera": steep.any(axis=1),
            "no marked point lies at the place": beyond[row, right] > _FITS,
            "two marked points lie near the place": (others & (beyond < _MISSES)).any(axis=1),
        }
        mistakes = _mistakes(turn, log_ratio, np.radians(facts.angle_deg)[:, None], np.log(facts.ratio)[:, None])
        return Measured(
            why=first_reason(n, cases),
            value=np.column_stack([log_ratio[row, right], turn[row, right]]),
            sigma=np.column_stack([ratio_sigma[row, right], turn_sigma[row, right]]),
            label=np.array(_MARKS)[right],
            margin=margin,
            outlier_probability=1 - (1 - start.outlier_probability) * np.prod(1 - wrong, axis=1),
            evidence={
                "ratio": np.exp(log_ratio[row, right] + np.log(facts.ratio)).round(3),
                "ratios": np.exp(log_ratio + np.log(facts.ratio)[:, None]).round(2),
                "to_the_right_deg": (np.degrees(turn) + facts.angle_deg[:, None]).round(1),
            },
            traps={name: _first_mark(which & others) for name, which in mistakes.items()},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with five marks."""
        marks = {"P": fact["from_px"], **dict(zip(_MARKS, fact["points_px"], strict=True))}
        angle = fact["angle_deg"]
        return Phrasing(
            media=(Photo.marked(fact["frame"], marks),),
            values={
                "ratio": f"{fact['ratio']:g}",
                "angle": f"{abs(angle):g}",
                "side": "right" if angle > 0 else "left",
            },
        )


def _mistakes(turn: np.ndarray, log_ratio: np.ndarray, angle: np.ndarray, ratio: np.ndarray) -> dict[str, np.ndarray]:
    """By mistake, which of the points make it. `turn` and `log_ratio`: how far they are to the right of the described
    place, and beyond it; `angle` and `ratio` (as a logarithm) describe the place."""
    side, order = (turn + angle) * angle > 0, (log_ratio + ratio) * ratio > 0
    turned, far = np.abs(turn) <= _TOLERANCE_RAD, np.abs(log_ratio) <= _TOLERANCE_LN
    return {
        "left and right exchanged": ~side & order,
        "closer and farther exchanged": side & ~order,
        "both exchanged": ~side & ~order,
        "only the direction fits": side & order & turned,
        "only the distance fits": side & order & far & ~turned,
        "the numbers are not compared": side & order & ~turned & ~far,
    }


def _beyond(turn: np.ndarray, log_ratio: np.ndarray) -> np.ndarray:
    """Distance from the described place: the larger of the two, in tolerances."""
    return np.maximum(np.abs(turn) / _TOLERANCE_RAD, np.abs(log_ratio) / _TOLERANCE_LN)


def _first_mark(which: np.ndarray) -> np.ndarray:
    return np.where(which.any(axis=1), np.array(_MARKS)[which.argmax(axis=1)], "")


def _kinds(
    seen: _Bearings,
    start: Int64[np.ndarray, "n"],
    other: Int64[np.ndarray, "n m"],
    angle_rad: Float64[np.ndarray, "n"],
    ln_ratio: Float64[np.ndarray, "n"],
) -> Int64[np.ndarray, "n m"]:
    """Number of the mistake that leads to each of the other points; -1 for points near the described place."""
    turn = seen.azimuth_rad[other] - seen.azimuth_rad[start, None] - angle_rad[:, None]
    log_ratio = seen.ln_range[other] - seen.ln_range[start, None] - ln_ratio[:, None]
    mistakes = np.stack([*_mistakes(turn, log_ratio, angle_rad[:, None], ln_ratio[:, None]).values()])
    return np.where(_beyond(turn, log_ratio) >= _DRAWN_MISSES, mistakes.argmax(axis=0), -1)


def _one_each(
    kind: Int64[np.ndarray, "n m"],
    xy_px: Float64[np.ndarray, "n m 2"],
    marks_px: Float64[np.ndarray, "n 2 2"],
    apart_px: float,
) -> Float64[np.ndarray, "n 5 2"]:
    """The two marks, and the first points of three kinds that are away from each other and from them; else NaN."""
    row = np.arange(len(kind))
    for _ in range(len(_MARKS) - 1):
        near = np.linalg.norm(xy_px[:, :, None] - marks_px[:, None], axis=3).min(axis=2) < apart_px
        free = (kind >= 0) & ~near
        chosen = free.argmax(axis=1)
        found_px = np.where(free.any(axis=1)[:, None], xy_px[row, chosen], np.nan)
        marks_px = np.concatenate([marks_px, found_px[:, None]], axis=1)
        kind = np.where(kind == kind[row, chosen, None], -1, kind)
    return marks_px
