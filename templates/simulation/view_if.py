"""L3/Causal Reasoning/Dynamics: is a point within the borders of the photo after the camera has turned?"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.intrinsics import Intrinsics
from templates.answers import Answer, Label
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.borders import after_turn, border_angle_rad
from templates.scene.elsewhere import elsewhere, on_mover
from templates.scene.intervals import places
from templates.scene.marks import frames_with_surface, markable, spread_frames
from templates.scene.misleading import misleading_first, taking_turns
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import partners
from templates.template import Template

_FRAMES, _TRIES = 12, 12
_TURNS_DEG = np.arange(10, 65, 5)
"""From the photo with the mark, ..."""
_TURNS_THERE_DEG = np.arange(15, 135, 15)
"""... and from another one."""
_LEAST_RAD = np.radians(3.0)
"""Least angle between a point and the border of the photo ..."""
_LEAST_SIGMAS = 3.0
"""... also in σ."""
_OTHERWISE = 0.75
"""Least share of facts for which a turn to the other side has another answer."""
_LARGER = 0.5
"""Least share of facts in which the larger one of two angles brings the point into view."""
_MISTAKES = ("", "turned to the other side", "turned by the wrong angle", "turned by the wrong angle to the other side")
_OWN_UP = np.array([0.0, -1.0, 0.0])


@dataclass(frozen=True, kw_only=True)
class PointAndTurn(Facts):
    """A point of a photo, and turns on the spot of the camera of that photo, or of another one."""

    frame: Int64[np.ndarray, "n"]
    point_px: Float64[np.ndarray, "n 2"]
    frame_turned: Int64[np.ndarray, "n"]
    """The photo whose camera turns."""
    turn_deg: Int64[np.ndarray, "n"]
    """To the right; negative: to the left."""
    other_deg: Int64[np.ndarray, "n"]
    """Another angle; 0 for none."""


@dataclass(frozen=True, kw_only=True)
class ViewIf(Template):
    """Whether a point is in view after a turn on the spot, and after which of four turns it is. Measures the angle
    between the point and the nearest border of the photo, positive inside, in rad: after the turn, after the same turn
    to the other side, and after turns by another angle to the same and to the other side."""

    name: str = "view_if"
    version: str = "1"
    ability: str = "L3/Causal Reasoning/Dynamics"
    formats: tuple[FormatName, ...] = ("yes_no", "choice")
    facts: ClassVar[type[Facts]] = PointAndTurn
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"calibration", "gravity", "image_tracks", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PointAndTurn:
        """Random points and turns; equal turns lead to yes and to no as often, and a turn to the other side mostly to
        another answer."""
        drawn = _drawn(scene, rng, _TRIES * count)
        measured = self.measure(drawn, scene)
        good = measured.why == ""
        drawn, inside = drawn.take(good), measured.value[good] > 0
        there, turns = drawn.other_deg > 0, _turns(drawn)
        brings = np.take_along_axis(turns, inside.argmax(axis=1)[:, None], axis=1)[:, 0]
        larger, one = np.abs(brings) == np.abs(turns).max(axis=1), inside.sum(axis=1) == 1
        drawn = _half_right(drawn, brings, rng)
        yes = np.where(there, drawn.turn_deg == brings, inside[:, 0])
        parts = [
            _among(~there, inside[:, 0] != inside[:, 1], rng, _OTHERWISE),
            _among(there & one, larger, rng, _LARGER),
        ]
        rows = rng.permutation(np.concatenate(parts))
        kinds = [f"{turn} {other > 0} {yes}" for turn, other, yes in zip(
            drawn.turn_deg[rows].tolist(), drawn.other_deg[rows].tolist(), yes[rows].tolist(), strict=True
        )]  # fmt: skip
        return drawn.take(rows[taking_turns(np.array(kinds, dtype=np.str_))][:count])

    def measure(self, facts: PointAndTurn, scene: Scene) -> Measured:
        """Angles to the border; σ: direction of the point from that camera ⊕ focal length. A turn about the plumb line
        must lead to the same."""
        count, (camera, focal_sigma) = len(facts), scene.camera
        if camera is None:
            return Measured.none(count, "the focal length is not known", components=4)
        there, own_up = facts.frame != facts.frame_turned, np.tile(_OWN_UP, (count, 1))
        turns = np.where(_turns(facts) == 0, np.nan, np.radians(_turns(facts)))
        from_there, ray_sigma, outliers = _from_there(facts, scene)

        def angles(camera: Intrinsics, up_cam: np.ndarray) -> np.ndarray:
            rays = np.where(there[:, None], from_there, camera.rays(facts.point_px))
            return border_angle_rad(camera, after_turn(rays, up_cam, turns))

        angle, plumb = (angles(camera, up_cam) for up_cam in (own_up, scene.up_cam(facts.frame_turned)[0]))
        longer = replace(camera, fx_px=camera.fx_px * (1 + focal_sigma), fy_px=camera.fy_px * (1 + focal_sigma))
        sigma = np.hypot(np.where(there, ray_sigma, 0.0)[:, None], angles(longer, own_up) - angle)
        with np.errstate(invalid="ignore", divide="ignore"):
            near = np.abs(angle) < np.maximum(_LEAST_RAD, _LEAST_SIGMAS * sigma)
            near &= np.column_stack([np.full(count, True), *[facts.other_deg > 0] * 3])
            margin = np.abs(angle[:, 0]) / sigma[:, 0]
            otherwise = (plumb * angle < 0).any(axis=1)
        cases = {
            "the place of the marked point is not known": ~np.isfinite(angle[:, 0] + sigma[:, 0]),
            "the marked point moves": there & on_mover(scene, facts.frame, facts.point_px),
            "the point comes too close to the border of the photo": near.any(axis=1),
            "a turn about the plumb line has another result": otherwise,
        }
        inside = np.where(angle > 0, "yes", "no")
        return Measured(
            why=first_reason(count, cases),
            value=angle,
            sigma=sigma,
            label=inside[:, 0],
            margin=margin,
            outlier_probability=np.where(there, outliers, 0.0),
            evidence={
                "beyond_border_deg": np.degrees(-angle[:, 0]).round(1),
                "inside_deg": np.nan_to_num(np.degrees(angle)).round(1),
                "turns_deg": _turns(facts),
            },
            traps={"turned to the other side": inside[:, 1]},
        )

    def answer(self, format: FormatName, facts: PointAndTurn, measured: Measured) -> Answers:
        """Yes or no, or the turn after which the point is in view."""
        if format == "yes_no":
            return Answers.of(measured.as_label(), np.full(len(facts), ""))
        inside, turns = measured.value > 0, _turns(facts)
        with np.errstate(invalid="ignore", divide="ignore"):
            margin = (np.abs(measured.value) / measured.sigma).min(axis=1)
        text = np.take_along_axis(turns, inside.argmax(axis=1)[:, None], axis=1)[:, 0].astype(np.str_)
        cases = {
            "no second angle": facts.other_deg == 0,
            "not just one turn brings the point into view": inside.sum(axis=1) != 1,
        }
        label = Label(text=text, margin=margin, outlier_probability=measured.outliers)
        return Answers.of(label, first_reason(len(facts), cases))

    def offer(self, format: FormatName, facts: PointAndTurn, answers: Answers, chance: Chance) -> Offer | None:
        """Turns by two angles, each to both sides: no option stands out."""
        if format != "choice":
            return None
        turns, right = _turns(facts), answers.labels()
        at = (turns.astype(np.str_) == right[:, None]).argmax(axis=1)
        partner = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])[at]
        options = np.take_along_axis(turns, partner, axis=1).astype(np.str_)
        return Offer.first_right(options, answers.why, _MISTAKES)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A photo with the point, and that of the camera which turns if it is another one."""
        there = fact["frame"] != fact["frame_turned"]
        photos = [Photo.marked(fact["frame"], {"P": fact["point_px"]}), Photo(frame=fact["frame_turned"])]
        media = tuple(photos if there else photos[:1])
        if format == "yes_no":
            turn = {"angle": f"{abs(fact['turn_deg'])}", "side": "right" if fact["turn_deg"] > 0 else "left"}
            return Phrasing(media=media, wording=f"yes_no.{'there' if there else 'here'}", values=turn)
        assert offer is not None
        return Phrasing(media=media, options=tuple(_in_words(int(value)) for value in offer.values(0)))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """A corner, its own or another frame, and random turns."""
        if (drawn := pictures.points(rng, 1)) is None:
            return None
        frame, (point,) = drawn
        other = pictures.other_frame(frame, rng) if rng.random() < 0.5 else None
        turns = rng.permutation(_TURNS_DEG if other is None else _TURNS_THERE_DEG)[:2].tolist()
        return {
            "frame": frame,
            "point_px": point,
            "frame_turned": frame if other is None else other,
            "turn_deg": int(rng.choice([-1, 1])) * turns[0],
            "other_deg": 0 if other is None else turns[1],
        }


