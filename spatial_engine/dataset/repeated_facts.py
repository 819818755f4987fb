"""Facts of one kind about nearly the same frames and points."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial import KDTree

from templates.asked import Asked
from templates.columns import Json
from templates.facts import Facts

_UNKNOWN = -1e6
"""In place of unknown pixels: near each other, and near no known one."""


def repeated_facts(
    asked: Sequence[Asked], diagonals_px: Mapping[str, float], near_share: float, near_frames: float
) -> list[Bool[np.ndarray, "_"]]:
    """By table: the questions about facts that nearly repeat another one of the same clip and template, whatever the
    answers. Puzzles are distinct.

    `near_share`: largest distance of points in x and in y, as a share of the picture's diagonal.
    `near_frames`: largest distance of frames, as a share of those that are asked about in the clip.
    """
    spans, kinds = _spans(asked), defaultdict[tuple[str, str], list[int]](list)
    for number, one in enumerate(asked):
        kinds[one.clip_id, one.template.name].append(number)
    gone = [np.zeros(len(one), dtype=bool) for one in asked]
    for (clip_id, _), numbers in kinds.items():
        if not clip_id:
            continue
        ids = np.concatenate([asked[number].fact_ids for number in numbers])
        _, first, fact = np.unique(ids, return_index=True, return_inverse=True)
        frames = max(near_frames * spans[clip_id], 0.5)  # frames are whole numbers
        scaled = _scaled([asked[number] for number in numbers], near_share * diagonals_px[clip_id], frames)
        repeats = _repeats(scaled[first])[fact]
        ends = np.cumsum([len(asked[number]) for number in numbers])
        for number, part in zip(numbers, np.split(repeats, ends[:-1]), strict=True):
            gone[number] = part
    return gone


def _repeats(scaled: Float64[np.ndarray, "n k"]) -> Bool[np.ndarray, "n"]:
    """The later of two rows that differ by at most 1 in every column; rows near a repetition alone stay."""
    gone = np.zeros(len(scaled), dtype=bool)
    pairs = KDTree(scaled).query_pairs(1.0, p=np.inf, output_type="ndarray") if scaled.shape[1] else np.empty((0, 2))
    for first, later in pairs[np.lexsort(pairs.T[::-1])].tolist():
        gone[later] |= not gone[first]
    return gone


def _scaled(asked: Sequence[Asked], near_px: float, near_frames: float) -> Float64[np.ndarray, "n k"]:
    """Points and frames in units of what is near; all else as a number that is far from any other."""
    points = [one.facts.pixels().reshape(len(one), -1) for one in asked]
    numbers: dict[tuple[Json, ...], int] = {}
    code = [numbers.setdefault(rest, len(numbers)) for one in asked for rest in _rest(one.facts)]
    scaled = [
        np.nan_to_num(_together(points, np.nan) / near_px, nan=_UNKNOWN),
        _together([one.facts.all_frames() for one in asked], -1) / near_frames,
    ]
    return np.column_stack([*scaled, np.array(code) * 10.0])


def _together(parts: Sequence[np.ndarray], blank: float) -> Float64[np.ndarray, "n k"]:
    """The rows of all parts, as long as the longest."""
    longest = max(part.shape[1] for part in parts)
    return np.concatenate(
        [np.pad(part.astype(float), ((0, 0), (0, longest - part.shape[1])), constant_values=blank) for part in parts]
    )


def _rest(facts: Facts) -> list[tuple[Json, ...]]:
    """The parameters of each fact that are no pixels, frames or measures."""
    columns = [
        column.tolist() if column.ndim == 1 else map(str, column.tolist())
        for name, column in facts.arrays()
        if not (name.endswith("_px") or name.startswith("frame") or (column.dtype.kind == "f" and column.ndim == 1))
    ]
    return [*zip(*columns, strict=True)] if columns else [()] * len(facts)


def _spans(asked: Sequence[Asked]) -> dict[str, float]:
    """Number of frames from the first to the last that is asked about, by clip."""
    found: dict[str, list[np.ndarray]] = defaultdict(list)
    for one in asked:
        frames = one.facts.all_frames()
        found[one.clip_id].append(frames[frames >= 0])
    shown = {clip: np.concatenate(parts) for clip, parts in found.items()}
    return {clip: float(np.ptp(frames)) if len(frames) else 0.0 for clip, frames in shown.items()}
