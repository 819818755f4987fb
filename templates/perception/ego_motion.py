"""L1/Motion/Ego: rotation and translation of the camera between the first and the last photo.

`action_mapping` names the motion.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from action_mapping.naming import NamedMotion, agreed_rotation, agreed_translation
from action_mapping.reading import read_motion
from templates.answers import Answer, Label, Numbers
from templates.fact import Fact
from templates.measured import Measured, Undecided
from templates.question import FormatName, Option, Photo, Phrasing
from templates.scene.pictures import Params, Pictures
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_INTERVALS = 48
_PHOTOS = 4
_MIN_PURITY = 0.8
"""Least share of the named component in the whole motion: a combination has no single name."""
_MIN_ROTATION_RAD = np.radians(3.0)
"""Smaller rotations have no name: a person does not see them."""
_MAX_ROTATION_WHILE_MOVING_RAD = np.radians(25.0)
"""Beyond this rotation "right" and "forward" differ between the first and the last photo."""
IN_WORDS = {
    "Pan Right": "It turned to the right (pan right)",
    "Pan Left": "It turned to the left (pan left)",
    "Tilt Up": "It turned upwards (tilt up)",
    "Tilt Down": "It turned downwards (tilt down)",
    "Roll CW": "It rolled clockwise, as seen from behind the camera (roll clockwise)",
    "Roll CCW": "It rolled counter-clockwise, as seen from behind the camera (roll counter-clockwise)",
    "Truck Right": "It moved to the right (truck right)",
    "Truck Left": "It moved to the left (truck left)",
    "Pedestal Down": "It moved down (pedestal down)",
    "Pedestal Up": "It moved up (pedestal up)",
    "Dolly In": "It moved forwards (dolly in)",
    "Dolly Out": "It moved backwards (dolly out)",
}
"""Names of `action_mapping.primitives` as options."""
_OPPOSITE = dict(zip([*IN_WORDS][::2], [*IN_WORDS][1::2], strict=True))
_OPPOSITE |= {b: a for a, b in _OPPOSITE.items()}
_ROTATIONS, _TRANSLATIONS = [*IN_WORDS][:6], [*IN_WORDS][6:]


class _CameraMotion(Template):
    """Common base: questions about an interval of the camera path."""

    version: str = "1"
    ability: str = "L1/Motion/Ego"
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity"})

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """An interval."""
        frames = pictures.interval(rng, _PHOTOS)
        return None if frames is None else {"frames": frames}


@dataclass(frozen=True, kw_only=True)
class CameraTurn(_CameraMotion):
    """Rotation of the camera. Measures the angle between the first and the last photo in degrees, and its name."""

    name: str = "camera_turn"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Random intervals of registered frames, four photos each."""
        return _intervals(scene, self.name, rng)

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """Angle and name; σ = rotation ⊕ focal length, since its error scales angles estimated from pixels."""
        return [self._measure(fact, scene) for fact in facts]

    def _measure(self, fact: Fact, scene: Scene) -> Measured | Undecided:
        frames = [fact.params["frames"][0], fact.params["frames"][-1]]
        first, last = scene.world_from_cam(frames)
        if scene.path is None or not (np.isfinite(first[:3, :3]).all() and np.isfinite(last[:3, :3]).all()):
            return Undecided(reason="rotation of a photo is not known")
        sigma_rad = float(scene.rotation_sigma_rad(frames).max())
        focal = scene.path.focal_relative_sigma
        named = agreed_rotation(
            read_motion(first[None], last[None], scene.up_world),
            sigma_rad=sigma_rad,
            threshold_rad=_MIN_ROTATION_RAD,
            focal_relative_sigma=focal,
            up_sigma_rad=_up_sigma_rad(scene, frames),
        )
        angle = Rotation.from_matrix(first[:3, :3].T @ last[:3, :3]).magnitude()
        label, margin = _name_and_margin(named)
        return Measured(
            value=np.degrees([angle]),
            sigma=np.degrees([np.hypot(sigma_rad, focal * angle)]),
            label=label,
            margin=margin,
            evidence=_evidence(named),
        )

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The name of the rotation; or its angle with a tolerance of 5°."""
        if format == "choice":
            return _label(measured)
        if measured.value[0] <= self.max_tolerances.rotation_deg:
            return Undecided(reason="the rotation is smaller than its tolerance")
        return Numbers(
            names=("angle",),
            value=measured.value,
            sigma=measured.sigma,
            tolerance=np.array([self.max_tolerances.rotation_deg]),
            unit="deg",
            decimals=0,
        )

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Photos in order of time."""
        media = tuple(Photo(frame=f) for f in fact.params["frames"])
        if isinstance(answer, Label):
            return _name_choice(
                "These photos were taken one after another by one moving camera. Comparing the last photo with the "
                "first and looking only at how the camera is turned, not at where it is: how did it mainly turn, in "
                "its own axes?",
                media,
                answer,
                _ROTATIONS,
                rng,
            )
        return Phrasing(
            prompt=(
                "These photos were taken one after another by one moving camera. By how many degrees is the camera "
                "of the last photo turned against the camera of the first photo (the angle of the one rotation that "
                f"takes one orientation to the other)? {answer.tolerance_in_words()} counts as right."
            ),
            media=media,
        )


