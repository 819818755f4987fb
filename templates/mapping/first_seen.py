"""L2/Memory/Memory Retrieval: in which order objects come into view in a video, or leave it for good."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer, Label
from templates.answers.answers import Answers
from templates.answers.order import numbers_in_order, order_labels
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Video
from templates.offer import Offer
from templates.perception.object_pointing import NOT_LISTED
from templates.question import FormatName, Phrasing
from templates.scene.misleading import misleading_first
from templates.scene.named import all_listed
from templates.scene.named_in_videos import singled_out
from templates.scene.scene import Scene
from templates.scene.sightings import Sightings, object_names, one_identity, sightings, videos_of_objects
from templates.template import Template

_VIDEOS = 48
"""Videos in which objects are looked for."""
_NUMBERS = ("1", "2", "3")
_OTHERWISE = 0.5
"""Least share of facts about last sights in which the object that is gone first was not seen before the others."""
_CLEARLY = 10.0
"""Margin of the order in σ: masks say what is visible."""


@dataclass(frozen=True, kw_only=True)
class ThreeInVideo(Facts):
    """Three objects of different names in the frames of a video. Every object of these names is listed."""

    frames: Int64[np.ndarray, "n v"]
    a: Texts
    b: Texts
    c: Texts

    @property
    def names(self) -> np.ndarray:
        """In the order in which the question lists them."""
        return np.stack([self.a, self.b, self.c], axis=1)


@dataclass(frozen=True, kw_only=True)
class FirstSeen(Template):
    """Three objects by when they come into view. Measures the frame of the video in which each is first seen clearly,
    from 0."""

    name: str = "first_seen"
    version: str = "3"
    ability: str = "L2/Memory/Memory Retrieval"
    formats: tuple[FormatName, ...] = ("order", "choice")
    facts: ClassVar[type[Facts]] = ThreeInVideo
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _NUMBERS}
    needs: frozenset[str] = frozenset({"objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})
    at_end: ClassVar[bool] = False
    """Whether the last sight counts, not the first."""
    apart: ClassVar[int] = 2
    """Frames between the clear sight of one object and any sight of the next, in a video of 16 frames or fewer."""

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ThreeInVideo:
        """Random triples of objects that come into view one after the other, in random order."""
        rows, names = [], object_names(scene)
        listed = all_listed(scene, names)
        for frames in videos_of_objects(scene, rng, _VIDEOS):
            shown = sightings(scene).of(frames)
            ahead, behind = self._limits(shown)
            objects = [column for _, column in sorted(singled_out(names, shown).items()) if listed[column]]
            for three in combinations(objects, 3):
                one, two, three_ = sorted(three, key=lambda k: ahead[k])
                if ahead[one] <= behind[two] and ahead[two] <= behind[three_]:
                    a, b, c = names[rng.permutation(three)].tolist()
                    rows.append({"frames": frames[frames >= 0].tolist(), "a": a, "b": b, "c": c})
        rows = [rows[k] for k in rng.permutation(len(rows))[: 4 * count if self.at_end else count]]
        facts = ThreeInVideo.from_json(rows) if rows else ThreeInVideo.none()
        if not self.at_end:
            return facts
        measured = self.measure(facts, scene)
        otherwise = measured.traps[_SEEN_FIRST] != np.array(_NUMBERS)[measured.value.argmin(axis=1)]
        return facts.take(misleading_first(otherwise, rng, _OTHERWISE)[:count])

    def measure(self, facts: ThreeInVideo, scene: Scene) -> Measured:
        """The frames, where the sights of no two objects are too near in time."""
        names, n = object_names(scene), len(facts)
        sight, ahead, behind, other, largest = (np.full((n, 3), np.nan) for _ in range(5))
        lacking, ambiguous = np.full(n, not one_identity(scene)), np.zeros(n, dtype=bool)
        for row in range(n):
            try:
                shown = sightings(scene).of(facts.frames[row])
            except LookupError:
                lacking[row] = True
                continue
            alone = singled_out(names, shown)
            ambiguous[row] = not {*facts.names[row].tolist()} <= alone.keys()
            if lacking[row] or ambiguous[row]:
                continue
            columns = [alone[name] for name in facts.names[row].tolist()]
            sight[row] = _sight(shown.clear, self.at_end)[columns]
            ahead[row], behind[row] = (limit[columns] for limit in self._limits(shown))
            other[row] = _sight(shown.area != 0, not self.at_end)[columns]
            largest[row] = -shown.area[:, columns].max(axis=0)
        order = sight.argsort(axis=1)
        ahead, behind = (np.take_along_axis(each, order, axis=1) for each in (ahead, behind))
        with np.errstate(invalid="ignore"):
            apart = (ahead[:, :-1] <= behind[:, 1:]).all(axis=1)
        come_or_go = "leave the view" if self.at_end else "come into view"
        cases = {
            "objects are not surely the same in all frames": lacking,
            NOT_LISTED: ~all_listed(scene, facts.a, facts.b, facts.c),
            "the name of an object does not single it out": ambiguous,
            f"objects {come_or_go} at about the same time": ~apart,
        }
        return Measured(
            why=first_reason(n, cases),
            value=sight,
            sigma=np.zeros((n, 3)),
            evidence={"in_frame": 1 + sight},
            traps={
                f"by the {'first' if self.at_end else 'last'} sight": order_labels(other.argsort(axis=1) + 1),
                "the largest first": order_labels(largest.argsort(axis=1) + 1),
                "reversed": order_labels(order[:, ::-1] + 1),
                **(_extreme(_SEEN_FIRST, -other) if self.at_end else _extreme("seen last", other)),
                "the largest": np.array(_NUMBERS)[largest.argmin(axis=1)],
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The order, or the first one."""
        order = measured.value.argsort(axis=1)
        text = order_labels(order + 1) if format == "order" else np.array(_NUMBERS)[order[:, 0]]
        margin = np.full(len(measured), _CLEARLY)
        return Answers.of(Label(text=text, margin=margin, outlier_probability=measured.outliers), measured.why)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video."""
        names = {letter: fact[letter] for letter in "abc"}
        written = numbers_in_order(answer.to_json().answer) if format == "order" else None
        options = tuple(name.capitalize() for name in names.values()) if format == "choice" else ()
        media = (Video(frames=tuple(fact["frames"])),)
        return Phrasing(media=media, values=names, answer=written, options=options)

    def _limits(self, shown: Sightings) -> tuple[Float64[np.ndarray, "k"], Float64[np.ndarray, "k"]]:
        """Of each object: the frame from which on the next one may come, and that by which the one before it must have
        let it. A glimpse may be overlooked or not."""
        clear, glimpse = (_sight(seen, self.at_end) for seen in (shown.clear, shown.area != 0))
        ahead, behind = (glimpse, clear) if self.at_end else (clear, glimpse)
        return ahead + self.apart * max(1, len(shown.frames) // 16), behind


@dataclass(frozen=True, kw_only=True)
class LastSeen(FirstSeen):
    """Three objects by when they leave the view for good. Measures the frame of the video in which each is last seen
    clearly, from 0."""

    name: str = "last_seen"
    at_end: ClassVar[bool] = True
    apart: ClassVar[int] = 3


_SEEN_FIRST = "seen first"


def _extreme(mistake: str, value: Float64[np.ndarray, "n 3"]) -> dict[str, np.ndarray]:
    """The number of the object with the largest value; "" where several have it."""
    alone = (value == value.max(axis=1, keepdims=True)).sum(axis=1) == 1
    return {mistake: np.where(alone, np.array(_NUMBERS)[value.argmax(axis=1)], "")}


def _sight(seen: Bool[np.ndarray, "f k"], at_end: bool) -> Float64[np.ndarray, "k"]:
    """The first or last frame in which each object is seen; NaN for none."""
    frame = len(seen) - 1 - seen[::-1].argmax(axis=0) if at_end else seen.argmax(axis=0)
    return np.where(seen.any(axis=0), frame, np.nan)
