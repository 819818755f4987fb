"""L1/Orientation/Gravity: to which side the camera is rolled, and which of several photos looks up most."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

import numpy as np
from jaxtyping import Int64
from scipy.special import ndtr, ndtri

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.answers.order import numbers_in_order, order_label
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.perception.orientation import Frames
from templates.question import FormatName, Phrasing
from templates.scene.attitude import UP_UNKNOWN, attitude
from templates.scene.marks import spread_frames
from templates.scene.pictures import Pictures
from templates.scene.scene import Scene
from templates.template import Template

_SIDES = ("clockwise", "counter-clockwise", "level")
_BORDER_DEG = 3.0
"""Largest roll of a level camera."""
_LEVEL_DEG, _ROLLED_DEG = 1.5, 5.0
"""Largest roll that looks level, and least roll that is seen."""
_MAX_PITCH_DEG, _MAX_ROLL_DEG = 45.0, 150.0
"""A steeper camera hides its roll; beyond this roll the photo is upside down."""


@dataclass(frozen=True, kw_only=True)
class RollSide(Template):
    """To which side the camera of a photo is rolled. Measures its roll in degrees."""

    name: str = "roll_side"
    version: str = "1"
    ability: str = "L1/Orientation/Gravity"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Frames
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _SIDES}
    needs: frozenset[str] = frozenset({"gravity"})
    reads: frozenset[str] = frozenset({"gravity"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Frames:
        """Frames spread over the clip."""
        return Frames(frame=rng.permutation(spread_frames(upright_frames(scene), count)))

    def measure(self, facts: Frames, scene: Scene) -> Measured:
        """The side; the margin stands for the probability that roll lies on the same side of ±3°."""
        held = attitude(scene, facts.frame)
        roll, sigma = np.abs(held.roll), held.roll_sigma
        side = np.where(held.roll > 0, _SIDES[0], _SIDES[1])
        with np.errstate(invalid="ignore"):
            is_level = roll <= _BORDER_DEG
            p_tilted = ndtr((roll - _BORDER_DEG) / sigma) + ndtr((-_BORDER_DEG - roll) / sigma)
            cases = {
                UP_UNKNOWN: np.isnan(roll),
                "the camera looks too steeply to show its roll": np.abs(held.pitch) > _MAX_PITCH_DEG,
                "the photo is upside down": roll > _MAX_ROLL_DEG,
                "the roll is neither clear nor near zero": (roll > _LEVEL_DEG) & (roll < _ROLLED_DEG),
            }
        opposite = np.where(held.roll > 0, _SIDES[1], _SIDES[0])
        left, right = np.where(held.pitch > 0, _SIDES[1], _SIDES[0]), np.where(held.pitch > 0, _SIDES[0], _SIDES[1])
        return Measured(
            why=first_reason(len(facts), cases),
            value=held.roll[:, None],
            sigma=sigma[:, None],
            label=np.where(is_level, "level", side),
            margin=np.where(is_level, -ndtri(p_tilted), (roll - _BORDER_DEG) / sigma),
            evidence={"pitch_deg": held.pitch.round(1), "roll_deg": held.roll.round(1)},
            traps={
                "the rotation of the photo's content": np.where(is_level, "", opposite),
                "every photo taken as level": np.where(is_level, "", "level"),
                "upright edges on the left taken as leaning": np.where(is_level, left, ""),
                "upright edges on the right taken as leaning": np.where(is_level, right, ""),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The side."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo without marks."""
        return Phrasing(media=(Photo(frame=fact["frame"]),))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """One frame."""
        return {"frame": int(rng.choice(pictures.clip.frames))}


_PHOTOS = 3
_LEAST_STEP_DEG = 4.0
"""Least difference in pitch between neighbours in the order."""
_TRIES = 12
_ORDERS = np.array(list(permutations(range(_PHOTOS))))
_LABELS = np.array([order_label((order + 1).tolist()) for order in _ORDERS])


@dataclass(frozen=True, kw_only=True)
class ThreePhotos(Facts):
    """Photos in random order."""

    frames: Int64[np.ndarray, "n 3"]


