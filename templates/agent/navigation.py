"""L4/Goal-Driven Execution/Agentic Navigation: the plan that leads from the camera of photo 1 to that of photo 2.

`action_mapping` makes, names and replays plans; this file decides which of them are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64
from scipy.special import ndtr, ndtri

from action_mapping.pair_plan import MAX_FRACTION, ROUND_METRES, ROUND_RADIANS, in_whole_steps, pair_amounts
from action_mapping.plan import MAX_STEPS
from action_mapping.primitives import COMPONENTS, PRIMITIVES, ROTATIONS, Component, primitive, primitive_of
from templates.answers import Answer, Label, Plan
from templates.answers.plan import p_within
from templates.fact import Fact
from templates.measured import Measured, Undecided
from templates.question import FormatName, Mark, Option, Photo, Phrasing
from templates.scene.marks import candidate_pixels, filter_markable, listed, spread_frames
from templates.scene.pictures import Params, Pictures
from templates.scene.scene import Scene
from templates.scene.shared_view import are_in_view, shared_views
from templates.template import Template

_PLACES = 14
_PAIRS = 24
_POINTS = 64
_MIN_SHARE = 0.4
"""Least share of photo 1's points that photo 2 shows: with less, the photos do not show the motion between them."""
_MIN_TRAVEL = 0.08
"""Least distance between the photos over the median distance of the scene: a shorter one is not visible."""
_FEWEST_STEPS = 3
"""Fewest steps of the largest translation: with fewer, staying in place would nearly be right."""
_NOISE_SIGMAS = 3.5
"""Amounts below this many σ count as zero, as in `action_mapping.pair_plan`."""
_PART_CONFIDENCE = 0.997
"""Least P(right) of translation and of rotation, so that both and the mark hold together with 0.99."""
_MAX_ROTATION_STEP_RAD = np.radians(15.0)
"""Largest angle of a step, which is also the tolerance: as for directions."""
_FRACTIONS = tuple(1 / k for k in range(MAX_FRACTION, 2, -1))
"""Lengths of a step on relative paths, in distances to the marked point."""
_MIN_ROTATION_RAD = np.radians(10.0)
"""Least rotation that a choice names."""
_MAX_SECOND = 0.7
"""Largest share of the main motion that any other motion of its kind may have, for a choice to name it."""

_JOINED = ", then "
_ROTATES = np.array([name in ROTATIONS for name in COMPONENTS])
_SETTING = (
    "Photos 1 and 2 were taken by the same camera at different places. You steer the camera from photo 1 to photo 2. "
)
_ACTIONS = (
    "The camera first moves along the axes it has in photo 1: Truck Right / Left towards the right / left edge of "
    "photo 1, Pedestal Up / Down towards its upper / lower edge, Dolly In / Out forwards / backwards along its line "
    "of sight. There it turns about its own axes, in this order: Pan Right / Left (it looks further to the right / "
    "left), Tilt Up / Down, Roll CW / CCW (the camera turns clockwise / counter-clockwise, as seen from behind it). "
)
_MAIN_MOTION = (
    "Which plan names the largest of the needed movements and, where a turn of 10° or more is needed, the largest of "
    "the turns?"
)
_EXAMPLE = (
    "Answer with one JSON object that lists what is needed, with whole steps from 0 to 10. Example: photo 2 was taken "
    "4 steps further ahead and 2 to the left, by a camera that then looks 3 turning steps more to the right: "
    '{"actions": ["Truck Left", "Dolly In", "Pan Right"], "step_nums": [2, 4, 3]}. '
)


