"""L2/Memory/Memory Retrieval: what was nearest to an object when a video last showed it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Video
from templates.offer import Offer
from templates.perception.object_pointing import NOT_LISTED
from templates.question import FormatName, Phrasing
from templates.scene.misleading import mixed
from templates.scene.named import all_listed, seen_rows
from templates.scene.named_in_videos import singled_out
from templates.scene.object_boxes import range_to_boxes
from templates.scene.object_gaps import gaps
from templates.scene.objects import seen_objects
from templates.scene.scene import Scene
from templates.scene.sightings import Sightings, object_names, one_identity, sightings, videos_of_objects
from templates.template import Template

_VIDEOS = 64
"""Videos in which objects are looked for."""
_NUMBERS = ("1", "2", "3", "4")
_GONE = 3
"""Frames at the end of a video of 16 or fewer that do not show the object; so many times as many of more."""
_RATIO, _STEP = 1.5, 0.08
"""By how much the next object is farther: least ratio of the gaps, and least difference as a share of the distance from
the camera."""
_UNFILLED = 0.25
"""The nearest parts of two objects may lie inside their boxes by this share of the way to the centres."""

_IN_PICTURE = "nearest in the picture"


@dataclass(frozen=True, kw_only=True)
class Beside(Facts):
    """An object in the frames of a video, and four others, by their names. Every object of these names is listed."""

    frames: Int64[np.ndarray, "n v"]
    name: Texts
    a: Texts
    b: Texts
    c: Texts
    d: Texts

    @property
    def others(self) -> np.ndarray:
        """In the order in which the question lists them."""
        return np.stack([self.a, self.b, self.c, self.d], axis=1)


@dataclass(frozen=True, kw_only=True)
class StoodBeside(Template):
    """Which of four objects was nearest to another one when a video last showed that. Measures the gaps between their
    boxes, in path units."""

    name: str = "stood_beside"
    version: str = "4"
    ability: str = "L2/Memory/Memory Retrieval"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Beside
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _NUMBERS}
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Beside:
        """Objects that are gone before the end of a random video, each with its nearest neighbour and three others,
        among them the nearest one in the picture."""
        rows = [row for frames in videos_of_objects(scene, rng, _VIDEOS) for row in _rows(scene, frames, rng)]
        rows = [rows[k] for k in rng.permutation(len(rows))[: 4 * count]]
        facts = (Beside.from_json(rows) if rows else Beside.none()).distinct()
        measured = self.measure(facts, scene)
        answers = Answers.of(self.answer("choice", facts, measured), measured.why)
        misled = np.asarray(measured.label != measured.traps[_IN_PICTURE])
        return facts.take(mixed(misled & (measured.traps[_IN_PICTURE] != ""), [answers], count, rng))

    def measure(self, facts: Beside, scene: Scene) -> Measured:
        """The object with the smallest gap, in the frame that last shows the first object clearly."""
        names, n = object_names(scene), len(facts)
        k = len(_NUMBERS)
        frame, ended, own, others = (np.full(n, -1), np.full(n, -1), np.full(n, -1), np.full((n, k), -1))
        latest = np.full((n, k), np.nan)
        lacking, ambiguous, there, apart = (np.zeros(n, dtype=bool) for _ in range(4))
        lacking |= not one_identity(scene)
        together = np.zeros((n, k), dtype=bool)
        for row, (name, called) in enumerate(zip(facts.name.tolist(), facts.others.tolist(), strict=True)):
            try:
                shown = sightings(scene).of(facts.frames[row])
            except LookupError:
                lacking[row] = True
                continue
            alone = singled_out(names, shown)
            ambiguous[row] = not {name, *called} <= alone.keys() or len({name, *called}) <= k
            if lacking[row] or ambiguous[row]:
                continue
            own[row], *others[row] = (alone[each] for each in (name, *called))
            frame[row], ended[row] = shown.frames[_last(shown.clear[:, own[row]])], shown.frames[-1]
            there[row] = _at_end(shown)[own[row]]
            together[row] = (shown.clear[:, others[row]] & shown.clear[:, [own[row]]]).any(axis=0)
            latest[row] = [_last(shown.area[:, other] != 0) for other in others[row]]
        gap, sigma = _gaps(scene, frame, own, others)
        distance, _ = range_to_boxes(scene, frame, own)
        nearest = np.where(np.isnan(gap), np.inf, gap).argmin(axis=1)
        least, second = np.sort(gap, axis=1)[:, :2].T
        with np.errstate(invalid="ignore"):
            apart = second >= np.maximum(_RATIO * least, least + _STEP * distance)
        cases = {
            "objects are not surely the same in all frames": lacking,
            NOT_LISTED: ~all_listed(scene, facts.name, *facts.others.T),
            "the name of an object does not single it out": ambiguous,
            "the end of the video shows the object": there,
            "the box of an object is not known": ~np.isfinite(gap + sigma).all(axis=1) | ~np.isfinite(distance),
            "no frame shows the object with its neighbour": ~together[np.arange(n), nearest],
            "the objects touch or nearly touch": least <= 0,
            "two objects are about as near": ~apart,
        }
        order = gap.argsort(axis=1)
        ordered, ordered_sigma = (np.take_along_axis(each, order, axis=1) for each in (gap, sigma))
        return Measured(
            why=first_reason(n, cases),
            value=gap,
            sigma=sigma,
            label=np.array(_NUMBERS)[nearest],
            margin=margin_of_all(ordered[:, 1:] - ordered[:, :1], np.hypot(ordered_sigma[:, 1:], ordered_sigma[:, :1])),
            evidence={"gaps": gap.round(3), "length_unit": np.full(n, scene.length_unit)},
            traps={
                _IN_PICTURE: _nearest(_apart_px(scene, frame, own, others)),
                "seen last": _nearest(-latest),
                "nearest at the end": _nearest(_gaps(scene, ended, own, others)[0]),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the object."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video."""
        options = tuple(fact[letter].capitalize() for letter in "abcd")
        return Phrasing(media=(Video(frames=tuple(fact["frames"])),), values={"name": fact["name"]}, options=options)


