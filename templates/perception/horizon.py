"""L1/Orientation/Gravity: which drawn line is the horizon, and which drawn arrow points up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.intrinsics import Intrinsics
from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Arrow, Photo, Segment
from templates.offer import Offer
from templates.perception.nearest_option import MARKS, first_of, margin, named, nearest, right_and_others
from templates.perception.upright import upright_frames
from templates.question import FormatName, Phrasing
from templates.scene.attitude import (
    UP_UNKNOWN,
    Attitude,
    attitude,
    elevation_rad,
    sigma_rad,
    up_in_photo_rad,
    up_of,
)
from templates.scene.scene import Scene
from templates.template import Template

_TRIES = 6
"""Photos drawn for each that is proposed: not all show the horizon, or up that leans."""
Tilt = tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]
"""Roll and pitch of n cameras in degrees."""
_CAMERA_UNKNOWN = "the field of view is not known"
_BORDER = 0.04
"""Least distance of lines and arrows from the edges of the photo, as a share of its sides."""


@dataclass(frozen=True, kw_only=True)
class Lines(Facts):
    """A photo with four lines."""

    frame: Int64[np.ndarray, "n"]
    lines_px: Float64[np.ndarray, "n 4 2 2"]
    """Left and right end of each."""


_LINE_ERROR, _LINE_STEP = 0.04, 0.1
"""Largest error of the right line, and least difference between its error and that of any other line, as shares of the
vertical field of view."""


@dataclass(frozen=True, kw_only=True)
class HorizonLine(Template):
    """Which of four drawn lines is the horizon. Measures how far each line lies from it: the root-mean-square elevation
    of the rays through its ends and its middle, in degrees."""

    name: str = "horizon_line"
    version: str = "1"
    ability: str = "L1/Orientation/Gravity"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Lines
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    needs: frozenset[str] = frozenset({"gravity"})
    reads: frozenset[str] = frozenset({"gravity", "camera_path", "calibration"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Lines:
        """The horizon and three mistaken ones, in random order."""
        frames, (camera, _) = upright_frames(scene), scene.camera
        if camera is None or not len(frames):
            return Lines.none()
        frame = rng.choice(frames, _TRIES * count)
        held = attitude(scene, frame)
        tilts = np.stack([(held.roll, held.pitch), *_mistaken(held).values(), *_misjudged(held, rng)])
        ups = up_of(*tilts.transpose(1, 2, 0))
        lines = _horizons_px(camera, ups)
        apart = _error_deg(camera, ups, lines) >= _LINE_STEP * np.degrees(camera.vfov_rad)
        m = range(apart.shape[1])
        apart[:, m, m] = _within(scene, lines).all(axis=2)
        rows, chosen = right_and_others(apart, rng)
        return Lines(frame=frame[rows][:count], lines_px=lines[rows[:, None], chosen][:count])

    def measure(self, facts: Lines, scene: Scene) -> Measured:
        """The line with the smallest error."""
        up, up_sigma = scene.up_cam(facts.frame)
        camera, focal_sigma = scene.camera
        if camera is None:
            return Measured.none(len(facts), _CAMERA_UNKNOWN, len(MARKS))
        points = _with_middle(facts.lines_px)
        sigma = sigma_rad(lambda camera, up: elevation_rad(camera, up, points), camera, focal_sigma, up, up_sigma)
        elevation = np.degrees(elevation_rad(camera, up, points))
        error, sigma = _rms(elevation), np.degrees(_rms(sigma))
        most, step = (share * np.degrees(camera.vfov_rad) for share in (_LINE_ERROR, _LINE_STEP))
        label, cases = nearest(error, most, 0.9 * step)
        traps = {
            name: named(_error_deg(camera, up_of(*tilt)[:, None], facts.lines_px)[:, 0], most)
            for name, tilt in _mistaken(attitude(scene, facts.frame)).items()
        }
        return Measured(
            why=first_reason(len(facts), {UP_UNKNOWN: np.isnan(up).any(axis=1), **cases}),
            value=error,
            sigma=sigma,
            label=label,
            margin=margin(error, sigma),
            evidence={"line_off_by_deg": error.min(axis=1).round(2), "lines_off_deg": error.round(1)},
            traps=traps | _misjudged_lines(elevation, [label, *traps.values()]),
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the line."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with four numbered lines."""
        ends = [tuple(map(tuple, line)) for line in fact["lines_px"]]
        marks = tuple(Segment(text=text, points_px=line) for text, line in zip(MARKS, ends, strict=True))
        return Phrasing(media=(Photo(frame=fact["frame"], marks=marks),))

    def placed(self, facts: Facts, scene: Scene) -> Facts:
        """The facts as they are: lines are drawn anywhere."""
        return facts