def _among(
    asked: Bool[np.ndarray, "n"], misled: Bool[np.ndarray, "n"], rng: np.random.Generator, least_share: float
) -> Int64[np.ndarray, "k"]:
    """Some of the rows that are asked, as `misleading_first` chooses them."""
    return np.asarray(np.flatnonzero(asked)[misleading_first(misled[asked], rng, least_share)])


def _half_right(facts: PointAndTurn, brings: Int64[np.ndarray, "n"], rng: np.random.Generator) -> PointAndTurn:
    """The facts; of those with a second angle, about half ask about the turn that brings the point into view."""
    swapped = (facts.other_deg > 0) & (rng.random(len(facts)) < 0.5)
    both = np.abs(facts.turn_deg) + facts.other_deg
    return replace(
        facts,
        turn_deg=np.where(swapped, brings, facts.turn_deg),
        other_deg=np.where(swapped, both - np.abs(brings), facts.other_deg),
    )


def _drawn(scene: Scene, rng: np.random.Generator, count: int) -> PointAndTurn:
    """Random points and turns, half of them from where another photo was taken."""
    frames = places(scene, _FRAMES)
    own = spread_frames(frames_with_surface(scene), _FRAMES)
    frame, xy = markable(scene, np.union1d(frames, np.array(own, dtype=np.int64)).tolist())
    if not len(frame):
        return PointAndTurn.none()
    rows = rng.integers(len(frame), size=count)
    frame, xy = frame[rows], xy[rows]
    seen = np.union1d(frames, frame) if len(frames) else frame[:0]
    turned = np.where(rng.random(count) < 0.5, partners(scene, seen, frame, rng), frame)
    there, side = turned != frame, rng.choice([-1, 1], size=count)
    a, b = rng.integers([[len(_TURNS_THERE_DEG)], [len(_TURNS_THERE_DEG) - 1]], size=(2, count))
    angles = _TURNS_THERE_DEG[[a, (a + 1 + b) % len(_TURNS_THERE_DEG)]]
    return PointAndTurn(
        frame=frame,
        point_px=xy,
        frame_turned=turned,
        turn_deg=side * np.where(there, angles[0], rng.choice(_TURNS_DEG, size=count)),
        other_deg=np.where(there, angles[1], 0),
    )


def _from_there(
    facts: PointAndTurn, scene: Scene
) -> tuple[Float64[np.ndarray, "n 3"], Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """Directions of the points from the cameras that turn, in their axes before the turn; their σ, and the outlier
    probabilities of the points."""
    surface = scene.surface(facts.frame, facts.point_px)
    along = surface.range * surface.range_relative_sigma
    seen = elsewhere(scene, facts.frame, facts.frame_turned, surface.xyz_cam, 0 * along, along, level=False)
    x, z = np.sin(seen.azimuth_rad), np.cos(seen.azimuth_rad)
    flat = np.cos(seen.elevation_rad)
    rays = np.column_stack([flat * x, -np.sin(seen.elevation_rad), flat * z])
    return rays, seen.from_axis_sigma_rad, surface.outlier_probability


def _turns(facts: PointAndTurn) -> Int64[np.ndarray, "n 4"]:
    """To the right, in degrees."""
    return np.column_stack([facts.turn_deg, -facts.turn_deg, facts.other_deg, -facts.other_deg])


def _in_words(turn_deg: int) -> str:
    return f"{abs(turn_deg)}° to the {'right' if turn_deg > 0 else 'left'}"