@dataclass(frozen=True, kw_only=True)
class Navigate(Template):
    """A plan from photo 1 to photo 2. Measures the six components of the motion (rotations in rad; translations in
    metres, or in distances from photo 1 to the marked point), and the names of the largest translation and rotation."""

    name: str = "navigate"
    version: str = "1"
    ability: str = "L4/Goal-Driven Execution/Agentic Navigation"
    formats: tuple[FormatName, ...] = ("choice", "plan")
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = frozenset({"camera_path", "sparse_points", "depth", "tracks", "image_tracks"})

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Ordered pairs of distant frames with enough shared view; with a marked point if the scale is relative."""
        if scene.path is None or scene.path.motion != "general":
            return []
        frames = spread_frames(scene.path.frames[scene.path.registered & scene.path.keyframe], _PLACES)
        views = {(a, b): view for a in frames for b, view in shared_views(scene, a, frames).items()}
        pairs = [key for key, view in views.items() if view.share >= _MIN_SHARE and view.travel >= _MIN_TRAVEL]
        facts = []
        for row in rng.permutation(len(pairs))[:_PAIRS]:
            a, b = pairs[row]
            point = None if scene.path.scale.kind == "metric" else _point(scene, a, b, rng)
            counts = rng.integers(_FEWEST_STEPS, MAX_STEPS + 1, size=2).tolist()
            params = {"from": a, "to": b, "point": point, "counts": counts}
            if point is not None or scene.path.scale.kind == "metric":
                facts.append(Fact(template=self.name, params=params))
        return facts

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """Amounts; σ of translations = (systematic ⊕ rotation of photo 1) · length ⊕ positions ⊕ unit of length."""
        return [self._measure(fact, scene) for fact in facts]

    def _measure(self, fact: Fact, scene: Scene) -> Measured | Undecided:
        frames = [fact.params["from"], fact.params["to"]]
        first, second = scene.world_from_cam(frames)
        if scene.path is None or not (np.isfinite(first).all() and np.isfinite(second).all()):
            return Undecided(reason="the camera position of a photo is not known")
        (amounts,) = pair_amounts(first[None], second[None])
        if np.isnan(amounts).any():
            return Undecided(reason="the tilt between the photos is too steep for a plan")
        sigma = _sigma(amounts, scene, frames)
        label, margin = _main_motion(amounts, sigma)
        length, scale_sigma, outlier_probability = _length(fact, scene)
        unit = np.where(_ROTATES, 1.0, length)
        unit_sigma = np.where(_ROTATES, 0.0, scale_sigma * np.abs(amounts))
        return Measured(
            value=amounts / unit,
            sigma=np.hypot(sigma, unit_sigma) / unit,
            label=label,
            margin=margin,
            outlier_probability=outlier_probability,
            evidence={"ways_in": "distances to point P" if fact.params["point"] else "m"},
        )

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The names of the main motion; or a plan in whole steps of round sizes, with counts near the drawn ones."""
        if format == "choice":
            if measured.label is None or measured.margin is None:
                return Undecided(reason="no single translation or rotation dominates")
            return Label(text=measured.label, margin=measured.margin)
        if not np.isfinite([measured.value, measured.sigma]).all():
            return Undecided(reason="the length of a step is not known")
        lengths = _FRACTIONS if fact.params["point"] else ROUND_METRES
        return _plan(measured, lengths, fact.params["counts"])

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Both photos; photo 1 has the mark that defines steps of relative length."""
        if isinstance(answer, Label):
            return Phrasing(
                prompt=_SETTING + _ACTIONS + _MAIN_MOTION,
                media=(Photo(frame=fact.params["from"]), Photo(frame=fact.params["to"])),
                options=tuple(Option(shown=name, value=name) for name in _offered(str(answer.text), rng)),
                answer=0,
            )
        assert isinstance(answer, Plan)
        return _open_question(answer, fact)

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """Two frames, with or without a marked corner that defines the steps."""
        drawn = pictures.points(rng, 1)
        if drawn is None or len(pictures.clip.frames) < 2:
            return None
        point = drawn[1][0] if rng.integers(2) else None
        to, counts = pictures.other_frame(drawn[0], rng), rng.integers(_FEWEST_STEPS, MAX_STEPS + 1, size=2).tolist()
        return {"from": drawn[0], "to": to, "point": point, "counts": counts}


def _open_question(answer: Plan, fact: Fact) -> Phrasing:
    """The question that asks for a plan in steps."""
    marks: tuple[Mark, ...] = ()
    length = f"{answer.translation_step:g} m"
    if (point := fact.params["point"]) is not None:
        marks = (Mark(text="P", xy_px=tuple(point)),)
        length = f"1/{answer.point_fraction} of the distance from the camera of photo 1 to point P, marked in photo 1"
    return Phrasing(
        prompt=f"{_SETTING}{_ACTIONS}One step of moving is {length}; one step of turning is "
        f"{answer.rotation_step_deg:g}°. {_EXAMPLE}A plan is right if it ends {answer.tolerance_in_words()} of the "
        "camera of photo 2.",
        media=(Photo(frame=fact.params["from"], marks=marks), Photo(frame=fact.params["to"])),
    )


def _point(scene: Scene, frame_a: int, frame_b: int, rng: np.random.Generator) -> list[float] | None:
    """A markable pixel of photo A whose point lies inside photo B; None if there is none."""
    xy = filter_markable(scene, frame_a, rng.permutation(candidate_pixels(scene, frame_a))[:_POINTS])
    shared = xy[are_in_view(scene, frame_a, xy, [frame_b])[0]]
    return listed(shared[0]) if len(shared) else None


def _sigma(amounts: Float64[np.ndarray, "6"], scene: Scene, frames: Sequence[int]) -> Float64[np.ndarray, "6"]:
    """σ of the amounts (rad, path units), without that of the unit of length."""
    assert scene.path is not None
    rotation = scene.rotation_sigma_rad(frames)
    rotations = np.hypot(rotation.max(), scene.path.focal_relative_sigma * np.abs(amounts))
    direction = float(np.hypot(scene.path.direction_sigma_rad, rotation[0]))
    formal = float(np.linalg.norm(scene.position_sigma(frames)))
    translations = np.hypot(direction * np.linalg.norm(amounts[~_ROTATES]), formal)
    return np.where(_ROTATES, rotations, translations)


def _length(fact: Fact, scene: Scene) -> tuple[float, float, float]:
    """Unit of length in path units, its relative σ, and its outlier probability; NaN where unknown."""
    assert scene.path is not None
    if fact.params["point"] is not None:
        seen = scene.surface(fact.params["from"], np.array([fact.params["point"]], dtype=float))
        return float(seen.range[0]), float(seen.range_relative_sigma[0]), float(seen.outlier_probability[0])
    if scene.path.scale.kind != "metric":
        return np.nan, np.nan, 0.0
    return 1.0, scene.path.scale.relative_sigma or 0.0, 0.0


def _main_motion(amounts: Float64[np.ndarray, "6"], sigma: Float64[np.ndarray, "6"]) -> tuple[str | None, float | None]:
    """Names of the largest translation and rotation ("Dolly In, then Pan Left"), and the margin in σ.

    Rotations below 10° are not named. None where no component is the largest.
    """
    translation, margins = _largest(amounts, sigma, ~_ROTATES)
    rotation, rotation_margins = _largest(amounts, sigma, _ROTATES)
    excess = (abs(amounts[rotation]) - _MIN_ROTATION_RAD) / sigma[rotation]
    named = [translation] if excess < 0 else [translation, rotation]
    margins += [-excess] if excess < 0 else [*rotation_margins, excess]
    if not min(margins) > 0:
        return None, None
    joint = float(-ndtri(ndtr(-np.array(margins)).sum()))  # all of them must hold
    return _JOINED.join(primitive_of(COMPONENTS[k], amounts[k]).name for k in named), joint


def _largest(
    amounts: Float64[np.ndarray, "6"], sigma: Float64[np.ndarray, "6"], family: np.ndarray
) -> tuple[int, list[float]]:
    """Index of the largest amount of a family, and how many σ each other amount is below 0.7 of it."""
    *others, first = np.flatnonzero(family)[np.argsort(np.abs(amounts[family]))]
    limit = _MAX_SECOND * abs(amounts[first])
    return int(first), [
        float((limit - abs(amounts[k])) / np.hypot(_MAX_SECOND * sigma[first], sigma[k])) for k in others
    ]


def _plan(measured: Measured, lengths: tuple[float, ...], counts: Sequence[int]) -> Plan | Undecided:
    """The plan with the step sizes whose counts are nearest to the drawn ones, if σ is small enough for them."""
    angles = tuple(angle for angle in ROUND_RADIANS if angle <= _MAX_ROTATION_STEP_RAD)
    kept = np.where(np.abs(measured.value) > _NOISE_SIGMAS * measured.sigma, measured.value, 0.0)
    length = _step_size(measured, kept, ~_ROTATES, lengths, counts[0])
    angle = _step_size(measured, kept, _ROTATES, angles, counts[1])
    if length is None or angle is None:
        return Undecided(reason="σ too large for the tolerance")
    if np.abs(kept[~_ROTATES]).max() < (_FEWEST_STEPS - 0.5) * length:
        return Undecided(reason="the plan has too few steps")
    steps = in_whole_steps(dict(zip(COMPONENTS, kept.tolist(), strict=True)), length, angle)
    if lengths is _FRACTIONS:
        steps = replace(steps, point_fraction=round(1 / length))
    return Plan.of(steps, measured.value, measured.sigma, measured.outlier_probability)


def _step_size(
    measured: Measured, kept: Float64[np.ndarray, "6"], family: np.ndarray, choices: tuple[float, ...], count: int
) -> float | None:
    """The step size with which the largest amount takes nearly `count` steps and the plan ends within one step of the
    target; None if there is none."""
    amounts, kept, sigma = measured.value[family], kept[family], float(measured.sigma[family].max())
    largest = float(np.abs(kept).max())
    sizes = np.array([size for size in choices if largest < (MAX_STEPS + 0.5) * size])
    error = np.linalg.norm(amounts - sizes[:, None] * np.round(kept / sizes[:, None]), axis=1)
    decided = sizes[p_within(error / sizes, sigma / sizes, 1.0) >= _PART_CONFIDENCE]
    return float(decided[np.abs(largest / decided - count).argmin()]) if len(decided) else None


def _offered(text: str, rng: np.random.Generator) -> tuple[str, ...]:
    """Options, the right one first. Each name occurs in equally many options, so that none stands out."""
    columns = [[name, *_others(name, rng)] for name in text.split(_JOINED)]
    if len(columns) == 1:
        return tuple(columns[0])
    return tuple(first + _JOINED + second for first in columns[0][:2] for second in columns[1][:2])


def _others(name: str, rng: np.random.Generator) -> list[str]:
    """Three wrong names: the opposite, and both names of another axis; either of the two comes first."""
    right = primitive(name)
    family = [p for p in PRIMITIVES if p.component in COMPONENTS and p.unit == right.unit]
    opposite = [p.name for p in family if p.component == right.component and p.sign == -right.sign]
    axes = sorted({p.component for p in family if p.component != right.component and p.component is not None})
    axis: Component = axes[int(rng.integers(len(axes)))]
    across = [p.name for p in family if p.component == axis]
    across = [across[k] for k in rng.permutation(2)]
    return [*opposite, *across] if rng.integers(2) else [*across, *opposite]
