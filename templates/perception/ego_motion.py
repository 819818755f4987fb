"""L1/Motion/Ego: rotation and translation of the camera between the first and the last photo.

`action_mapping` names the motion.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from action_mapping.naming import NamedMotion, agreed_rotation, agreed_translation
from action_mapping.reading import read_motion
from experts.signals import MotionKind
from templates.answers import Answer, Numbers
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.camera_motion import camera_moved, ends_of, frames_between
from templates.scene.intervals import intervals, picture_intervals
from templates.scene.offsets import POSITION_UNKNOWN, offsets
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene, angle_between_rad
from templates.scene.zooming import posed
from templates.settings import MaxTolerances
from templates.template import Template

_PHOTOS = 4
_MIN_PURITY = 0.8
"""Least share of the named component in the whole motion: a combination has no single name."""
_MIN_ROTATION_RAD = np.radians(3.0)
"""Smaller rotations have no name: a person does not see them."""
_MAX_JUDGED_DEG = 90.0
"""Nobody adds the parts of a larger rotation over several photos within the tolerance."""
_MAX_TURN_RAD = np.radians(150.0)
"""A camera that turned farther from the first photo at any time may have turned by more than half a round: by the poses
at the ends it turned the other way."""
_MAX_AWAY = 1.5
"""A camera that was so many times farther from the first photo than the last one is came back, or went round."""
_MIN_SHARE = 0.2
"""Least share of the clip after which a person is asked whether the camera moved."""
_MAX_TURN_WHILE_MOVING_RAD = np.radians(60.0)
"""A camera that pans or tilts farther shows hardly anything of the first photo in the last one."""
ROTATED_TOO_FAR = "the camera rotated too far for its translation to have one name"
_ROTATIONS = ("Pan Right", "Pan Left", "Tilt Up", "Tilt Down", "Roll CW", "Roll CCW")
_TRANSLATIONS = ("Truck Right", "Truck Left", "Pedestal Down", "Pedestal Up", "Dolly In", "Dolly Out")
"""Names of `action_mapping.primitives`, each before or after its opposite."""


@dataclass(frozen=True, kw_only=True)
class Intervals(Facts):
    """Photos of an interval of the camera path, in order of time."""

    frames: Int64[np.ndarray, "n k"]

    @property
    def ends(self) -> Int64[np.ndarray, "n 2"]:
        """The first and the last frame."""
        return ends_of(self.frames)


class IntervalTemplate(Template):
    """Common base: questions about four photos of an interval of the camera path."""

    version: str = "2"
    ability: str = "L1/Motion/Ego"
    facts: ClassVar[type[Facts]] = Intervals
    needs: frozenset[str] = frozenset({"camera_path"})

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Photos in order of time."""
        return Phrasing(media=tuple(Photo(frame=frame) for frame in fact["frames"]))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """An interval."""
        frames = pictures.interval(rng, _PHOTOS)
        return None if frames is None else {"frames": frames}


