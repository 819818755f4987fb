"""Near-duplicates: photos that look alike, and questions that ask the same of such photos under different ids.

A perceptual hash finds candidates among photos, the correlation of their thumbnails decides. The hash is the 64-bit DCT
hash (Zauner 2010, Implementation and Benchmarking of Perceptual Image Hash Functions): of a grey picture of 32 x 32
pixels the 8 x 8 lowest frequencies, each above their median or not.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int64, UInt64

from spatial_engine.leaks.compact import Ragged, grouped
from spatial_engine.leaks.question_table import QuestionTable

HASH_BITS = 8
"""Bits of 64 that may differ."""
CORRELATION = 0.97
"""Least correlation of the thumbnails. Of 19 174 pairs of photos of different real clips the most alike had 0.57, the
nearest hashes were 16 bits apart; of photos half a second apart in one clip 2.5 % pass both tests, a second apart none.
"""
_SIDE = 32
_UNIFORM = 4.0
"""Standard deviation in grey levels below which a picture has no hash: uniform pictures all look alike."""
_ROWS = 512
_PAIRS = 1 << 16
"""Number of pairs of questions that are compared at once."""

NEAR_MARKS = 0.02
"""Share of the picture's diagonal within which two marks are one point, as when the dataset is balanced."""

SamePicture = Callable[[str], AbstractSet[str]]
"""Paths of the photos that look like one photo, itself included."""


@dataclass(frozen=True, kw_only=True)
class Thumbnails:
    """Of the photos that can be read and are not uniform."""

    paths: tuple[str, ...]
    hashes: UInt64[np.ndarray, "n"]
    grey: Float64[np.ndarray, "n 1024"]
    """Grey levels with mean 0 and norm 1."""
    unreadable: int
    uniform: int


def thumbnails(folder: Path, paths: Sequence[str]) -> Thumbnails:
    """Hashes of picture files, in the order of their paths. Missing and damaged files are counted, not raised."""
    kept: list[tuple[str, np.uint64, Float64[np.ndarray, "1024"]]] = []
    unreadable = uniform = 0
    for path in sorted(set(paths)):
        grey = _grey(folder / path)
        if grey is None:
            unreadable += 1
        elif grey.std() < _UNIFORM:
            uniform += 1
        else:
            centred = (grey - grey.mean()).ravel()
            kept.append((path, _hash(grey), centred / np.linalg.norm(centred)))
    return Thumbnails(
        paths=tuple(path for path, _, _ in kept),
        hashes=np.array([code for _, code, _ in kept], dtype=np.uint64),
        grey=np.array([grey for _, _, grey in kept]).reshape(len(kept), _SIDE * _SIDE),
        unreadable=unreadable,
        uniform=uniform,
    )


def similar_pairs(found: Thumbnails) -> Int64[np.ndarray, "m 2"]:
    """Pairs of indices (first < second) of photos that look alike."""
    pairs = [np.zeros((0, 2), dtype=np.int64)]
    for start in range(0, len(found.hashes), _ROWS):
        rows = found.hashes[start : start + _ROWS]
        bits = np.bitwise_count(rows[:, None] ^ found.hashes[None, start:])
        a, b = np.nonzero(bits <= HASH_BITS)
        a, b = a[a < b] + start, b[a < b] + start
        if len(a):
            close = np.einsum("nd,nd->n", found.grey[a], found.grey[b]) >= CORRELATION
            pairs.append(np.stack([a[close], b[close]], axis=1))
    return np.concatenate(pairs)


def near_duplicates(table: QuestionTable, same: SamePicture | None = None) -> Int64[np.ndarray, "m 2"]:
    """Pairs of rows, the smaller one first, of questions with one template and format, photos and videos that look
    alike in the same order, marks within `NEAR_MARKS`, and one answer. Questions without either are duplicates only if
    all words and drawings are equal. `same`: by default photos of the same frames."""
    found = [np.zeros((0, 2), dtype=np.int64)]
    for pairs in _batches(_of_equal_frames(table) if same is None else _of_alike_photos(table, same)):
        pairs = pairs[_near_marks(table.marks, *pairs.T)]
        found.append(pairs[same_answers(table, *pairs.T)])
    pairs = np.concatenate(found)
    return pairs[np.lexsort(pairs.T[::-1])]