def _rows(scene: Scene, frames: Int64[np.ndarray, "v"], rng: np.random.Generator) -> Iterator[dict[str, Json]]:
    """Facts about one video."""
    shown, names = sightings(scene).of(frames), object_names(scene)
    objects = np.array([k for _, k in sorted(singled_out(names, shown).items())], dtype=np.int64)
    objects = objects[all_listed(scene, names[objects])]
    for own in objects.tolist():
        if _at_end(shown)[own]:
            continue
        others = objects[objects != own]
        frame = np.array([shown.frames[_last(shown.clear[:, own])]])
        gap = _gaps(scene, frame, np.array([own]), others[None])[0][0]
        (distance,), _ = range_to_boxes(scene, frame, np.array([own]))
        if not np.isfinite(gap).any() or np.nanmin(gap) <= 0:
            continue
        right = int(np.nanargmin(gap))
        with np.errstate(invalid="ignore"):
            farther = np.flatnonzero(gap >= max(_RATIO * gap[right], gap[right] + _STEP * distance))
        if len(farther) < len(_NUMBERS) - 1 or not _together(shown, own, int(others[right])):
            continue
        farther = rng.permutation(farther)
        in_picture = _apart_px(scene, frame, np.array([own]), others[None, farther])[0]
        farther = farther[np.argsort(np.nan_to_num(in_picture, nan=np.inf), kind="stable")]
        wrong = np.append(farther[:1], rng.permutation(farther[1:]))[: len(_NUMBERS) - 1]
        chosen = [others[right], *others[wrong]]
        called = dict(zip("abcd", names[rng.permutation(chosen)].tolist(), strict=True))
        yield {"frames": shown.frames.tolist(), "name": str(names[own]), **called}


def _together(shown: Sightings, one: int, other: int) -> bool:
    return bool((shown.clear[:, one] & shown.clear[:, other]).any())


def _at_end(shown: Sightings) -> Bool[np.ndarray, "k"]:
    """Whether a frame at the end of the video shows each object."""
    return np.asarray((shown.area[-_GONE * max(1, len(shown.frames) // 16) :] != 0).any(axis=0))


def _last(seen: Bool[np.ndarray, "f"]) -> int:
    """The last frame that is true; the very last one where none is."""
    return len(seen) - 1 - int(seen[::-1].argmax())


def _gaps(
    scene: Scene, frame: Int64[np.ndarray, "n"], own: Int64[np.ndarray, "n"], others: Int64[np.ndarray, "n k"]
) -> tuple[Float64[np.ndarray, "n k"], Float64[np.ndarray, "n k"]]:
    """Gaps between the boxes of each object and others, and their σ, which includes that boxes may be unfilled; NaN
    where unknown."""
    k = others.shape[1]
    gap, sigma, centres = gaps(scene, frame.repeat(k), own.repeat(k), others.reshape(-1))
    return gap.reshape(others.shape), np.hypot(sigma, _UNFILLED * (centres - gap)).reshape(others.shape)


def _apart_px(
    scene: Scene, frame: Int64[np.ndarray, "n"], own: Int64[np.ndarray, "n"], others: Int64[np.ndarray, "n k"]
) -> Float64[np.ndarray, "n k"]:
    """Gaps between the boxes in the picture; NaN for objects that the frame does not show."""
    k, seen = others.shape[1], seen_objects(scene)
    rows = [seen_rows(scene, frame.repeat(k), each) for each in (own.repeat(k), others.reshape(-1))]
    shown = np.min(rows, axis=0, initial=len(seen)) >= 0
    apart = np.full(len(shown), np.nan)
    if shown.any():
        a, b = (seen.box_px[each[shown]] for each in rows)
        between = np.maximum(a[:, 0] - b[:, 1], b[:, 0] - a[:, 1])
        apart[shown] = np.linalg.norm(np.maximum(between, 0), axis=1)
    return apart.reshape(others.shape)


def _nearest(value: Float64[np.ndarray, "n k"]) -> Texts:
    """The number of the object with the smallest value; "" where none is known, or several have it."""
    known = np.where(np.isnan(value), np.inf, value)
    alone = np.isfinite(known).any(axis=1) & ((known == known.min(axis=1, keepdims=True)).sum(axis=1) == 1)
    return np.where(alone, np.array(_NUMBERS)[known.argmin(axis=1)], "")