@dataclass(frozen=True, kw_only=True)
class CameraTravel(_CameraMotion):
    """Translation of the camera. Measures its unit direction in the first photo's axes, and its name."""

    name: str = "camera_travel"
    formats: tuple[FormatName, ...] = ("choice",)

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Random intervals of a path whose positions are known."""
        if scene.path is None or scene.path.motion != "general":
            return []
        return _intervals(scene, self.name, rng)

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """Direction and name; σ = systematic ⊕ rotation ⊕ positions over the length of the translation."""
        return [self._measure(fact, scene) for fact in facts]

    def _measure(self, fact: Fact, scene: Scene) -> Measured | Undecided:
        frames = [fact.params["frames"][0], fact.params["frames"][-1]]
        first, last = scene.world_from_cam(frames)
        if scene.path is None or not (np.isfinite(first).all() and np.isfinite(last).all()):
            return Undecided(reason="the camera position of a photo is not known")
        angle = Rotation.from_matrix(first[:3, :3].T @ last[:3, :3]).magnitude()
        if angle > _MAX_ROTATION_WHILE_MOVING_RAD:
            return Undecided(reason="the camera rotated too far for its translation to have one name")
        translation = first[:3, :3].T @ (last[:3, 3] - first[:3, 3])
        length = float(np.linalg.norm(translation))
        if length <= 0:
            return Undecided(reason="the translation is within its noise")
        position_sigma = float(np.linalg.norm(scene.position_sigma(frames)))
        sigma = float(np.hypot(scene.path.direction_sigma_rad, scene.relative_rotation_sigma_rad(frames)))
        named = agreed_translation(
            read_motion(first[None], last[None], scene.up_world),
            direction_sigma_rad=sigma,
            position_sigma=position_sigma,
            up_sigma_rad=_up_sigma_rad(scene, frames),
        )
        label, margin = _name_and_margin(named)
        return Measured(
            value=translation / length,
            sigma=np.full(3, np.hypot(sigma, position_sigma / length)),
            label=label,
            margin=margin,
            evidence=_evidence(named),
        )

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The name of the translation."""
        return _label(measured)

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Photos in order of time."""
        assert isinstance(answer, Label)
        return _name_choice(
            "These photos were taken one after another by one moving camera. Looking only at where the camera is, "
            "not at how it is turned: how did it mainly move from the first to the last photo, in its own axes?",
            tuple(Photo(frame=f) for f in fact.params["frames"]),
            answer,
            _TRANSLATIONS,
            rng,
        )


def _intervals(scene: Scene, template: str, rng: np.random.Generator) -> list[Fact]:
    """Random distinct intervals of registered frames, four frames each."""
    if scene.path is None or scene.path.motion == "static":
        return []
    frames = scene.path.frames[scene.path.registered]
    if len(frames) < 2:
        return []
    facts = {}
    for _ in range(_INTERVALS):
        a, b = np.sort(rng.choice(len(frames), size=2, replace=False))
        shown = np.unique(np.linspace(a, b, _PHOTOS).round().astype(int))
        key = tuple(int(f) for f in frames[shown])
        facts[key] = Fact(template=template, params={"frames": list(key)})
    return list(facts.values())


def _up_sigma_rad(scene: Scene, frames: Sequence[int]) -> float:
    """Largest σ of up in the frames; 0 where up is unknown, because levelled axes are not used then."""
    sigmas = [scene.up_cam(frame)[1] for frame in frames]
    return float(np.nanmax(sigmas)) if np.isfinite(sigmas).any() else 0.0


def _name_and_margin(named: NamedMotion) -> tuple[str | None, float | None]:
    """Of one motion."""
    if named.purity[0] >= _MIN_PURITY:
        return str(named.name[0]), float(named.margin[0])
    return None, None


def _evidence(named: NamedMotion) -> dict[str, object]:
    if named.reason[0]:
        return {"not_named": str(named.reason[0])}
    return {"named_in": str(named.basis[0]), "purity": round(float(named.purity[0]), 2)}


def _label(measured: Measured) -> Answer | Undecided:
    if measured.label is None or measured.margin is None:
        reason = measured.evidence.get("not_named") or "a combination of several motions has no single name"
        return Undecided(reason=str(reason))
    return Label(text=measured.label, margin=measured.margin)


def _name_choice(
    prompt: str, media: tuple[Photo, ...], answer: Label, names: list[str], rng: np.random.Generator
) -> Phrasing:
    """The right name, its opposite, and two other names of the same kind."""
    name = str(answer.text)
    others = [n for n in names if n not in (name, _OPPOSITE[name])]
    offered = [name, _OPPOSITE[name], *(others[k] for k in rng.permutation(len(others))[:2])]
    options = tuple(Option(shown=IN_WORDS[n], value=n) for n in offered)
    return Phrasing(prompt=prompt, media=media, options=options, answer=0)