class _NamedMotion(IntervalTemplate):
    """Common base: the name of a motion."""

    names: ClassVar[tuple[str, ...]]
    """Of the motions that a choice offers."""
    paths: ClassVar[tuple[MotionKind, ...]]
    """Kinds of paths that determine the motion."""
    instead: ClassVar[Mapping[str, str]] = {"camera_path": "zooming_path"}
    reads: frozenset[str] = frozenset({"camera_path", "zooming_path", "gravity"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Intervals:
        """Random intervals of registered frames, four photos each."""
        scene = posed(scene)
        if scene.path is None or scene.path.motion not in self.paths:
            return Intervals.none()
        return Intervals(frames=intervals(scene, rng, count, _PHOTOS))

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """The right name, its opposite, and the two names of another axis: no option stands out as one of a pair."""
        if format != "choice":
            return None
        right, axes = answers.among(self.names), chance.order("motion", len(self.names) // 2)
        other = axes[axes != right[:, None] // 2].reshape(len(right), len(self.names) // 2 - 1)[:, 0]
        options = np.array(self.names)[np.column_stack([right, right ^ 1, 2 * other, 2 * other + 1])]
        return Offer.first_right(options, mistakes=("", "opposite direction", "another axis", "another axis"))


@dataclass(frozen=True, kw_only=True)
class CameraTurn(_NamedMotion):
    """Rotation of the camera. Measures the angle between the first and the last photo in degrees, and its name."""

    name: str = "camera_turn"
    version: str = "4"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    names: ClassVar[tuple[str, ...]] = _ROTATIONS
    paths: ClassVar[tuple[MotionKind, ...]] = ("rotation_only", "unresolved", "general")
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def measure(self, facts: Intervals, scene: Scene) -> Measured:
        """Angle and name; σ = rotation ⊕ principal point, which tilts the axis, ⊕ focal length, since its error changes
        angles estimated from pixels."""
        scene = posed(scene)
        first, last = (scene.world_from_cam(frame) for frame in facts.ends.T)
        angle = angle_between_rad(first[:, :3, :3], last[:, :3, :3])
        sigma_rad = np.hypot(scene.rotation_sigma_rad(facts.ends).max(axis=1), scene.turn_sigma_by_centre * angle)
        focal = scene.turn_sigma_by_focal
        reading = read_motion(first, last, scene.up_world)
        named = agreed_rotation(
            reading,
            sigma_rad=sigma_rad,
            threshold_rad=_MIN_ROTATION_RAD,
            turn_relative_sigma=focal,
            up_sigma_rad=_up_sigma_rad(scene, facts.ends),
        )
        between = scene.world_from_cam(frames_between(scene, facts.ends))
        turned = np.fmax.reduce(angle_between_rad(first[:, None, :3, :3], between[:, :, :3, :3]), axis=1)
        cases = {
            "rotation of a photo is not known": ~np.isfinite(angle),
            "the camera turned so far that its photos may tell the opposite": turned > _MAX_TURN_RAD,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.degrees(angle)[:, None],
            sigma=np.degrees(np.hypot(sigma_rad, focal * angle))[:, None],
            **_name(named, pan_tilt_roll_deg=np.degrees(reading.camera_axes[:, :3]).round(1)),
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The name of the rotation; or its angle up to 90° with a tolerance of 5°."""
        if format == "choice":
            return _labels(measured)
        limit = self.max_tolerances.rotation_deg
        numbers = Numbers(
            names=("angle",),
            value=measured.value,
            sigma=measured.sigma,
            tolerance=np.full_like(measured.value, limit),
            unit="deg",
            decimals=0,
        )
        cases = {
            "the rotation is smaller than its tolerance": measured.value[:, 0] <= limit,
            "the rotation is too large to be judged in degrees": measured.value[:, 0] > _MAX_JUDGED_DEG,
        }
        return Answers.of(numbers, first_reason(len(facts), cases))


@dataclass(frozen=True, kw_only=True)
class CameraTravel(_NamedMotion):
    """Translation of the camera. Measures its unit direction in the first photo's axes, and its name."""

    name: str = "camera_travel"
    version: str = "5"
    formats: tuple[FormatName, ...] = ("choice",)
    names: ClassVar[tuple[str, ...]] = _TRANSLATIONS
    paths: ClassVar[tuple[MotionKind, ...]] = ("general",)

    def measure(self, facts: Intervals, scene: Scene) -> Measured:
        """Direction and name; σ = systematic ⊕ rotation ⊕ positions over the length of the translation."""
        scene = posed(scene)
        first, last = (scene.world_from_cam(frame) for frame in facts.ends.T)
        angle = angle_between_rad(first[:, :3, :3], last[:, :3, :3])
        offset = offsets(scene, facts.ends)
        between = scene.world_from_cam(frames_between(scene, facts.ends))
        away = np.fmax.reduce(np.linalg.norm(between[:, :, :3, 3] - first[:, None, :3, 3], axis=2), axis=1)
        moved = first.copy()  # at the place of the last photo, turned as the first: the words ignore how it turns
        moved[:, :3, 3] = last[:, :3, 3]
        named = agreed_translation(
            read_motion(first, moved, scene.up_world),
            direction_sigma_rad=offset.pose_sigma_rad,
            position_sigma=offset.position_sigma,
            up_sigma_rad=_up_sigma_rad(scene, facts.ends),
        )
        cases = {
            POSITION_UNKNOWN: np.isnan(offset.length),
            ROTATED_TOO_FAR: angle > _MAX_TURN_WHILE_MOVING_RAD,
            "the translation is within its noise": offset.length <= 0,
            "the camera comes back, or goes round": away > _MAX_AWAY * offset.length,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=offset.direction,
            sigma=np.repeat(offset.sigma_rad[:, None], 3, axis=1),
            **_name(named, right_down_ahead=offset.direction.round(2)),
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The name of the translation."""
        return _labels(measured)


@dataclass(frozen=True, kw_only=True)
class CameraMoves(IntervalTemplate):
    """Whether the camera rotates or translates between the first and the last photo."""

    name: str = "camera_moves"
    version: str = "4"
    formats: tuple[FormatName, ...] = ("yes_no",)
    needs: frozenset[str] = frozenset()
    reads: frozenset[str] = SURFACE | {"image_tracks"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Intervals:
        """Random intervals of the path, or of the clip if there is none."""
        if scene.path is None:
            return Intervals(frames=picture_intervals(scene, rng, count, _PHOTOS))
        return Intervals(frames=intervals(scene, rng, count, _PHOTOS, least_share=_MIN_SHARE))

    def measure(self, facts: Intervals, scene: Scene) -> Measured:
        """Label "yes" or "no"."""
        return camera_moved(scene, facts.ends)

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The label."""
        return measured.as_label()


def _up_sigma_rad(scene: Scene, frames: Int64[np.ndarray, "n k"]) -> Float64[np.ndarray, "n"]:
    """Largest σ of up in the frames; 0 where up is unknown, because levelled axes are not used then."""
    return np.nan_to_num(scene.up_cam(frames)[1]).max(axis=1)


def _name(named: NamedMotion, **components: np.ndarray) -> dict[str, Any]:
    """The columns of `Measured` about the name of a motion. A mixed motion has none."""
    pure = named.purity >= _MIN_PURITY
    return {
        "label": np.where(pure, named.name, ""),
        "margin": np.where(pure, named.margin, np.nan),
        "evidence": {"not_named": named.reason, "named_in": named.basis, "purity": named.purity.round(2), **components},
    }


def _labels(measured: Measured) -> Answers:
    label, not_named = measured.as_label(), measured.evidence["not_named"]
    mixed = np.where(not_named == "", "a combination of several motions has no single name", not_named)
    return Answers.of(label, np.where(np.asarray(label.text) == "", mixed, ""))
