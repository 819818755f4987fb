"""L1/Orientation/Gravity: how the camera is held."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer, Label, Numbers
from templates.answers.answers import Answers
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.attitude import UP_UNKNOWN, attitude
from templates.scene.marks import spread_frames
from templates.scene.pictures import Pictures
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_MAX_PITCH_DEG = 75.0
"""Beyond this pitch roll is nearly undefined."""
TOO_STEEP = "the camera looks straight up or down, where roll is undefined"
_VFOV_CONFIDENCE = 0.99
"""Least P(right) with which vFOV is part of the answer."""


@dataclass(frozen=True, kw_only=True)
class Frames(Facts):
    """One photo."""

    frame: Int64[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class CameraTilt(Template):
    """Roll, pitch and vertical field of view of one frame. Measures them in degrees."""

    name: str = "camera_tilt"
    version: str = "3"
    ability: str = "L1/Orientation/Gravity"
    formats: tuple[FormatName, ...] = ("json", "choice")
    facts: ClassVar[type[Facts]] = Frames
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": ("up", "down")}
    needs: frozenset[str] = frozenset({"gravity"})
    reads: frozenset[str] = frozenset({"gravity", "camera_path", "calibration"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Frames:
        """Frames spread over the clip."""
        if scene.gravity is None:
            return Frames.none()
        known = np.isfinite(scene.gravity.up_cam).all(axis=1)
        return Frames(frame=rng.permutation(spread_frames(scene.gravity.frames[known], count)))

    def measure(self, facts: Frames, scene: Scene) -> Measured:
        """Roll, pitch, vFOV in degrees; σ of roll grows with 1 / cos(pitch), σ_vFOV = sin(vFOV)·σ_f/f."""
        held = attitude(scene, facts.frame)
        cases = {UP_UNKNOWN: np.isnan(held.pitch), TOO_STEEP: np.abs(held.pitch) > _MAX_PITCH_DEG}
        vfov, vfov_sigma = (np.full(len(facts), part) for part in scene.vfov_rad())
        vfov_sigma = np.where(np.isfinite(vfov), vfov_sigma, np.inf)
        decided_by = np.full(len(facts), "" if scene.gravity is None else scene.gravity.decided_by)
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.column_stack([held.roll, held.pitch, np.degrees(vfov)]),
            sigma=np.column_stack([held.roll_sigma, held.pitch_sigma, np.degrees(vfov_sigma)]),
            evidence={
                "up_decided_by": decided_by,
                "up_sigma_deg": held.pitch_sigma.round(2),
                "up_in_camera": scene.up_cam(facts.frame)[0].round(3),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer | Answers:
        """Roll and pitch as JSON, with vFOV if it is reliable; or "up" / "down"."""
        if format == "choice":
            pitch, sigma = measured.value[:, 1], measured.sigma[:, 1]
            return Label(text=np.where(pitch > 0, "up", "down"), margin=np.abs(pitch) / sigma)
        with_vfov = self._numbers(measured, 3)
        reliable = with_vfov.p_right() >= _VFOV_CONFIDENCE
        return Answers.either(reliable, with_vfov, self._numbers(measured, 2), measured.why)

    def _numbers(self, measured: Measured, count: int) -> Numbers:
        caps = self.max_tolerances
        tolerance = np.array([caps.roll_pitch_deg, caps.roll_pitch_deg, caps.vfov_deg])
        return Numbers(
            names=("roll", "pitch", "vfov")[:count],
            value=measured.value[:, :count],
            sigma=measured.sigma[:, :count],
            tolerance=np.tile(tolerance[:count], (len(measured), 1)),
            unit="deg",
            period=360.0,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo without marks."""
        media = (Photo(frame=fact["frame"]),)
        if not isinstance(answer, Numbers):
            return Phrasing(media=media)
        return Phrasing(media=media, wording="json.roll_pitch_vfov" if "vfov" in answer.names else "json.roll_pitch")

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """One frame."""
        return {"frame": int(rng.choice(pictures.clip.frames))}
