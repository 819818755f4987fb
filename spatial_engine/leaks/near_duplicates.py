"""Near-duplicates: photos that look alike, and questions that ask the same of such photos under different ids.

A perceptual hash finds candidates among photos, the correlation of their thumbnails decides. The hash is the 64-bit DCT
hash (Zauner 2010, Implementation and Benchmarking of Perceptual Image Hash Functions): of a grey picture of 32 x 32
pixels the 8 x 8 lowest frequencies, each above their median or not.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int64, UInt64

from spatial_engine.leaks.guesses import written
from templates.columns import Json
from templates.question import Question

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

NEAR_MARKS = 0.02
"""Share of the picture's diagonal within which two marks are one point, as when the data set is balanced."""

FOOTAGE = ("frames", "video")
"""Kinds of media that show frames of a clip."""

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


def near_duplicates(questions: Sequence[Question], same: SamePicture) -> list[tuple[int, int]]:
    """Pairs of indices of questions with one template and format, photos and videos that look alike in the same order,
    marks within `NEAR_MARKS`, and one answer. Questions without either are duplicates only if all words and drawings
    are equal."""
    asked: dict[tuple[str, str, int, str], list[int]] = defaultdict(list)
    photos = [_photos(question) for question in questions]
    for n, question in enumerate(questions):
        first = photos[n][0].path if photos[n] else _content(question)
        asked[question.template, question.format, len(photos[n]), first].append(n)
    pairs = []
    for (template, form, count, first), members in asked.items():
        others = [asked.get((template, form, count, other), ()) for other in (same(first) if count else {first})]
        pairs += [
            (n, m)
            for n, m in product(members, chain.from_iterable(others))
            if n < m and _same_photos(photos[n], photos[m], same) and same_answer(questions[n], questions[m])
        ]
    return sorted(pairs)


def same_answer(a: Question, b: Question) -> bool:
    """Words of right answers, not letters; numbers and points within the smaller tolerance."""
    if a.options or a.right_words is not None:
        return a.right_words == b.right_words
    first, second = written(a), written(b)
    if first is None or second is None or first.numbers is None or type(first) is not type(second):
        return bool(a.answer == b.answer)
    return bool(first.repeats(second) and second.repeats(first))


def _content(question: Question) -> str:
    drawings = " ".join(sorted(str(medium.get("id")) for medium in question.media))
    return "\n".join([question.text, *sorted(question.options), drawings])


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """A photo or video with its marks, in the order of their texts."""

    path: str
    texts: tuple[str | None, ...]
    points: tuple[tuple[float, ...], ...]
    """Of all marks, in diagonals of the picture."""

    @classmethod
    def of(cls, medium: Mapping[str, Json]) -> "_Shown":
        marks = sorted(medium.get("marks") or (), key=lambda mark: str(mark.get("text")))
        diagonal_px = math.hypot(*medium.get("frame_size_px") or (1.0, 1.0))
        points = (xy for mark in marks for xy in mark.get("points_px") or [mark["xy_px"]])
        return cls(
            path=str(medium["path"]),
            texts=tuple(mark.get("text") for mark in marks),
            points=tuple(tuple(v / diagonal_px for v in xy) for xy in points),
        )

    def has_marks_of(self, other: "_Shown") -> bool:
        """Whether both have equal marks at nearly equal places."""
        if self.texts != other.texts or len(self.points) != len(other.points):
            return False
        return all(math.dist(*pair) <= NEAR_MARKS for pair in zip(self.points, other.points, strict=True))


def _photos(question: Question) -> list[_Shown]:
    shown = (medium for medium in question.media if medium.get("kind") in FOOTAGE and medium.get("path"))
    return [_Shown.of(medium) for medium in shown]


def _same_photos(first: Sequence[_Shown], second: Sequence[_Shown], same: SamePicture) -> bool:
    pairs = [*zip(first, second, strict=True)]
    return all(b.path in same(a.path) for a, b in pairs) and all(a.has_marks_of(b) for a, b in pairs)


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
