"""L1/Motion/Allo: in which direction an object moves, as seen from photo 1, in one leg or two."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.allo_motion import alternating
from templates.question import FormatName, Phrasing
from templates.scene.level_axes import level_axes
from templates.scene.moving_objects import NOT_FOUND, Way, drawn_photos, followed, moving, seen_step, way
from templates.scene.object_boxes import outliers
from templates.scene.objects import SeenObjects
from templates.scene.scene import Scene
from templates.template import Template

SECTORS = ("front", "front right", "right", "back right", "back", "back left", "left", "front left")
"""Directions on the floor, clockwise, 45° each; front is the way in which the camera of photo 1 points."""
_WAYS = np.array([*SECTORS, *(f"{a}, then {b}" for a in SECTORS for b in SECTORS)])
"""Every answer: one leg, or two."""
_LEG_IN_WORDS = {
    "front": "straight ahead",
    "front right": "ahead and to the right",
    "right": "to the right",
    "back right": "backward and to the right",
    "back": "straight backward",
    "back left": "backward and to the left",
    "left": "to the left",
    "front left": "ahead and to the left",
}
_LARGEST_DEVIATION = 15.0
"""Of a leg from the middle of its sector, in degrees: people call what lies between two directions by either name."""
_LEAST_BEND = 45.0
"""Between two legs, in degrees."""
_LEAST_LEG = 0.3
"""Share of the way that each of two legs has at least."""
_MAX_ELEVATION = 30.0
"""In degrees, of a leg: directions are those on the floor."""
_WRONG_BY = 2
"""Sectors between a wrong way and the right one, in at least one leg."""
_TRIES = 6
_OPTIONS = 4


@dataclass(frozen=True, kw_only=True)
class ObjectOnItsWay(Facts):
    """An object in two or three photos, in order of time."""

    first: ObjectRefs
    second: ObjectRefs
    third: ObjectRefs
    """Frame -1 for none."""
    seems: Texts
    """How it seems to move if one forgets that the camera moves: a wrong answer, as the next."""
    seen_from_last: Texts
    """How it moves in the axes of the last photo."""

    @property
    def frames(self) -> Int64[np.ndarray, "n 3"]:
        """Of the photos."""
        return np.column_stack([self.first.frame, self.second.frame, self.third.frame])


@dataclass(frozen=True, kw_only=True)
class ObjectDirection(Template):
    """The horizontal direction of each leg. Measures the legs to the right and ahead, in the levelled axes of photo 1,
    over the distance of the object."""

    name: str = "object_direction"
    version: str = "2"
    ability: str = "L1/Motion/Allo"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = ObjectOnItsWay
    needs: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ObjectOnItsWay:
        """Random moving objects in two or three photos; first those whose way has a name, by turns with one leg and
        with two."""
        seen = moving(scene)
        drawn = _joined(*(_facts(seen, drawn_photos(seen, rng, _TRIES * count, photos)) for photos in (3, 2)))
        good, bent = self.measure(drawn, scene).why == "", drawn.third.frame >= 0
        first = alternating(np.flatnonzero(good & bent), np.flatnonzero(good & ~bent))
        rows = np.array([*first, *np.flatnonzero(~good & ~bent).tolist()], dtype=np.int64)
        return _with_decoys(drawn.take(rows[:count]), scene)

    def measure(self, facts: ObjectOnItsWay, scene: Scene) -> Measured:
        """The sectors of the legs; σ of a direction: both places over the length, relative rotation, up."""
        refs, frames = (facts.first, facts.second, facts.third), facts.frames
        object, upright = followed(scene, refs), level_axes(scene, frames[:, 0]).upright
        legs = _legs(scene, object, frames, frames[:, 0])
        asked = np.column_stack([np.full(len(facts), True), frames[:, 2] >= 0])
        cases = {NOT_FOUND: object < 0, "the photo is not upright": ~upright}
        cases |= {reason: (holds & asked).any(axis=1) for reason, holds in legs.cases().items()}
        cases |= {"the way has no clear bend": asked[:, 1] & ~legs.bends()}
        distance = np.linalg.norm(legs.way.start_cam, axis=1).reshape(-1, 2)[:, :1, None]
        value = np.where(asked[..., None], legs.flat / distance, np.nan)
        sigma = np.radians(legs.sigma_deg)[..., None] * np.linalg.norm(value, axis=2, keepdims=True)
        return Measured(
            why=first_reason(len(facts), cases),
            value=value.reshape(-1, 4),
            sigma=np.repeat(sigma, 2, axis=2).reshape(-1, 4),
            label=_named(np.where(asked, legs.sector, -1)),
            margin=np.where(asked, legs.margin, np.inf).min(axis=1, initial=np.inf),
            outlier_probability=outliers(scene, object),
            evidence={
                "azimuth_deg": legs.azimuth_deg[:, 0].round(1),
                "second_azimuth_deg": np.where(asked[:, 1], legs.azimuth_deg[:, 1].round(1), np.nan),
            },
            traps={_MISTAKES[0]: facts.seems, _MISTAKES[1]: facts.seen_from_last},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The directions in words."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: ObjectOnItsWay, answers: Answers, chance: Chance) -> Offer | None:
        """The right way and three different mistakes that differ from it by 90° or more in a leg."""
        right = _SECTORS_OF[answers.among(_WAYS.tolist())]
        wrong = np.stack([_read(facts.seems, right), _read(facts.seen_from_last, right), *_mistakes(right)], axis=1)
        order = np.concatenate([chance.order("frame", 2), 2 + chance.order("mistake", len(_MISTAKES) - 2)], axis=1)
        ways, which = right[:, None].repeat(_OPTIONS, axis=1), np.full((len(right), _OPTIONS), -1)
        found = np.ones(len(right), dtype=np.int64)
        for column in order.T:
            candidate = wrong[np.arange(len(right)), column]
            steps = np.abs(candidate - right) % len(SECTORS)
            wide = (np.minimum(steps, len(SECTORS) - steps) >= _WRONG_BY).any(axis=1)
            new = (candidate[:, None] != ways).any(axis=2).all(axis=1)
            fits = np.flatnonzero(wide & new & (found < _OPTIONS))
            ways[fits, found[fits]], which[fits, found[fits]] = candidate[fits], column[fits]
            found[fits] += 1
        return Offer.first_right(
            _named(ways.reshape(-1, 2)).reshape(-1, _OPTIONS),
            why=np.where(found < _OPTIONS, "no room for distinct wrong directions", ""),
            mistakes=np.array([*_MISTAKES, ""])[which],
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two or three photos with a box around the object."""
        assert offer is not None
        refs = [fact[name] for name in ("first", "second", "third") if fact[name]["frame"] >= 0]
        return Phrasing(
            media=tuple(Photo.boxed({"": ref}) for ref in refs),
            wording="choice.two_legs" if len(refs) == 3 else "choice.one_leg",
            values={"name": fact["first"]["name"]},
            options=tuple(map(_in_words, offer.values(0))),
        )


