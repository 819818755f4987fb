"""Hints of depth: the distance of some points in words, and whole photos with distance as colour."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from experts.clip import Clip
from templates.cue import Cue, place
from templates.hints.hint import MOST, Allowed, Captioned, Hint, Numbers, Scenes, decided
from templates.media import DepthMap
from templates.perception.geometry import PointPairs, Points, RangeMetres, RangeRatio

_COLUMNS = 160
_LEAST_KNOWN = 0.5
"""Least share of a photo whose distance is known."""
_LEAST_RATIO = 1.1
"""Least ratio of the largest distance to the smallest."""
_SPOTS = (0, 8, 2, 6, 4, 1, 7, 3, 5)
"""The middles of nine equal parts of a photo, row by row, in the order in which they are said."""


def depth_hint(scenes: Scenes, numbers: Numbers, allowed: Allowed, min_confidence: float) -> Hint:
    """In metres where the scale is metric, else as multiples of the smallest distance in the same photo."""
    cues: list[Cue] = []
    pictures: list[Captioned] = []
    for frame in numbers:
        ranges, nearest_px = _ranges(scenes, frame, min_confidence)
        known = ranges[np.isfinite(ranges)]
        if len(known) < _LEAST_KNOWN * ranges.size or known.max() < _LEAST_RATIO * known.min():
            continue
        pictures.append(_picture(ranges, frame, numbers, metric=nearest_px is None))
        said = (_cue(ranges, scenes[0].clip, frame, spot, numbers, nearest_px) for spot in _SPOTS)
        cues += [cue for cue in said if cue and allowed(cue)][: max(2, MOST // len(numbers))]
    return Hint(cues=cues[:MOST], pictures=pictures)


def _cells_px(clip: Clip) -> Float64[np.ndarray, "rows columns 2"]:
    """The middles of equal cells."""
    rows = max(3, round(_COLUMNS * clip.height_px / clip.width_px))
    x = (np.arange(_COLUMNS) + 0.5) / _COLUMNS * clip.width_px - 0.5
    y = (np.arange(rows) + 0.5) / rows * clip.height_px - 0.5
    return np.stack(np.meshgrid(x, y), axis=-1)


def _ranges(scenes: Scenes, frame: int, min_confidence: float) -> tuple[np.ndarray, Sequence[float] | None]:
    """Distances of the cells, NaN where unknown. Without metric scale as multiples of that of a pixel, which is the
    second result."""
    key = ("ranges of hints", frame, min_confidence)
    return scenes[0].once(key, lambda: _measured(scenes, frame, min_confidence))


def _measured(scenes: Scenes, frame: int, min_confidence: float) -> tuple[np.ndarray, Sequence[float] | None]:
    scene, cells = scenes[0], _cells_px(scenes[0].clip)
    xy, nearest_px = cells.reshape(-1, 2), None
    frames = np.full(len(xy), frame)
    if np.isfinite(scene.metre_relative_sigma):
        measured, sure = decided(RangeMetres(), "numeric", Points(frame=frames, a_px=xy), scenes, min_confidence)
    else:
        seen = scene.surface(frame, xy)
        trusted = np.where(seen.outlier_probability < 1 - min_confidence, seen.range, np.nan)
        if np.isnan(trusted).all():
            return np.full(cells.shape[:2], np.nan), None
        nearest_px = xy[np.nanargmin(trusted)]
        pairs = PointPairs(frame=frames, a_px=np.broadcast_to(nearest_px, xy.shape).copy(), b_px=xy)
        measured, sure = decided(RangeRatio(), "numeric", pairs, scenes, min_confidence)
        nearest_px = nearest_px.round(1).tolist()
    return np.where(sure, np.exp(measured.value[:, 0]), np.nan).reshape(cells.shape[:2]), nearest_px


def _picture(ranges: Float64[np.ndarray, "rows columns"], frame: int, numbers: Numbers, metric: bool) -> Captioned:
    near, far = float(f"{np.nanmin(ranges):.2g}"), float(f"{np.nanmax(ranges):.2g}")
    share = np.log(np.clip(ranges, near, far) / near) / np.log(far / near)
    levels = np.where(np.isfinite(ranges), 1 + np.rint(254 * np.nan_to_num(share)), 0).astype(np.uint8)
    unit = " m" if metric else " times the smallest distance"
    return Captioned(
        text=f"photo {numbers[frame]} with the distance from the camera as colour, from {near:g} (yellow) to "
        f"{far:g}{unit} (dark blue); what is grey is not known",
        picture=DepthMap(
            frame=frame,
            levels=levels.tobytes(),
            columns=ranges.shape[1],
            near=near,
            far=far,
            unit="m" if metric else "",
        ),
    )


def _cue(
    ranges: Float64[np.ndarray, "rows columns"],
    clip: Clip,
    frame: int,
    spot: int,
    numbers: Numbers,
    nearest_px: Sequence[float] | None,
) -> Cue | None:
    """The distance of one of the spots; None where it is not known."""
    row, column = ((2 * part + 1) * size // 6 for part, size in zip(divmod(spot, 3), ranges.shape, strict=True))
    if np.isnan(ranges[row, column]):
        return None
    value = float(f"{ranges[row, column]:.2g}")
    x, y = _cells_px(clip)[row, column].tolist()
    here = (frame, x, y)
    if nearest_px is None:
        return Cue(text=f"{place(here, numbers)} is {value:g} m from the camera.", values=(value,), pixels=(here,))
    there = (frame, nearest_px[0], nearest_px[1])
    text = f"{place(here, numbers)} is {value:g} times as far from the camera as {place(there, numbers)}."
    return Cue(text=text, values=(value,), pixels=(here, there))