def _mistaken(held: Attitude) -> dict[str, Tilt]:
    """Roll and pitch as typical mistakes have them."""
    level = np.zeros(len(held))
    return {
        "the camera taken as level": (level, level),
        "looking up and down confused": (held.roll, -held.pitch),
        "rolled to the other side": (-held.roll, held.pitch),
        "the roll overlooked": (level, held.pitch),
    }


def _misjudged(held: Attitude, rng: np.random.Generator) -> list[Tilt]:
    """Pitch too large or too small by 6° to 14°, or roll by 14° to 25°."""
    (more, less), (right, left) = rng.uniform(6, 14, (2, len(held))), rng.uniform(14, 25, (2, len(held)))
    pitches, rolls = (held.pitch + more, held.pitch - less), (held.roll + right, held.roll - left)
    return [*((held.roll, pitch) for pitch in pitches), *((roll, held.pitch) for roll in rolls)]


def _misjudged_lines(elevation: Float64[np.ndarray, "n 4 3"], labels: list[Texts]) -> dict[str, Texts]:
    """By the kind of its error, the first line that has no name yet. `elevation`: of left end, right end and middle."""
    left, right = elevation[..., 0], elevation[..., 1]
    height, slope = (left + right) / 2, (left - right) / 2
    free = ~np.any([np.array(MARKS) == each[:, None] for each in labels], axis=0)
    parallel = np.abs(height) > np.abs(slope)
    kinds = {
        "too high": parallel & (height > 0),
        "too low": parallel & (height < 0),
        "leaning to the right": ~parallel & (slope > 0),
        "leaning to the left": ~parallel & (slope < 0),
    }
    return {name: first_of(kind & free) for name, kind in kinds.items()}


