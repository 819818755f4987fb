"""L3/Sequential Planning/Route: the turns that are missing in directions from photo to photo."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.intervals import places
from templates.scene.legs import legs, random_routes
from templates.scene.misleading import taking_turns
from templates.scene.offsets import POSITION_UNKNOWN
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import scene_distance, shared_views
from templates.template import Template

_PLACES = 20
_TURNS = (2, 3, 4)
_SURPLUS = 40
"""Routes that are drawn for each fact."""
_MIN_SHARE = 0.2
"""Least share of its view that a photo has in common with the next: with less, they do not show the way."""
_MIN_TRAVEL, _MAX_TRAVEL = 0.1, 1.5
"""Length of a leg over the distance of the scene: shorter ones are hard to see, and longer ones lead through things."""
_MIN_SIGMAS = 5.0
"""Least length of a leg, in σ."""
_MAX_SLOPE = 0.35
_AHEAD_RAD, _BEHIND_RAD = np.radians([30.0, 135.0])
"""Smaller turns are none; larger ones lead back."""
_BORDER_RAD = np.radians(15.0)
"""Least angle between a turn and either border."""
_LEFT, _RIGHT, _BACK = "left", "right", "back"
_JOINED = ", "
_MIRROR = {_LEFT: _RIGHT, _RIGHT: _LEFT, _BACK: _BACK}
_MISTAKES = ("", "mirrored", "one turn wrong", "one turn wrong, mirrored")


@dataclass(frozen=True, kw_only=True)
class RoutePhotos(Facts):
    """Photos in the order in which somebody visits the places where they were taken; -1 ends a row."""

    frames: Int64[np.ndarray, "n k"]


@dataclass(frozen=True, kw_only=True)
class RouteBlanks(Template):
    """The turns of a route of straight legs through the places of photos: left, right or back.

    Measures the largest distance of a turn from a right angle, in degrees. The label lists the turns ("left, back").
    """

    name: str = "route_blanks"
    version: str = "1"
    ability: str = "L3/Sequential Planning/Route"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = RoutePhotos
    needs: frozenset[str] = frozenset({"camera_path", "gravity"})
    reads: frozenset[str] = SURFACE | {"gravity"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> RoutePhotos:
        """Routes whose neighbours share their view, in any order of time; lists of turns are asked about equally often,
        as far as they can be had."""
        frames = places(scene, _PLACES)
        if not len(frames):
            return RoutePhotos.none()
        views = shared_views(scene, frames)
        with np.errstate(invalid="ignore"):
            near = (views.travel >= _MIN_TRAVEL) & (views.travel <= _MAX_TRAVEL)
        follows = near & near.T & (np.minimum(views.share, views.share.T) >= _MIN_SHARE)
        each = [frames[random_routes(follows, turns + 2, rng, _SURPLUS * count)] for turns in _TURNS]
        most = max(_TURNS) + 2
        padded = [np.pad(rows, ((0, 0), (0, most - rows.shape[1])), constant_values=-1) for rows in each]
        facts = RoutePhotos(frames=np.concatenate(padded))
        measured = self.measure(facts, scene)
        assert measured.label is not None
        aside = measured.label != measured.traps["mirrored"]
        rows = rng.permutation(np.flatnonzero((measured.why == "") & aside))
        return facts.take(rows[taking_turns(measured.label[rows])[:count]])

    def measure(self, facts: RoutePhotos, scene: Scene) -> Measured:
        """Turns; σ: directions of both legs, from the positions and what is systematic along the path."""
        count = (facts.frames >= 0).sum(axis=1)
        legs_ = legs(scene, np.pad(facts.frames, ((0, 0), (0, max(0, 3 - facts.frames.shape[1]))), constant_values=-1))
        shown = np.arange(legs_.length.shape[1]) < count[:, None] - 1
        turns, size = shown[:, 1:], np.abs(legs_.turn_rad[:, 1:])
        border = np.where(size < (_AHEAD_RAD + _BEHIND_RAD) / 2, size - _AHEAD_RAD, np.abs(size - _BEHIND_RAD))
        distance = scene_distance(scene, facts.frames[:, 0])[:, None]
        cases = {
            "fewer than two turns": count < min(_TURNS) + 2,
            POSITION_UNKNOWN: (np.isnan(legs_.length) & shown).any(axis=1),
            "a leg is too short": (
                ~(legs_.length >= np.maximum(_MIN_SIGMAS * legs_.length_sigma, 0.8 * _MIN_TRAVEL * distance)) & shown
            ).any(axis=1),
            "the route rises or falls": (~(legs_.slope <= _MAX_SLOPE) & shown).any(axis=1),
            "a turn is too close to call": (~(border >= _BORDER_RAD) & turns).any(axis=1),
        }
        sigma = np.where(turns, legs_.turn_sigma_rad[:, 1:], 1.0)
        off = np.degrees(np.abs(size - np.pi / 2))
        largest = np.where(turns, off, -1.0).argmax(axis=1)[:, None]
        labels = [
            _list_of(row[:k]) for row, k in zip(legs_.turn_rad[:, 1:], np.maximum(count - 2, 0).tolist(), strict=True)
        ]
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.take_along_axis(off, largest, axis=1),
            sigma=np.degrees(np.take_along_axis(sigma, largest, axis=1)),
            label=np.array(labels, dtype=np.str_),
            margin=margin_of_all(np.where(turns, border, np.inf), sigma),
            evidence={"turns_deg": _degrees(legs_.turn_rad[:, 1:], turns)},
            traps={"mirrored": np.array([_mirrored(label) for label in labels], dtype=np.str_)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The list of turns."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """The right list, one with one turn mirrored or two exchanged, and the mirror of both: no option stands out."""
        rows, lacks = [], []
        for label, draw in zip(answers.labels().tolist(), chance.uniform("other turns", 1)[:, 0].tolist(), strict=True):
            others = _others(label)
            other = others[int(draw * len(others))] if others else label
            rows.append([label, _mirrored(label), other, _mirrored(other)])
            lacks.append(len({*rows[-1]}) < len(_MISTAKES))
        options = np.array(rows, dtype=np.str_).reshape(len(rows), len(_MISTAKES))
        why = first_reason(len(rows), {"all turns lead back": np.array(lacks, dtype=bool)})
        return Offer.first_right(options, why, _MISTAKES)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The photos in the order of the route, and its directions with blanks."""
        assert offer is not None
        number = len(fact["frames"])
        steps = [f"[turn {k}], go straight to the spot of photo {k + 2}" for k in range(1, number - 1)]
        return Phrasing(
            media=tuple(Photo(frame=frame) for frame in fact["frames"]),
            values={"route": ", ".join(["go straight to the spot of photo 2", *steps])},
            options=tuple(f"Turn {value.replace(_JOINED, ', turn ')}" for value in offer.values(0)),
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Any frames."""
        drawn = pictures.distinct_frames(rng, int(rng.choice(_TURNS)) + 2)
        return None if drawn is None else {"frames": [*drawn]}


def _list_of(turn_rad: Float64[np.ndarray, "t"]) -> str:
    """Turns to the right, in words."""
    return _JOINED.join(
        _BACK if abs(turn) > _BEHIND_RAD else _RIGHT if turn > 0 else _LEFT for turn in turn_rad.tolist()
    )


def _degrees(turn_rad: Float64[np.ndarray, "n t"], shown: Bool[np.ndarray, "n t"]) -> Texts:
    """Turns in degrees, to the right, as texts: "88, -91"."""
    each = zip(np.degrees(turn_rad), shown, strict=True)
    return np.array([", ".join(f"{turn:.0f}" for turn in row[which].tolist()) for row, which in each], dtype=np.str_)


def _mirrored(label: str) -> str:
    return _JOINED.join(_MIRROR.get(turn, "") for turn in label.split(_JOINED))


def _others(label: str) -> list[str]:
    """Lists with one turn mirrored or two turns exchanged, that are neither the list nor its mirror image."""
    turns = label.split(_JOINED)
    found = []
    for i, turn in enumerate(turns):
        found.append([*turns[:i], _MIRROR.get(turn, ""), *turns[i + 1 :]])
        found += [[*turns[:i], turns[j], *turns[i + 1 : j], turn, *turns[j + 1 :]] for j in range(i + 1, len(turns))]
    lists = dict.fromkeys(_JOINED.join(each) for each in found)
    return [each for each in lists if each not in (label, _mirrored(label))]
