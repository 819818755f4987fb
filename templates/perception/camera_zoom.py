"""L1/Motion/Ego: whether the camera zooms between the first and the last photo, and by which factor."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from templates.answers import Numbers
from templates.answers.answers import Answers
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.perception.ego_motion import Intervals, IntervalTemplate
from templates.question import FormatName
from templates.scene.camera_motion import frames_between
from templates.scene.intervals import intervals
from templates.scene.scene import Scene
from templates.scene.zooming import NO_ZOOM, VISIBLE_ZOOM, ln_magnification, posed
from templates.settings import MaxTolerances

_IN, _OUT, _NOT = _WAYS = ("in", "out", "not")
_PHOTOS = 4
_LARGEST = np.log(4.0)
"""Nobody judges a larger factor within the tolerance."""


@dataclass(frozen=True, kw_only=True)
class CameraZoom(IntervalTemplate):
    """Zoom of the camera. Measures the focal length of the last photo over that of the first."""

    name: str = "camera_zoom"
    version: str = "2"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _WAYS}
    instead: ClassVar[Mapping[str, str]] = {"camera_path": "zooming_path"}
    reads: frozenset[str] = frozenset({"camera_path", "zooming_path"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Intervals:
        """Random intervals of registered frames, four photos each."""
        return Intervals(frames=intervals(posed(scene), rng, count, _PHOTOS))

    def measure(self, facts: Intervals, scene: Scene) -> Measured:
        """Ratio of the focal lengths, and the way of the zoom; between "not" and a visible zoom lies a gap."""
        ln, sigma = ln_magnification(scene, facts.ends)
        border = (NO_ZOOM + VISIBLE_ZOOM) / 2
        label = np.where(np.abs(ln) < border, _NOT, np.where(ln > 0, _IN, _OUT))
        between = frames_between(posed(scene), facts.ends)
        pairs = np.stack(np.broadcast_arrays(facts.ends[:, :1], between), axis=2)
        away = np.fmax.reduce(np.abs(ln_magnification(scene, pairs.reshape(-1, 2))[0]).reshape(between.shape), axis=1)
        cases = {
            "whether the camera zooms is not known": np.isnan(ln),
            "the camera zooms and comes back": (label == _NOT) & (away > NO_ZOOM),
            "the zoom is too small to be seen for sure": (np.abs(ln) > NO_ZOOM) & (np.abs(ln) < VISIBLE_ZOOM),
        }
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = np.abs(np.abs(ln) - border) / sigma
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.exp(ln)[:, None],
            sigma=(np.exp(ln) * sigma)[:, None],
            label=label,
            margin=margin,
            evidence={"spread_percent": (100 * np.expm1(ln)).round(1)},
            traps={
                "opposite direction": np.where(label == _IN, _OUT, np.where(label == _OUT, _IN, "")),
                "no zoom noticed": np.where(label == _NOT, "", _NOT),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The way of the zoom; or the ratio of a visible one with a tolerance of 10 %."""
        if format == "choice":
            return Answers.of(measured.as_label(), first_reason(len(facts), {}))
        value, sigma, share = measured.value, measured.sigma, self.max_tolerances.magnification
        numbers = Numbers.within_share("magnification", value, sigma, share, measured.outliers, unit="")
        cases = {
            "there is no zoom": measured.label == _NOT,
            "the zoom is too large to be judged": np.abs(np.log(value[:, 0])) > _LARGEST,
        }
        return Answers.of(numbers, first_reason(len(facts), cases))