def _horizons_px(camera: Intrinsics, ups: Float64[np.ndarray, "n m 3"]) -> Float64[np.ndarray, "n m 2 2"]:
    """Left and right end of the horizon of each up, near the edges of the photo."""
    half = (0.5 - _BORDER) * camera.width_px / camera.fx_px * np.array([-1, 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        y = -(ups[..., 2:] + ups[..., :1] * half) / ups[..., 1:2]
    x = np.broadcast_to(half, y.shape)
    return camera.project(np.stack([x, y, np.ones_like(y)], axis=-1))


def _within(scene: Scene, points_px: Float64[np.ndarray, "*n 2"]) -> Bool[np.ndarray, "*n"]:
    size = np.array([scene.clip.width_px, scene.clip.height_px])
    with np.errstate(invalid="ignore"):
        return np.asarray(
            ((points_px >= (_BORDER - 0.01) * size) & (points_px <= (1.01 - _BORDER) * size)).all(axis=-1)
        )


def _error_deg(
    camera: Intrinsics, ups: Float64[np.ndarray, "n u 3"], lines_px: Float64[np.ndarray, "n m 2 2"]
) -> Float64[np.ndarray, "n u m"]:
    """Error of each line as the horizon of each up."""
    rays = camera.rays(_with_middle(lines_px))
    return _rms(np.degrees(np.arcsin(np.clip(np.einsum("nmpi,nui->nump", rays, ups), -1, 1))))


def _with_middle(lines_px: Float64[np.ndarray, "n m 2 2"]) -> Float64[np.ndarray, "n m 3 2"]:
    return np.concatenate([lines_px, lines_px.mean(axis=2, keepdims=True)], axis=2)


def _rms(x: Float64[np.ndarray, "*n k"]) -> Float64[np.ndarray, "*n"]:
    return np.asarray(np.sqrt(np.mean(x**2, axis=-1)))


@dataclass(frozen=True, kw_only=True)
class Arrows(Facts):
    """A photo with four arrows from one point."""

    frame: Int64[np.ndarray, "n"]
    from_px: Float64[np.ndarray, "n 2"]
    tips_px: Float64[np.ndarray, "n 4 2"]


_ARROW_DEG, _ARROW_STEP_DEG = 5.0, 15.0
"""Largest error of the right arrow, and least difference between its error and that of any other arrow."""
_LEAST_ANGLE_DEG = 20.0
"""Least angle between proposed arrows."""
_LEAST_LEAN_DEG = 10.0
"""Least angle between up in the world and up in the photo: else the habit of drawing up upwards is right."""
_UP_IN_PHOTO = "up in the world is up in the photo"
_LENGTH = 0.11
"""Of an arrow, as a share of the diagonal."""


@dataclass(frozen=True, kw_only=True)
class UpArrow(Template):
    """Which of four drawn arrows points up in the world. Measures the angle between each arrow and up in the photo, in
    degrees."""

    name: str = "up_arrow"
    version: str = "1"
    ability: str = "L1/Orientation/Gravity"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Arrows
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_UP_IN_PHOTO})
    needs: frozenset[str] = frozenset({"gravity"})
    reads: frozenset[str] = frozenset({"gravity", "camera_path", "calibration"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Arrows:
        """Random points at which up leans; the right arrow, its mirror image and two other mistakes in random order."""
        frames, (camera, _) = upright_frames(scene), scene.camera
        if camera is None or not len(frames):
            return Arrows.none()
        frame, size = rng.choice(frames, _TRIES * count), np.array([scene.clip.width_px, scene.clip.height_px])
        length = _LENGTH * scene.diagonal_px
        border = _BORDER * size + length
        from_px = border + rng.random((len(frame), 2)) * (size - 2 * border)
        up = scene.up_cam(frame)[0]
        lean = np.degrees(up_in_photo_rad(camera, up, from_px))
        angles = np.column_stack([lean, *_mistaken_leans(lean, camera, from_px).values()])
        apart = _turn_deg(angles[:, :, None], angles[:, None]) >= _LEAST_ANGLE_DEG
        m = range(apart.shape[1])
        apart[:, m, m] = np.abs(lean)[:, None] >= _LEAST_LEAN_DEG
        rows, chosen = right_and_others(apart, rng, first=2)
        shown = np.radians(angles[rows[:, None], chosen])
        tips = from_px[rows, None] + length * np.stack([np.sin(shown), -np.cos(shown)], axis=-1)
        return Arrows(frame=frame[rows][:count], from_px=from_px[rows][:count], tips_px=tips[:count])

    def measure(self, facts: Arrows, scene: Scene) -> Measured:
        """The arrow with the smallest angle."""
        up, up_sigma = scene.up_cam(facts.frame)
        camera, focal_sigma = scene.camera
        if camera is None:
            return Measured.none(len(facts), _CAMERA_UNKNOWN, len(MARKS))
        lean = np.degrees(up_in_photo_rad(camera, up, facts.from_px))
        sigma = sigma_rad(
            lambda camera, up: up_in_photo_rad(camera, up, facts.from_px), camera, focal_sigma, up, up_sigma
        )
        dx, dy = np.moveaxis(facts.tips_px - facts.from_px[:, None], -1, 0)
        angles = np.degrees(np.arctan2(dx, -dy))
        error = _turn_deg(angles, lean[:, None])
        sigma = np.tile(np.degrees(sigma)[:, None], len(MARKS))
        label, cases = nearest(error, _ARROW_DEG, _ARROW_STEP_DEG)
        cases = {
            UP_UNKNOWN: np.isnan(up).any(axis=1),
            **cases,
            _UP_IN_PHOTO: np.abs(lean) < _LEAST_LEAN_DEG,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=error,
            sigma=sigma,
            label=label,
            margin=margin(error, sigma),
            evidence={"up_leans_deg": lean.round(1), "arrows_lean_deg": angles.round(1)},
            traps={
                name: named(_turn_deg(angles, other[:, None]), _ARROW_DEG)
                for name, other in _mistaken_leans(lean, camera, facts.from_px).items()
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the arrow."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with four numbered arrows."""
        start = tuple(fact["from_px"])
        marks = tuple(
            Arrow(text=text, points_px=(start, tuple(tip))) for text, tip in zip(MARKS, fact["tips_px"], strict=True)
        )
        return Phrasing(media=(Photo(frame=fact["frame"], marks=marks),))

    def placed(self, facts: Facts, scene: Scene) -> Facts:
        """The facts as they are: arrows are drawn anywhere."""
        return facts


def _mistaken_leans(
    lean: Float64[np.ndarray, "n"], camera: Intrinsics, from_px: Float64[np.ndarray, "n 2"]
) -> dict[str, Float64[np.ndarray, "n"]]:
    """By typical mistake, the direction taken for up, in degrees clockwise from the upper edge of the photo."""
    outward = from_px - [camera.cx_px, camera.cy_px]
    return {
        "leaning to the other side": -lean,
        "towards the upper edge of the photo": 0 * lean,
        "away from the middle of the photo": np.degrees(np.arctan2(outward[:, 0], -outward[:, 1])),
        "along the horizon to the right": lean + 90,
        "along the horizon to the left": lean - 90,
        "down": lean + 180,
    }


def _turn_deg(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angle between directions."""
    return np.asarray(np.abs((a - b + 180) % 360 - 180))
