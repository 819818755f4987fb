"""L4/Goal-Driven Execution/Agentic Navigation: the plan that leads from the camera of photo 1 to that of photo 2.

`action_mapping` makes, names and replays plans; this file decides which of them are asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from action_mapping.pair_plan import FEWEST_STEPS, MAX_FRACTION, NOISE_SIGMAS, ROUND_METRES, ROUND_RADIANS
from action_mapping.plan import MAX_STEPS
from templates.agent.legs import (
    MIN_SHARE,
    MIN_TRAVEL,
    ROTATES,
    Motion,
    Six,
    joint,
    largest,
    motion,
    opposites,
    shared_points,
    some_pixels,
    unit_of_length,
    with_others,
)
from templates.answers import Answer, Plan
from templates.answers.answers import Answers
from templates.answers.plan import p_within
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.intervals import places
from templates.scene.offsets import POSITION_UNKNOWN
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import shared_views
from templates.template import Template

_PLACES = 14
_PART_CONFIDENCE = 0.997
"""Least P(right) of translation and of rotation, so that both and the mark hold together with 0.99."""
METRES, TO_POINT, BETWEEN = "m", "distances to point P", "distances between the photos"
"""Units of length that a plan can have."""
_FRACTIONS = tuple(1 / k for k in range(MAX_FRACTION, 2, -1))
"""Lengths of a step on relative paths, in units of length."""
_ANGLES = tuple(angle for angle in ROUND_RADIANS if np.radians(1.99) < angle <= np.radians(15.0))
"""Angles of a step. Nobody sees a smaller one, and the rotations of a drive straight ahead may err by more (0.75° on a
real clip). The largest one is also the largest tolerance, as for directions."""
_JOINED = ", then "
_WORDINGS = {METRES: "plan.metres", TO_POINT: "plan.point", BETWEEN: "plan.between"}
_NO_LENGTH, _FEW_STEPS = "the length of a step is not known", "the plan has too few steps"


@dataclass(frozen=True, kw_only=True)
class Legs(Facts):
    """From one photo to another."""

    frame_from: Int64[np.ndarray, "n"]
    frame_to: Int64[np.ndarray, "n"]
    unit: Texts
    """`METRES`; on a relative path `TO_POINT` or `BETWEEN`."""
    point_px: Float64[np.ndarray, "n 2"]
    """In the first photo; NaN where it is not the unit."""
    counts: Int64[np.ndarray, "n 2"]
    """Wanted steps of the largest translation and rotation."""


@dataclass(frozen=True, kw_only=True)
class Navigate(Template):
    """A plan from photo 1 to photo 2. Measures the six components of the motion (rotations in rad; translations in the
    unit of length of the fact), and the names of the largest translation and rotation."""

    name: str = "navigate"
    version: str = "5"
    ability: str = "L4/Goal-Driven Execution/Agentic Navigation"
    formats: tuple[FormatName, ...] = ("choice", "plan")
    facts: ClassVar[type[Facts]] = Legs
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_NO_LENGTH, _FEW_STEPS})
    """Without the length of a step, a plan can still be wrong: by its rotations."""
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Facts:
        """Ordered pairs of distant frames with enough shared view. On a relative path half of them with a marked point,
        where there is one."""
        frames = places(scene, _PLACES)
        views = shared_views(scene, frames)
        pairs = frames[np.argwhere((views.share >= MIN_SHARE) & (views.travel >= MIN_TRAVEL))]
        pairs, metric = pairs[rng.permutation(len(pairs))[:count]], np.isfinite(scene.metre_relative_sigma)
        counts = rng.integers(FEWEST_STEPS, MAX_STEPS + 1, size=(len(pairs), 2))
        marked = ~metric & (rng.random(len(pairs)) < 0.5)
        pixels = [some_pixels(scene, frame, rng) for frame in pairs[marked, 0].tolist()]
        point_px = np.full((len(pairs), 2), np.nan)
        point_px[marked] = shared_points(scene, pairs[marked], pixels)
        unit = np.where(np.isfinite(point_px).all(axis=1), TO_POINT, METRES if metric else BETWEEN)
        return Legs(frame_from=pairs[:, 0], frame_to=pairs[:, 1], unit=unit, point_px=point_px, counts=counts)

    def measure(self, facts: Legs, scene: Scene) -> Measured:
        """Amounts; σ of translations = (systematic ⊕ rotation of photo 1) · length ⊕ positions ⊕ unit of length."""
        frames = np.column_stack([facts.frame_from, facts.frame_to])
        poses = scene.world_from_cam(frames)
        moved = motion(scene, frames)
        label, margin = _main_motion(moved)
        length, scale_sigma, outlier_probability = unit_of_length(scene, facts.frame_from, facts.point_px)
        between = facts.unit == BETWEEN
        distance = np.linalg.norm(moved.amounts[:, ~ROTATES], axis=1)
        length = np.where(between, np.where(distance > 0, distance, np.nan), length)
        scale_sigma = np.where(between, 0.0, scale_sigma)  # a share of a way does not depend on its length
        unit = np.where(ROTATES, 1.0, length[:, None])
        unit_sigma = np.where(ROTATES, 0.0, scale_sigma[:, None] * np.abs(moved.amounts))
        cases = {
            POSITION_UNKNOWN: np.isnan(poses).any(axis=(1, 2, 3)),
            "the tilt between the photos is too steep for a plan": np.isnan(moved.amounts).any(axis=1),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=moved.amounts / unit,
            sigma=np.hypot(moved.sigma, unit_sigma) / unit,
            label=label,
            margin=margin,
            outlier_probability=outlier_probability,
            evidence={
                "ways_in": facts.unit,
                "way": (moved.amounts / unit)[:, ~ROTATES].round(2),
                "turned_deg": np.degrees(moved.amounts[:, ROTATES]).round(),
            },
        )

    def answer(self, format: FormatName, facts: Legs, measured: Measured) -> Answers:
        """The names of the main motion; or a plan in whole steps of round sizes, with counts near the drawn ones."""
        if format == "choice":
            label = replace(measured, outlier_probability=None).as_label()  # names do not depend on the point
            cases = {"no single translation or rotation dominates": np.asarray(label.text) == ""}
            return Answers.of(label, first_reason(len(facts), cases))
        return _plans(measured, facts)

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """The right plan, and those with the opposite translation, rotation, or both; without a rotation, also those
        of another axis. Each of the four is offered with the same three: then the balance can make them right equally
        often, and neither the words nor the order of the photos tells which one is."""
        if format != "choice":
            return None
        moved, turned = np.reshape([text.partition(_JOINED)[::2] for text in answers.labels()], (-1, 2)).T
        moves, turns = (np.column_stack([names, opposites(names)]) for names in (moved, turned))
        both = np.char.add(np.char.add(moves[:, [0, 0, 1, 1]], _JOINED), turns[:, [0, 1, 0, 1]])
        rotates = (turned != "")[:, None]
        mistakes = np.where(rotates, ["", "wrong rotation", "wrong translation", "both wrong"], "")
        return Offer.first_right(
            np.where(rotates, both, with_others(moved, chance.uniform("motion", 3))), mistakes=mistakes
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Both photos; photo 1 has the mark that defines steps of relative length."""
        marks = {"P": fact["point_px"]} if format == "plan" and fact["unit"] == TO_POINT else {}
        media = (Photo.marked(fact["frame_from"], marks), Photo(frame=fact["frame_to"]))
        if format == "choice":
            assert offer is not None
            words = self.wording(format).options
            plans = ([words[name] for name in text.split(_JOINED)] for text in offer.values(0))
            texts = tuple(_JOINED.join([first, *map(str.lower, then)]) for first, *then in plans)
            return Phrasing(media=media, options=texts)
        assert isinstance(answer, Plan)
        length = f"1/{answer.step_fraction}" if answer.step_fraction else f"{answer.translation_step:g}"
        values = {"length": length, "turn_deg": f"{answer.rotation_step_deg:g}"}
        return Phrasing(media=media, wording=_WORDINGS[fact["unit"]], values=values)

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Two frames; a marked corner or the distance between them defines the steps, as the clip has no scale."""
        drawn = pictures.points(rng, 1)
        if drawn is None or len(pictures.clip.frames) < 2:
            return None
        point = drawn[1][0] if rng.integers(2) else None
        unit = BETWEEN if point is None else TO_POINT
        to, counts = pictures.other_frame(drawn[0], rng), rng.integers(FEWEST_STEPS, MAX_STEPS + 1, size=2).tolist()
        return {"frame_from": drawn[0], "frame_to": to, "unit": unit, "point_px": point, "counts": counts}


def _main_motion(moved: Motion) -> tuple[Texts, Float64[np.ndarray, "n"]]:
    """Names of the largest translation and rotation ("Dolly In, then Pan Left"), and the margin in σ.

    Rotations below 10° are not named. "" where no component is the largest.
    """
    translation, rotation = largest(moved, ~ROTATES), largest(moved, ROTATES)
    turns = rotation.visible >= 0
    each = np.column_stack(
        [translation.margins, np.where(turns[:, None], rotation.margins, np.inf), np.abs(rotation.visible)]
    )
    both = np.char.add(np.char.add(translation.name, _JOINED), rotation.name)
    margin = joint(each)
    return np.where(np.isnan(margin), "", np.where(turns, both, translation.name)), margin


def _plans(measured: Measured, facts: Legs) -> Answers:
    """The plans with the step sizes whose counts are nearest to the drawn ones, if σ is small enough for them."""
    relative = facts.unit != METRES
    kept = np.where(np.abs(measured.value) > NOISE_SIGMAS * measured.sigma, measured.value, 0.0)
    in_units, in_metres = (
        _step_size(measured, kept, ~ROTATES, sizes, facts.counts[:, 0]) for sizes in (_FRACTIONS, ROUND_METRES)
    )
    length = np.where(relative, in_units, in_metres)
    angle = _step_size(measured, kept, ROTATES, _ANGLES, facts.counts[:, 1])
    with np.errstate(invalid="ignore", divide="ignore"):
        counts = np.rint(kept / np.where(ROTATES, angle[:, None], length[:, None]))
        fraction = np.where(relative, np.rint(1 / length), np.nan)
    plans = Plan(
        counts=counts,
        translation_step=length,
        rotation_step_rad=angle,
        step_fraction=fraction,
        amounts=measured.value,
        sigma=measured.sigma,
        outlier_probability=measured.outliers,
    )
    cases = {
        _NO_LENGTH: ~(np.isfinite(measured.value) & np.isfinite(measured.sigma)).all(axis=1),
        Plan.refusal: np.isnan(length) | np.isnan(angle),
        _FEW_STEPS: np.abs(kept[:, ~ROTATES]).max(axis=1) < (FEWEST_STEPS - 0.5) * length,
    }
    return Answers.of(plans, first_reason(len(facts), cases))


def _step_size(
    measured: Measured, kept: Six, family: np.ndarray, choices: tuple[float, ...], count: Int64[np.ndarray, "n"]
) -> Float64[np.ndarray, "n"]:
    """The step sizes with which the largest amount takes nearly `count` steps and the plan ends within one step of the
    target; NaN if there is none."""
    sizes = np.array(choices)
    amounts, kept, sigma = measured.value[:, family], kept[:, family], measured.sigma[:, family].max(axis=1)
    largest = np.abs(kept).max(axis=1)[:, None]
    with np.errstate(invalid="ignore"):
        steps = np.round(kept[:, None] / sizes[:, None])
        error = np.linalg.norm(amounts[:, None] - sizes[:, None] * steps, axis=2)
        sure = p_within(error / sizes, sigma[:, None] / sizes, 1.0) >= _PART_CONFIDENCE
        decided = np.asarray(sure & (largest < (MAX_STEPS + 0.5) * sizes))
        best = np.where(decided, np.abs(largest / sizes - count[:, None]), np.inf).argmin(axis=1)
    return np.where(decided.any(axis=1), sizes[best], np.nan)
