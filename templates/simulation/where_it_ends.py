"""L3/Sequential Planning/Route: which photo was taken where somebody ends who follows directions from another one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Complex128, Float64, Int64

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.nearest_option import MARKS, margin, named, nearest, right_and_others
from templates.question import FormatName, Phrasing
from templates.scene.intervals import places
from templates.scene.legs import legs, on_level, random_routes
from templates.scene.level_axes import NOT_UPRIGHT, level_axes
from templates.scene.offsets import POSITION_UNKNOWN
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import scene_distance, shared_views
from templates.template import Template

_PLACES = 20
_LEGS = (2, 3)
_SURPLUS = 10
"""Routes that are drawn for each fact."""
_MIN_SHARE = 0.2
"""Least share of its view that a photo has in common with the next one of the route."""
_SEEN_SHARE = 0.1
"""Least share that each option has in common with photo 1."""
_MIN_TRAVEL = 0.12
"""Least length of a leg over the distance of the scene."""
_ROUND_M, _ROUND_DEG = 0.1, 15.0
_OFF, _APART = 0.08, 0.24
"""Largest distance of the right place from the end of the directions, and least difference to the next place, over the
distance of the scene."""
_APART_M = 0.3
"""Least difference to the next place in metres: more than directions in round numbers are off."""
_MAX_SLOPE = 0.35
_MOST_TURN_DEG = 135.0
"""Nobody is sent on a leg to turn around after it."""
_SURE = 0.99
"""Least P(right) of an answer that is proposed."""


@dataclass(frozen=True, kw_only=True)
class Directions(Facts):
    """A photo, steps from its place, and four photos of which one was taken at the end."""

    frame: Int64[np.ndarray, "n"]
    steps: Float64[np.ndarray, "n s 2"]
    """Turns to the right in degrees, the first from the heading of the camera; and metres. NaN ends a row."""
    frames_options: Int64[np.ndarray, "n 4"]


@dataclass(frozen=True, kw_only=True)
class WhereItEnds(Template):
    """Which of four photos was taken where directions end. Measures the distances of the photos from that end, in
    metres."""

    name: str = "where_it_ends"
    version: str = "2"
    ability: str = "L3/Sequential Planning/Route"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Directions
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "gravity"})
    reads: frozenset[str] = SURFACE | {"gravity"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Directions:
        """Routes through photos that share their view, with places near the ends of typical mistakes, and others."""
        frames = places(scene, _PLACES)
        if not len(frames) or not np.isfinite(scene.metre_relative_sigma):
            return Directions.none()
        views = shared_views(scene, frames)
        with np.errstate(invalid="ignore"):
            far = views.travel >= _MIN_TRAVEL
        follows = far & far.T & (np.minimum(views.share, views.share.T) >= _MIN_SHARE)
        seen = np.maximum(views.share, views.share.T) >= _SEEN_SHARE
        every = [self._facts(scene, frames, seen, follows, k, rng, _SURPLUS * count) for k in _LEGS]
        facts = Directions.from_json([row for part in every for row in part.to_json()])
        measured = self.measure(facts, scene)
        sure = np.flatnonzero((measured.why == "") & (measured.as_label().p_right() >= _SURE))
        return facts.take(rng.permutation(sure)[:count])

    def _facts(
        self,
        scene: Scene,
        frames: Int64[np.ndarray, "f"],
        seen: np.ndarray,
        follows: np.ndarray,
        count: int,
        rng: np.random.Generator,
        most: int,
    ) -> Directions:
        """Directions of `count` legs."""
        routes = random_routes(follows, count + 1, rng, most)
        found = legs(scene, frames[routes])
        steps = np.stack(
            [
                _ROUND_DEG * np.round(np.degrees(found.turn_rad) / _ROUND_DEG),
                _ROUND_M * np.round(found.length / _ROUND_M),
            ],
            axis=2,
        ).round(1)
        level = (np.nan_to_num(found.slope, nan=np.inf) <= _MAX_SLOPE).all(axis=1) & (steps[..., 1] > 0).all(axis=1)
        level &= (np.abs(steps[:, 1:, 0]) <= _MOST_TURN_DEG).all(axis=1)
        routes, steps = routes[level], steps[level]
        at = on_level(scene, scene.world_from_cam(frames)[:, :3, 3])[0]
        unit = scene_distance(scene, frames[routes[:, 0]])
        apart = np.abs(at[:, None] - at)[None] >= _APART * unit[:, None, None]
        choosable = seen[routes[:, 0]]
        choosable[np.arange(len(routes)), routes[:, 0]] = False
        # The right place comes first, then the place before the last leg, then all others.
        first = np.column_stack([routes[:, -1], routes[:, -2]])
        keys = rng.random((len(routes), len(frames)))
        np.put_along_axis(keys, first, np.array([[-2.0, -1.0]]).repeat(len(routes), axis=0), axis=1)
        order = keys.argsort(axis=1)
        rows = np.arange(len(routes))[:, None, None]
        candidates = apart[rows, order[:, :, None], order[:, None, :]]
        diagonal = np.eye(len(frames), dtype=bool)
        usable = np.take_along_axis(choosable, order, axis=1)
        usable[:, 0] = True
        chosen_rows, chosen = right_and_others(np.where(diagonal, usable[:, :, None], candidates), rng)
        options = np.take_along_axis(order[chosen_rows], chosen, axis=1)
        return Directions(
            frame=frames[routes[chosen_rows, 0]], steps=steps[chosen_rows], frames_options=frames[options]
        )

    def measure(self, facts: Directions, scene: Scene) -> Measured:
        """The photo nearest to the end; σ: positions, heading, unit of length, and what is systematic."""
        frames = np.column_stack([facts.frame, facts.frames_options])
        poses = scene.world_from_cam(frames)
        at, _ = on_level(scene, poses[..., :3, 3])
        ahead, axes = on_level(scene, poses[:, 0, :3, 2])[0], level_axes(scene, facts.frame)
        with np.errstate(divide="ignore", invalid="ignore"):
            plan = (at[:, 1:] - at[:, :1]) / (ahead / np.abs(ahead))[:, None]
            error = np.abs(plan - _end(facts.steps)[:, None])
            own_sigma = scene.offset_sigma(frames[:, :2])[:, None]
            heading = np.hypot(scene.relative_rotation_sigma_rad(frames), axes.heading_sigma_rad)[:, None]
            metre = np.hypot(scene.metre_relative_sigma, scene.travel_relative_sigma)
            relative = np.sqrt(scene.direction_sigma_rad**2 + heading**2 + metre**2)
            sigma = np.hypot(own_sigma, relative * np.abs(plan).max(axis=1, keepdims=True)).repeat(len(MARKS), axis=1)
        unit = scene_distance(scene, facts.frame)
        per_unit = error / unit[:, None]
        number, cases = nearest(per_unit, _OFF, 0.9 * (_APART - _OFF))
        least, next_least = np.sort(error, axis=1)[:, :2].T
        mirrored, ahead_only = facts.steps * [-1, 1], facts.steps * [0, 1]
        ends = {
            "left and right exchanged": _end(mirrored),
            "turns left out": _end(ahead_only),
            "last leg left out": _end(facts.steps, leave_out=1),
        }
        return Measured(
            why=first_reason(
                len(facts),
                {
                    "lengths are not known in metres": np.full(len(facts), not np.isfinite(scene.metre_relative_sigma)),
                    POSITION_UNKNOWN: np.isnan(poses).any(axis=(1, 2, 3)),
                    NOT_UPRIGHT: ~axes.upright,
                    "the distance of the scene is not known": np.isnan(per_unit).any(axis=1),
                    **cases,
                    "two options are nearly as near": ~(next_least - least >= _APART_M),
                },
            ),
            value=error,
            sigma=sigma,
            label=number,
            margin=margin(error, sigma),
            evidence={
                "end_m": np.column_stack([-(end := _end(facts.steps)).imag, end.real]).round(2),
                "off_m": error.round(2),
            },
            traps={
                name: named(np.nan_to_num(np.abs(plan - end[:, None]) / unit[:, None], nan=np.inf), _OFF)
                for name, end in ends.items()
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the option."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The photo from which it starts; the options are photos."""
        return Phrasing(
            media=(Photo(frame=fact["frame"]),),
            values={"directions": ", then ".join(_step(*step) for step in fact["steps"])},
            options=tuple(Photo(frame=frame) for frame in fact["frames_options"]),
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Five frames, and any steps."""
        frames = pictures.distinct_frames(rng, 1 + len(MARKS))
        if frames is None:
            return None
        steps = [
            [_ROUND_DEG * int(rng.integers(-11, 13)), round(_ROUND_M * int(rng.integers(2, 20)), 1)]
            for _ in range(int(rng.choice(_LEGS)))
        ]
        return {"frame": frames[0], "steps": steps, "frames_options": [*frames[1:]]}


def _end(steps: Float64[np.ndarray, "n s 2"], leave_out: int = 0) -> Complex128[np.ndarray, "n"]:
    """Where steps end, in metres: ahead of the start is real, to the left is imaginary. The last steps may be left
    out."""
    known = ~np.isnan(steps[..., 0])
    walked = known & (np.arange(steps.shape[1]) < known.sum(axis=1, keepdims=True) - leave_out)
    heading = -np.radians(np.cumsum(np.where(walked, steps[..., 0], 0.0), axis=1))
    return np.asarray((np.where(walked, steps[..., 1], 0.0) * np.exp(1j * heading)).sum(axis=1))


def _step(turn_deg: float, metres: float) -> str:
    """In words."""
    way = f"go {metres:g} m"
    if turn_deg == 0:
        return f"{way} straight ahead"
    if abs(turn_deg) == 180:
        return f"turn around and {way}"
    return f"turn {'right' if turn_deg > 0 else 'left'} by {abs(turn_deg):g}° and {way}"