@dataclass(frozen=True, kw_only=True)
class TiltOrder(Template):
    """Order of three photos by the pitch of their cameras, from the one that points farthest down. Measures pitch in
    degrees; the label is the numbers of the photos ("2 3 1")."""

    name: str = "tilt_order"
    version: str = "1"
    ability: str = "L1/Orientation/Gravity"
    formats: tuple[FormatName, ...] = ("order", "choice")
    facts: ClassVar[type[Facts]] = ThreePhotos
    needs: frozenset[str] = frozenset({"gravity"})
    reads: frozenset[str] = frozenset({"gravity"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ThreePhotos:
        """Triples whose pitches differ."""
        frames = upright_frames(scene)
        if len(frames) < _PHOTOS:
            return ThreePhotos.none()
        drawn = rng.random((_TRIES * count, len(frames))).argsort(axis=1)[:, :_PHOTOS]
        pitch = np.sort(attitude(scene, frames).pitch[drawn], axis=1)
        apart = (np.diff(pitch, axis=1) >= _LEAST_STEP_DEG).all(axis=1)
        return ThreePhotos(frames=frames[drawn[apart][:count]])

    def measure(self, facts: ThreePhotos, scene: Scene) -> Measured:
        """The order; the margin stands for the probability that both pairs of neighbours are in it."""
        held = attitude(scene, facts.frames.reshape(-1))
        pitch, sigma, roll = (part.reshape(-1, _PHOTOS) for part in (held.pitch, held.pitch_sigma, held.roll))
        order = np.argsort(pitch, axis=1)
        step = np.diff(np.take_along_axis(pitch, order, axis=1), axis=1)
        sorted_sigma = np.take_along_axis(sigma, order, axis=1)
        cases = {
            UP_UNKNOWN: np.isnan(pitch).any(axis=1),
            "two photos are tilted about equally": (step < _LEAST_STEP_DEG).any(axis=1),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=pitch,
            sigma=sigma,
            label=_texts(order),
            margin=margin_of_all(step, np.hypot(sorted_sigma[:, 1:], sorted_sigma[:, :-1])),
            evidence={"least_step_deg": step.min(axis=1).round(1), "pitches_deg": pitch.round(1)},
            traps={"order of time": _texts(facts.frames.argsort(axis=1)), "order of roll": _texts(np.argsort(roll))},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The order."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: ThreePhotos, answers: Answers, chance: Chance) -> Offer | None:
        """The right order, one with two neighbours exchanged, and the reverse of both: no option stands out."""
        if format != "choice":
            return None
        order = _ORDERS[(answers.labels()[:, None] == _LABELS).argmax(axis=1)]
        at, place = chance.index("neighbours", _PHOTOS - 1)[:, None], np.arange(_PHOTOS)
        exchanged = np.take_along_axis(order, place + (place == at) - (place == at + 1), axis=1)
        options = np.stack([_texts(each) for each in (order, order[:, ::-1], exchanged, exchanged[:, ::-1])], axis=1)
        mistakes = ["", "up and down exchanged", "two photos exchanged", "two photos and up and down exchanged"]
        return Offer.first_right(options, mistakes=np.tile(mistakes, (len(options), 1)))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Three photos."""
        media = tuple(Photo(frame=frame) for frame in fact["frames"])
        if offer is None:
            return Phrasing(media=media, answer=numbers_in_order(answer.to_json().answer))
        return Phrasing(media=media, options=tuple(value.replace(" ", ", ") for value in offer.values(0)))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Three frames."""
        drawn = pictures.distinct_frames(rng, _PHOTOS)
        return None if drawn is None else {"frames": [*drawn]}


def upright_frames(scene: Scene) -> Int64[np.ndarray, "k"]:
    """The frames with gravity."""
    if scene.gravity is None:
        return np.empty(0, dtype=np.int64)
    return scene.gravity.frames[np.isfinite(scene.gravity.up_cam).all(axis=1)]


def _texts(orders: Int64[np.ndarray, "n 3"]) -> np.ndarray:
    """The label of each order of photos, counted from 0."""
    return _LABELS[(orders[:, None] == _ORDERS).all(axis=2).argmax(axis=1)]