def _batches(pairs: Iterable[np.ndarray]) -> Iterator[Int64[np.ndarray, "m 2"]]:
    """The pairs, about as many at once as fit into a few megabytes."""
    waiting, count = [np.zeros((0, 2), dtype=np.int64)], 0
    for some in pairs:
        waiting.append(some)
        if (count := count + len(some)) > _PAIRS:
            yield np.concatenate(waiting)
            waiting, count = [], 0
    if waiting:
        yield np.concatenate(waiting)


def _of_equal_frames(table: QuestionTable) -> Iterator[Int64[np.ndarray, "m 2"]]:
    """Pairs of questions that show the same frames, with marks of equal texts."""
    rows = np.lexsort((table.frames, table.shown))
    differ = np.any([np.diff(column[rows]) != 0 for column in (table.shown, table.frames)], axis=0)
    ends = np.append(np.flatnonzero(differ) + 1, len(rows))
    end = np.repeat(ends, np.diff(ends, prepend=0))  # of the group that each row is in
    first, away = np.arange(len(rows)), 1
    while len(first := first[first + away < end[first]]):
        yield np.stack([rows[first], rows[first + away]], axis=1)
        away += 1


def _of_alike_photos(table: QuestionTable, same: SamePicture) -> Iterator[Int64[np.ndarray, "m 2"]]:
    """Pairs of questions whose photos look alike, with marks of equal texts."""
    photos = np.split([path.decode() for path in table.files.values.tolist()], table.files.starts[1:])
    for rows in grouped(np.arange(len(table)), table.shown):
        asked: dict[str, list[int]] = defaultdict(list)
        for row in rows.tolist():
            asked[photos[row][0] if len(photos[row]) else ""].append(row)
        for first, members in asked.items():
            others = chain.from_iterable(asked.get(other, ()) for other in (same(first) if first else {first}))
            pairs = [(n, m) for n, m in product(members, others) if n < m]
            alike = [all(b in same(a) for a, b in zip(photos[n], photos[m], strict=True)) for n, m in pairs]
            yield np.array(pairs, dtype=np.int64).reshape(-1, 2)[np.array(alike, dtype=np.bool_)]


def _near_marks(marks: Ragged, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether the marks of two rows, which are equally many, are at nearly equal places."""
    first, second = marks.take(a), marks.take(b)
    far = np.linalg.norm(first.values - second.values, axis=-1) > NEAR_MARKS
    near = np.ones(len(a), dtype=np.bool_)
    near[first.row[far]] = False
    return near


def same_answers(table: QuestionTable, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether the answers of two rows agree: words of right answers, not letters; numbers and points within the smaller
    tolerance."""
    in_words = (table.options > 0) | table.words.known
    same = np.where(in_words[a], table.words.index[a] == table.words.index[b], table.answer[a] == table.answer[b])
    stack, place = np.full((2, len(table)), -1)
    for k, each in enumerate(table.stacks):
        stack[each.rows], place[each.rows] = k, np.arange(len(each.rows))
    typed = np.flatnonzero(~in_words[a] & (stack[a] >= 0) & (stack[b] >= 0))
    for own in grouped(typed, stack[a], stack[b]):
        one, other = (table.stacks[stack[side[own[0]]]].answers for side in (a, b))
        if type(one) is type(other):
            first, second = one.take(place[a[own]]), other.take(place[b[own]])
            same[own] = first.repeats(second) & second.repeats(first)
    return same


def _grey(path: Path) -> Float64[np.ndarray, "32 32"] | None:
    import cv2

    try:
        data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
        whole = cv2.imdecode(data, cv2.IMREAD_REDUCED_GRAYSCALE_4) if len(data) else None  # decodes at a quarter's cost
    except (OSError, cv2.error):
        return None
    if whole is None:
        return None
    return cv2.resize(whole, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA).astype(np.float64)


def _hash(grey: Float64[np.ndarray, "32 32"]) -> np.uint64:
    import cv2

    low = cv2.dct(grey)[1:9, 1:9].ravel()
    return np.packbits(low > np.median(low)).view(np.uint64)[0]