_MISTAKES = (
    "motion in the picture",
    "as seen from the last photo",
    "reversed",
    "mirrored left to right",
    "legs exchanged",
    "as the object itself would say it",
    "front and right exchanged",
    "turned to the right",
    "turned to the left",
)


def _mistakes(right: Int64[np.ndarray, "n 2"]) -> list[Int64[np.ndarray, "n 2"]]:
    """Sectors of the wrong ways, but the first two of `_MISTAKES`. -1 stays for a leg that is not there."""
    one = right[:, 1:] < 0
    exchanged = np.where(one, right, right[:, ::-1])
    own = np.where(one, 0, right - right[:, :1])
    found = [right + 4, -right, exchanged, own, 2 - right, right + 2, right - 2]
    return [np.where(right < 0, -1, each % len(SECTORS)) for each in found]


def _named(sectors: Int64[np.ndarray, "n 2"]) -> Texts:
    """Ways in words, of their two sectors; -1 for none."""
    first, second = sectors.T
    return _WAYS[np.where(second < 0, first, len(SECTORS) * (1 + first) + second)]


_SECTORS_OF = np.array(
    [*((k, -1) for k in range(len(SECTORS))), *((a, b) for a in range(len(SECTORS)) for b in range(len(SECTORS)))]
)
"""The sectors of each of `_WAYS`."""


def _read(ways: Texts, others: Int64[np.ndarray, "n 2"]) -> Int64[np.ndarray, "n 2"]:
    """The sectors of ways in words; those of `others` where there are none."""
    return np.where((ways != "")[:, None], _SECTORS_OF[(ways[:, None] == _WAYS).argmax(axis=1)], others)


def _in_words(way: str) -> str:
    legs = [_LEG_IN_WORDS[leg] for leg in way.split(", then ")]
    return f"First {legs[0]}, then {legs[1]}" if len(legs) > 1 else f"{legs[0][0].upper()}{legs[0][1:]}"


