"""L4/Goal-Driven Execution/Robotic Arm: the motion of a gripper or hand from photo 1 to photo 2 as a vector of seven
numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from action_mapping.primitives import COMPONENTS
from templates.agent.hand_does import TwoPhotosOfGrip
from templates.agent.legs import ROTATES
from templates.answers import Answer, Numbers
from templates.answers.answers import Answers
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.effector import (
    BETWEEN,
    CLOSED,
    HIDDEN,
    NO_CAMERA,
    OUT_OF_VIEW,
    effector_of,
    fingers_hidden,
    grip,
    in_view,
    motions,
)
from templates.scene.episode import Episode
from templates.scene.misleading import taking_turns
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template
from templates.world import World

NAMES = ("dx", "dy", "dz", "d_roll", "d_pitch", "d_yaw", "gripper")
"""As the published action has them."""
_TILT, _PAN_AND_ROLL = COMPONENTS.index("tilt_rad"), [COMPONENTS.index("pan_rad"), COMPONENTS.index("roll_rad")]
_ORDER = [COMPONENTS.index(name) for name in ("truck", "pedestal", "dolly", "roll_rad", "tilt_rad", "pan_rad")]
_LEAST_MOVE = 3.0
"""Least length of a move, in tolerances: no motion must not be right."""
_VISIBLE = 0.05
"""Least length of a move, in distances from the camera to the wrist."""
_TRIES = 10


@dataclass(frozen=True, kw_only=True)
class ArmVectors(Template):
    """Move in cm, turn in degrees, and 1 for a gripper that is closed at the end, in the axes of photo 1's camera.
    Measures these seven numbers."""

    name: str = "arm_vectors"
    version: str = "2"
    ability: str = "L4/Goal-Driven Execution/Robotic Arm"
    formats: tuple[FormatName, ...] = ("json",)
    world: ClassVar[type[World]] = Episode
    facts: ClassVar[type[Facts]] = TwoPhotosOfGrip
    needs: frozenset[str] = frozenset({"effector_path"})
    reads: frozenset[str] = frozenset({"effector_path", "camera_path", "calibration"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, episode: Episode, rng: np.random.Generator, count: int) -> Facts:
        """Pairs of photos with a long move; the state at the end takes turns."""
        known, path = grip(episode), episode.effector
        clear = known.frames[known.state != BETWEEN]
        if path is None or len(clear) < 2:
            return TwoPhotosOfGrip.none()
        frames = np.sort(rng.choice(clear, (_TRIES * count, 2)), axis=1)
        facts = TwoPhotosOfGrip(frames=frames, effector=np.full(len(frames), path.effector))
        measured = self.measure(facts, episode)
        rows = np.flatnonzero(measured.why == "")
        return facts.take(rows[taking_turns(np.where(measured.value[rows, 6] > 0, "closed", "open"))][:count])

    def measure(self, facts: TwoPhotosOfGrip, scene: Scene) -> Measured:
        """σ as that of the path; of yaw and roll over cos(pitch): the steeper, the more alike are their axes."""
        each, state, path = motions(scene, facts.frames), grip(scene).at(facts.frames), effector_of(scene)
        unit = np.where(ROTATES, np.degrees(1.0), 100.0)
        amounts, sigma = each.amounts[:, 1] * unit, each.sigma[:, 1] * unit
        sigma[:, _PAN_AND_ROLL] /= np.cos(np.radians(amounts[:, [_TILT]]))
        length = np.linalg.norm(amounts[:, ~ROTATES], axis=1)
        cases = {
            "lengths are not known in metres": path is None or path.scale.kind != "metric",
            "the photos are not in order of time": facts.frames[:, 0] >= facts.frames[:, 1],
            NO_CAMERA: np.isnan(each.matrix).any(axis=(1, 2, 3)) | np.isnan(each.distance),
            "turns too steeply for a plan": np.isnan(amounts).any(axis=1),
            OUT_OF_VIEW: ~in_view(scene, facts.frames).all(axis=1),
            HIDDEN: fingers_hidden(scene, facts.frames[:, 1]),
            "half open in a photo": (state == BETWEEN).any(axis=1),
            "hardly moves": ~(
                length >= np.maximum(_LEAST_MOVE * self._tolerance_cm(length), 100 * _VISIBLE * each.distance)
            ),
        }
        closed = (state[:, 1] == CLOSED).astype(np.float64)
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.column_stack([amounts[:, _ORDER], closed]),
            sigma=np.column_stack([sigma[:, _ORDER], np.zeros(len(facts))]),
            evidence={
                "moved_cm": length.round(1),
                "turned_deg": np.linalg.norm(amounts[:, ROTATES], axis=1).round(),
            },
        )

    def _tolerance_cm(self, length_cm: np.ndarray) -> np.ndarray:
        """Of each part of a move of that length."""
        return np.maximum(self.max_tolerances.size_cm, self.max_tolerances.size_ratio * np.nan_to_num(length_cm))

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """Within 3 cm or 15 % of the length, 10°, and the right state."""
        length = np.linalg.norm(measured.value[:, :3], axis=1)
        tolerance = np.full(measured.value.shape, self.max_tolerances.angle_deg)
        tolerance[:, :3] = np.floor(10 * self._tolerance_cm(length))[:, None] / 10
        tolerance[:, 6] = 0.5
        nan = np.nan
        numbers = Numbers(
            names=NAMES,
            value=measured.value,
            sigma=measured.sigma,
            tolerance=tolerance,
            unit=("cm",) * 3 + ("deg",) * 3 + ("",),
            period=(nan, nan, nan, 360.0, 360.0, 360.0, nan),
            outlier_probability=measured.outliers,
        )
        return Answers.of(numbers, np.full(len(length), ""))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Both photos."""
        media = tuple(Photo(frame=frame) for frame in fact["frames"])
        return Phrasing(media=media, values={"effector": fact["effector"]})
