"""L1/Orientation/Gravity: how the camera is held."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from templates.answers import Answer, Label, Numbers
from templates.fact import Fact
from templates.measured import Measured, Undecided
from templates.question import FormatName, Option, Photo, Phrasing
from templates.scene.marks import spread_frames
from templates.scene.pictures import Params, Pictures
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_FRAMES = 12
_MAX_PITCH_DEG = 75.0
"""Beyond this pitch roll is nearly undefined."""
_VFOV_CONFIDENCE = 0.99
"""Least P(right) with which vFOV is part of the answer."""


@dataclass(frozen=True, kw_only=True)
class CameraTilt(Template):
    """Roll, pitch and vertical field of view of one frame. Measures them in degrees."""

    name: str = "camera_tilt"
    version: str = "2"
    ability: str = "L1/Orientation/Gravity"
    formats: tuple[FormatName, ...] = ("json", "choice")
    needs: frozenset[str] = frozenset({"gravity"})
    reads: frozenset[str] = frozenset({"gravity", "camera_path", "calibration"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Frames spread over the clip."""
        if scene.gravity is None:
            return []
        known = np.isfinite(scene.gravity.up_cam).all(axis=1)
        frames = spread_frames(scene.gravity.frames[known], _FRAMES)
        return [Fact(template=self.name, params={"frame": f}) for f in rng.permutation(frames).tolist()]

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """Roll, pitch, vFOV in degrees; σ of roll grows with 1 / cos(pitch), σ_vFOV = sin(vFOV)·σ_f/f."""
        return [self._measure(fact, scene) for fact in facts]

    def _measure(self, fact: Fact, scene: Scene) -> Measured | Undecided:
        up, sigma_rad = scene.up_cam(fact.params["frame"])
        if not np.isfinite(up).all():
            return Undecided(reason="gravity is not known in this frame")
        roll, pitch = np.degrees([np.arctan2(-up[0], -up[1]), np.arcsin(np.clip(up[2], -1, 1))])
        if abs(pitch) > _MAX_PITCH_DEG:
            return Undecided(reason="the camera looks straight up or down, where roll is undefined")
        sigma_deg = float(np.degrees(sigma_rad))
        vfov, vfov_sigma = np.degrees(scene.vfov_rad())
        assert scene.gravity is not None
        return Measured(
            value=np.array([roll, pitch, vfov]),
            sigma=np.array(
                [sigma_deg / np.cos(np.radians(pitch)), sigma_deg, vfov_sigma if np.isfinite(vfov) else np.inf]
            ),
            evidence={"up_decided_by": scene.gravity.decided_by, "up_sigma_deg": round(sigma_deg, 2)},
        )

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """Roll and pitch as JSON, with vFOV if it is reliable; or "up" / "down"."""
        if format == "choice":
            pitch, sigma = measured.value[1], measured.sigma[1]
            return Label(text="up" if pitch > 0 else "down", margin=float(abs(pitch) / sigma))
        with_vfov = self._numbers(measured, 3)
        return with_vfov if with_vfov.p_right() >= _VFOV_CONFIDENCE else self._numbers(measured, 2)

    def _numbers(self, measured: Measured, count: int) -> Numbers:
        max_tolerances = np.array(
            [self.max_tolerances.roll_pitch_deg, self.max_tolerances.roll_pitch_deg, self.max_tolerances.vfov_deg]
        )
        return Numbers(
            names=("roll", "pitch", "vfov")[:count],
            value=measured.value[:count],
            sigma=measured.sigma[:count],
            tolerance=max_tolerances[:count],
            unit="deg",
            period=360.0,
        )

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """One photo without marks."""
        media = (Photo(frame=fact.params["frame"]),)
        if isinstance(answer, Label):
            return Phrasing(
                prompt="Relative to the horizontal, is the camera that took this photo tilted upwards or downwards?",
                media=media,
                options=tuple(Option(shown=f"It looks {way}wards", value=way) for way in ("up", "down")),
                answer=("up", "down").index(str(answer.text)),
            )
        assert isinstance(answer, Numbers)
        vfov = "vfov" in answer.names
        keys = '"roll", "pitch" and "vfov" (the vertical field of view)' if vfov else '"roll" and "pitch"'
        return Phrasing(
            prompt=(
                f"Estimate how the camera was held. Answer with a JSON object with the keys {keys}, in degrees. "
                "Roll is positive if the camera is turned clockwise as seen from behind it; pitch is positive if "
                f"it looks up. Counted as right within: {answer.tolerance_in_words()}."
            ),
            media=media,
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """One frame."""
        return {"frame": int(rng.choice(pictures.clip.frames))}