@dataclass(frozen=True, kw_only=True)
class _Legs:
    """Of n ways with two legs each; what is unknown is NaN."""

    way: Way
    """Of 2 n legs."""
    flat: Float64[np.ndarray, "n 2 2"]
    """To the right and ahead, in path units."""
    elevation_deg: Float64[np.ndarray, "n 2"]
    azimuth_deg: Float64[np.ndarray, "n 2"]
    """Clockwise from ahead."""
    sigma_deg: Float64[np.ndarray, "n 2"]

    @property
    def sector(self) -> Int64[np.ndarray, "n 2"]:
        """Index in `SECTORS`."""
        return _sector(self.azimuth_deg)

    @property
    def deviation_deg(self) -> Float64[np.ndarray, "n 2"]:
        """From the middle of the sector."""
        return np.abs(self.azimuth_deg - 45 * np.round(self.azimuth_deg / 45))

    @property
    def margin(self) -> Float64[np.ndarray, "n 2"]:
        """To the next sector, in σ."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return (22.5 - self.deviation_deg) / self.sigma_deg

    def cases(self) -> dict[str, Bool[np.ndarray, "n 2"]]:
        """Reasons not to ask about a leg, and where they hold."""
        found = {reason: holds.reshape(-1, 2) for reason, holds in self.way.cases().items()}
        with np.errstate(invalid="ignore"):
            found["the object moves too far up or down"] = np.abs(self.elevation_deg) > _MAX_ELEVATION
            found["the object moves between two directions"] = self.deviation_deg > _LARGEST_DEVIATION
        return found

    def bends(self) -> Bool[np.ndarray, "n"]:
        """Whether the legs differ clearly in direction, and neither is short."""
        length = self.way.length.reshape(-1, 2)
        bend = np.abs(np.diff(self.azimuth_deg, axis=1)[:, 0] % 360)
        with np.errstate(invalid="ignore"):
            return (np.minimum(bend, 360 - bend) >= _LEAST_BEND) & (
                length.min(axis=1) >= _LEAST_LEG * length.sum(axis=1)
            )


def _legs(
    scene: Scene, object: Int64[np.ndarray, "n"], frames: Int64[np.ndarray, "n 3"], seen_from: Int64[np.ndarray, "n"]
) -> _Legs:
    """The legs of objects between photos, in the levelled axes of other photos."""
    axes, pairs = level_axes(scene, seen_from), frames[:, [0, 1, 1, 2]].reshape(-1, 2)
    found = way(scene, np.repeat(object, 2), pairs, np.repeat(seen_from, 2))
    step = found.step_cam.reshape(-1, 2, 3)
    right, ahead, up = (np.einsum("nki,ni->nk", step, axis) for axis in (axes.right, axes.ahead, axes.up))
    flat = np.stack([right, ahead], axis=2)
    level = np.linalg.norm(flat, axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_places = found.sigma.reshape(-1, 2) / level
    known_sigma = np.hypot(scene.relative_rotation_sigma_rad(frames), axes.sigma_rad)
    return _Legs(
        way=found,
        flat=flat,
        elevation_deg=np.degrees(np.arctan2(up, level)),
        azimuth_deg=np.degrees(np.arctan2(right, ahead)),
        sigma_deg=np.degrees(np.hypot(of_places, known_sigma[:, None])),
    )


def _facts(seen: SeenObjects, rows: Int64[np.ndarray, "n p"]) -> ObjectOnItsWay:
    """Facts about the objects in these rows, two or three photos each."""
    first, second, *more = (seen.take(column).refs() for column in rows.T)
    none = np.full(len(rows), "")
    third = more[0] if more else _no_photo(len(rows))
    return ObjectOnItsWay(first=first, second=second, third=third, seems=none, seen_from_last=none)


def _no_photo(count: int) -> ObjectRefs:
    nan = np.full((count, 2), np.nan)
    return ObjectRefs(
        frame=np.full(count, -1), inside_px=nan, box_px=np.stack([nan, nan], axis=1), name=np.full(count, "")
    )


def _joined(*tables: ObjectOnItsWay) -> ObjectOnItsWay:
    """The rows of all, in their order."""
    first, second, third = (
        ObjectRefs.concatenated([getattr(table, name) for table in tables]) for name in ("first", "second", "third")
    )
    seems, seen_from_last = (
        np.concatenate([getattr(table, name) for table in tables]) for name in ("seems", "seen_from_last")
    )
    return ObjectOnItsWay(first=first, second=second, third=third, seems=seems, seen_from_last=seen_from_last)


def _with_decoys(facts: ObjectOnItsWay, scene: Scene) -> ObjectOnItsWay:
    """With the directions for someone who takes the camera of every photo for that of photo 1, and in the axes of the
    last photo."""
    frames, object = facts.frames, followed(scene, (facts.first, facts.second, facts.third))
    one = frames[:, 2] < 0
    axes = level_axes(scene, frames[:, 0])
    step = np.stack([seen_step(scene, object, frames[:, [k, k + 1]]) for k in (0, 1)], axis=1)
    right, ahead = (np.einsum("nki,ni->nk", step, axis) for axis in (axes.right, axes.ahead))
    last = np.where(one, frames[:, 1], frames[:, 2])
    legs = _legs(scene, object, frames, last)
    seems, seen_from_last = (
        np.where(object < 0, "", _named(np.where([[False, True]] & one[:, None], -1, _sector(azimuth))))
        for azimuth in (np.degrees(np.arctan2(right, ahead)), legs.azimuth_deg)
    )
    return replace(facts, seems=seems, seen_from_last=seen_from_last)


def _sector(azimuth_deg: Float64[np.ndarray, "n 2"]) -> Int64[np.ndarray, "n 2"]:
    """Index in `SECTORS`; 0 for NaN."""
    return np.nan_to_num(np.round(azimuth_deg / 45)).astype(np.int64) % len(SECTORS)
