"""L2/Understanding/Perspective Taking: the order from left to right of marked points, seen from elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer, Label
from templates.answers.answers import Answers
from templates.answers.order import numbers_in_order, order_labels
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.elsewhere import elsewhere, on_mover
from templates.scene.intervals import places
from templates.scene.misleading import misleading_first
from templates.scene.pictures import Pictures
from templates.scene.point_groups import POINTS, three_points
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import partners
from templates.template import Template

_PLACES = 14
_MARKS = tuple(str(number + 1) for number in range(POINTS))
_WIDEST_RAD, _STEEPEST_RAD = np.radians(75), np.radians(45)
"""Largest azimuth and elevation, seen from there: what is beside or behind a camera is on no side of anything."""
_APART_RAD = np.radians(8)
"""Least angle between neighbours, seen from there."""
_ANGLES = ("azimuth", "elevation")
_PAIRS = ((0, 1), (1, 2), (0, 2))
"""Points whose angles are measured, ..."""
_PAIR_OF = np.array([[-1, 0, 2], [0, -1, 1], [2, 1, -1]])
"""... and the number of each pair."""
_SURE = 0.99
"""Least P(right) of an order that is proposed."""
_OTHERWISE = 0.5
"""Least share of groups that photo 1 shows in another order."""


@dataclass(frozen=True, kw_only=True)
class PointsFromThere(Facts):
    """Three points of a photo, and another photo, from whose place they are seen."""

    frame: Int64[np.ndarray, "n"]
    points_px: Float64[np.ndarray, "n 3 2"]
    frame_seen_from: Int64[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class FromPlace(Template):
    """Three points of photo 1, from left to right as the camera of photo 2 has them. Measures the angles from point 1
    to 2, from 2 to 3 and from 1 to 3, in radians, to the right."""

    name: str = "from_place"
    version: str = "1"
    ability: str = "L2/Understanding/Perspective Taking"
    formats: tuple[FormatName, ...] = ("order", "choice")
    facts: ClassVar[type[Facts]] = PointsFromThere
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PointsFromThere:
        """Points and photos that share part of their view; half of the groups or more have another order in photo 1."""
        drawn = three_points(scene, rng, count)
        frames = np.union1d(places(scene, _PLACES), drawn.frame)
        there = partners(scene, frames, drawn.frame, rng)
        facts = PointsFromThere(frame=drawn.frame, points_px=drawn.points_px, frame_seen_from=there)
        facts = facts.take(facts.frame != facts.frame_seen_from)
        measured = self.measure(facts, scene)
        known = measured.why == ""
        facts, measured = facts.take(known), measured.take(known)
        sure = self.answer("order", facts, measured).p_right >= _SURE
        otherwise = (_from_left(measured) != _order(facts.points_px[:, :, 0])).any(axis=1)
        return facts.take(np.flatnonzero(sure)[misleading_first(otherwise[sure], rng, _OTHERWISE)[:count]])

    def measure(self, facts: PointsFromThere, scene: Scene) -> Measured:
        """Angles between the points in the axes of the other camera; σ from the ranges of the points, and the poses of
        both photos."""
        frame, there, xy = facts.frame, facts.frame_seen_from, facts.points_px
        each, outliers = [], []
        for point_px in xy.swapaxes(0, 1):
            surface = scene.surface(frame, point_px)
            range_sigma = surface.range * surface.range_relative_sigma
            each.append(elsewhere(scene, frame, there, surface.xyz_cam, 0 * range_sigma, range_sigma, level=False))
            outliers.append(surface.outlier_probability)
        azimuth, elevation = (np.column_stack([getattr(one, f"{name}_rad") for one in each]) for name in _ANGLES)
        sigma = np.column_stack([each[i].apart_sigma_rad(each[j]) for i, j in _PAIRS])
        order, in_photo = _order(azimuth), _order(xy[:, :, 0])
        moves = [on_mover(scene, frame, point_px) for point_px in xy.swapaxes(0, 1)]
        cases = {
            "the place of a marked point is not known": ~np.isfinite(np.hstack([azimuth, sigma])).all(axis=1),
            "a marked point moves": np.any(moves, axis=0),
            "a marked point is beside or behind the camera of photo 2": ~(np.abs(azimuth) <= _WIDEST_RAD).all(axis=1),
            "a marked point is far above or below the camera of photo 2": ~(np.abs(elevation) <= _STEEPEST_RAD).all(1),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.column_stack([azimuth[:, j] - azimuth[:, i] for i, j in _PAIRS]),
            sigma=sigma,
            outlier_probability=1 - np.prod([1 - each for each in outliers], axis=0),
            evidence={
                "angle_sigma_deg": np.degrees(sigma.max(axis=1)).round(2),
                "to_the_right_deg": np.degrees(azimuth).round(1),
            },
            traps={
                "as photo 1 shows them": order_labels(in_photo + 1),
                "from right to left": order_labels(order[:, ::-1] + 1),
                "leftmost in photo 1": np.array(_MARKS)[in_photo[:, 0]],
                "left and right exchanged": np.array(_MARKS)[order[:, -1]],
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The order, or the leftmost point."""
        order = _from_left(measured)
        ends = [(order[:, 0], order[:, 1]), (order[:, 1] if format == "order" else order[:, 0], order[:, 2])]
        pair = np.stack([_PAIR_OF[i, j] for i, j in ends], axis=1)
        steps, spread = (np.take_along_axis(each, pair, axis=1) for each in (np.abs(measured.value), measured.sigma))
        text = order_labels(order + 1) if format == "order" else np.array(_MARKS)[order[:, 0]]
        label = Label(text=text, margin=margin_of_all(steps, spread), outlier_probability=measured.outliers)
        near = (np.abs(measured.value) < _APART_RAD).any(axis=1)
        return Answers.of(label, first_reason(len(measured), {"two points lie in about the same direction": near}))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Photo 1 with three marks, and photo 2 without."""
        marks = dict(zip(_MARKS, fact["points_px"], strict=True))
        written = numbers_in_order(answer.to_json().answer) if format == "order" else None
        media = (Photo.marked(fact["frame"], marks), Photo(frame=fact["frame_seen_from"]))
        return Phrasing(media=media, answer=written)

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Three corners of one picture, and another frame."""
        drawn = pictures.points(rng, POINTS)
        there = None if drawn is None else pictures.other_frame(drawn[0], rng)
        if drawn is None or there is None:
            return None
        return {"frame": drawn[0], "points_px": drawn[1], "frame_seen_from": there}


def _from_left(measured: Measured) -> Int64[np.ndarray, "n 3"]:
    """The points from left to right."""
    second, to_third = measured.value[:, 0], measured.value[:, 1]
    return _order(np.column_stack([np.zeros_like(second), second, second + to_third]))


def _order(from_left: Float64[np.ndarray, "n 3"]) -> Int64[np.ndarray, "n 3"]:
    return from_left.argsort(axis=1, kind="stable")
