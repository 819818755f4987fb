"""L4/Goal-Driven Execution/Agentic Navigation: the plan from photo 2 to photo 3, after a worked example."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from action_mapping.pair_plan import FEWEST_STEPS, MAX_FRACTION, NOISE_SIGMAS, ROUND_METRES, ROUND_RADIANS
from action_mapping.plan import MAX_STEPS
from action_mapping.primitives import COMPONENTS, TRANSLATIONS, primitive, primitive_of
from templates.agent.legs import MIN_SHARE, MIN_TRAVEL, ROTATES, Six, motion, point_in, unit_of_length
from templates.answers import Answer, Plan
from templates.answers.answers import Answers
from templates.columns import Json
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

_PLACES = 20
_SURE = 0.99
_FEW_STEPS, _MANY_STEPS = "the plan has too few steps", "the plan has too many steps"
_NO_LENGTH = "the length of a step is not known"
_FEWEST_SHOWN = 2
"""Fewest steps of the largest move of the worked example."""
_TRIED = 6
"""Ways that are looked at for each that is asked for, ..."""
_SIZES = 4
"""... with so many sizes of steps and turns each."""
_DEGREES = np.array([round(float(np.degrees(angle)), 2) for angle in ROUND_RADIANS if 1.0 <= np.degrees(angle) < 15.5])
_IN_ORDER = [COMPONENTS.index(name) for name in (*TRANSLATIONS, *(c for c in COMPONENTS if c not in TRANSLATIONS))]


@dataclass(frozen=True, kw_only=True)
class TwoLegs(Facts):
    """From one photo over a second one to a third, and the plan of the first leg."""

    frame_from: Int64[np.ndarray, "n"]
    frame_over: Int64[np.ndarray, "n"]
    frame_to: Int64[np.ndarray, "n"]
    point_px: Float64[np.ndarray, "n 2"]
    """In the first photo; its distance defines the steps on a relative path, NaN on a metric one."""
    step: Float64[np.ndarray, "n"]
    """Length in metres; or k, for 1/k of the distance to the point."""
    turn_deg: Float64[np.ndarray, "n"]
    example: Int64[np.ndarray, "n 6"]
    """Signed steps of the first leg, in the order of `COMPONENTS`."""


@dataclass(frozen=True, kw_only=True)
class NavigateLegs(Template):
    """The plan of the second of two legs. Measures its six components (rotations in rad; translations in metres, or in
    distances from photo 1 to the marked point)."""

    name: str = "navigate_legs"
    version: str = "1"
    ability: str = "L4/Goal-Driven Execution/Agentic Navigation"
    formats: tuple[FormatName, ...] = ("plan",)
    facts: ClassVar[type[Facts]] = TwoLegs
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_FEW_STEPS, _MANY_STEPS, _NO_LENGTH})
    """Without the length of a step, a plan can still be wrong: by its rotations."""
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> TwoLegs:
        """Ways over three distant frames, each of which shares its view with the next; of several sizes of steps, one
        with which both plans are sure."""
        frames, metric = places(scene, _PLACES), np.isfinite(scene.metre_relative_sigma)
        views = shared_views(scene, frames)
        legs = (views.share >= MIN_SHARE) & (views.travel >= MIN_TRAVEL)
        ways = np.argwhere(legs[:, :, None] & legs[None] & ~np.eye(len(frames), dtype=bool)[:, None])
        ways = frames[ways[rng.permutation(len(ways))[: _TRIED * count]]]
        points = {} if metric else {a: point_in(scene, a, rng) for a in np.unique(ways[:, :1]).tolist()}
        rows = [
            {"frame_from": a, "frame_over": b, "frame_to": c, "point_px": points.get(a)}
            for a, b, c in ways.tolist()
            if metric or points[a] is not None
        ]
        facts = _with_sizes(scene, rows, rng)
        found = self.measure(facts, scene)
        sure = np.flatnonzero((found.why == "") & (self.answer("plan", facts, found).p_right >= _SURE))
        keys = np.column_stack([facts.frame_from, facts.frame_over, facts.frame_to])[sure]
        first = np.sort(np.unique(keys, axis=0, return_index=True)[1])
        return facts.take(rng.permutation(sure[first])[:count])

    def measure(self, facts: TwoLegs, scene: Scene) -> Measured:
        """As `Navigate`, and refused where the worked example may be wrong."""
        shown, asked = (
            np.column_stack(pair) for pair in ((facts.frame_from, facts.frame_over), (facts.frame_over, facts.frame_to))
        )
        (first, first_sigma, outliers), (second, second_sigma, _) = (
            _in_units(scene, facts, pair) for pair in (shown, asked)
        )
        example = _plan(facts, first, first_sigma, facts.example.astype(float))
        known = np.isfinite(first_sigma + second_sigma).all(axis=1)
        with np.errstate(invalid="ignore"):
            sure = np.asarray(example.p_within()) >= _SURE
        cases = {
            POSITION_UNKNOWN: np.isnan(scene.world_from_cam(np.column_stack([shown, asked[:, 1]]))).any(axis=(1, 2, 3)),
            "the tilt between the photos is too steep for a plan": np.isnan((first + second)[:, ROTATES]).any(axis=1),
            _NO_LENGTH: ~known,
            "the worked example may be wrong": ~sure,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=second,
            sigma=second_sigma,
            outlier_probability=outliers,
            evidence={"ways_in": np.where(_relative(facts), "distances to point P", "m")},
        )

    def answer(self, format: FormatName, facts: TwoLegs, measured: Measured) -> Answers:
        """The plan in whole steps of the sizes in the fact."""
        counts = _whole(facts, measured.value, measured.sigma)
        most = np.abs(counts).max(axis=1)
        cases = {
            _FEW_STEPS: ~(np.abs(counts[:, ~ROTATES]).max(axis=1) >= FEWEST_STEPS),
            _MANY_STEPS: ~(most <= MAX_STEPS),
        }
        plans = _plan(facts, measured.value, measured.sigma, counts, measured.outliers)
        return Answers.of(plans, first_reason(len(facts), cases))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Three photos; the first has the mark that defines steps of relative length. Actions are written as keys."""
        assert isinstance(answer, Plan)
        marks = {} if fact["point_px"] is None else {"P": fact["point_px"]}
        media = (
            Photo.marked(fact["frame_from"], marks),
            Photo(frame=fact["frame_over"]),
            Photo(frame=fact["frame_to"]),
        )
        written = answer.to_json().answer
        values = {
            "example": json.dumps(_keys(np.array(fact["example"])), ensure_ascii=False),
            "length": f"1/{fact['step']:g}" if marks else f"{fact['step']:g}",
            "turn_deg": f"{fact['turn_deg']:g}",
        }
        return Phrasing(
            media=media,
            wording="plan.point" if marks else "plan.metres",
            values=values,
            answer={**written, "actions": [primitive(name).symbol for name in written["actions"]]},
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Three frames, with or without a marked corner, sizes of steps, and any example."""
        drawn, others = pictures.points(rng, 1), pictures.distinct_frames(rng, 2)
        if drawn is None or others is None:
            return None
        point = drawn[1][0] if rng.integers(2) else None
        return {
            "frame_from": drawn[0],
            "frame_over": others[0],
            "frame_to": others[1],
            "point_px": point,
            "step": float(rng.choice(_lengths(point is None))),
            "turn_deg": float(rng.choice(_DEGREES)),
            "example": rng.integers(-MAX_STEPS, MAX_STEPS + 1, size=6).tolist(),
        }


def _relative(facts: TwoLegs) -> Bool[np.ndarray, "n"]:
    return np.isfinite(facts.point_px).all(axis=1)


def _lengths(metric: bool) -> Float64[np.ndarray, "k"]:
    """Steps as facts state them: metres, or k of 1/k."""
    return np.array(ROUND_METRES if metric else range(3, MAX_FRACTION + 1), dtype=float)


def _step(facts: TwoLegs) -> Float64[np.ndarray, "n"]:
    """In metres or in distances to the point."""
    return np.where(_relative(facts), 1 / facts.step, facts.step)


def _in_units(
    scene: Scene, facts: TwoLegs, frames: Int64[np.ndarray, "n 2"]
) -> tuple[Six, Six, Float64[np.ndarray, "n"]]:
    """Amounts of a leg in rad and in metres or distances to the point, their σ, and the outlier probability."""
    moved = motion(scene, frames)
    length, scale_sigma, outliers = unit_of_length(scene, facts.frame_from, facts.point_px)
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = np.where(ROTATES, 1.0, length[:, None])
        own = np.where(ROTATES, 0.0, scale_sigma[:, None] * np.abs(moved.amounts))
        return moved.amounts / unit, np.hypot(moved.sigma, own) / unit, outliers


def _whole(facts: TwoLegs, amounts: Six, sigma: Six) -> Six:
    """Whole steps; none of components within their noise."""
    size = np.where(ROTATES, np.radians(facts.turn_deg)[:, None], _step(facts)[:, None])
    with np.errstate(invalid="ignore"):
        return np.rint(np.where(np.abs(amounts) > NOISE_SIGMAS * sigma, amounts, 0.0) / size)


def _plan(
    facts: TwoLegs, amounts: Six, sigma: Six, counts: Six, outliers: Float64[np.ndarray, "n"] | float = 0.0
) -> Plan:
    return Plan(
        counts=counts,
        translation_step=_step(facts),
        rotation_step_rad=np.radians(facts.turn_deg),
        step_fraction=np.where(_relative(facts), facts.step, np.nan),
        amounts=np.nan_to_num(amounts),
        sigma=sigma,
        outlier_probability=np.broadcast_to(outliers, len(facts)),
    )


def _with_sizes(scene: Scene, rows: list[dict[str, Json]], rng: np.random.Generator) -> TwoLegs:
    """Ways with some random sizes of steps and turns each, and with the example in these."""
    lengths = _lengths(bool(np.isfinite(scene.metre_relative_sigma)))
    blank = {"step": 1.0, "turn_deg": 1.0, "example": [0] * 6}
    facts = TwoLegs.from_json([{**row, **blank} for row in rows for _ in range(_SIZES)])
    legs = [(facts.frame_from, facts.frame_over), (facts.frame_over, facts.frame_to)]
    (first, sigma, _), (second, _, _) = (_in_units(scene, facts, np.column_stack(leg)) for leg in legs)
    steps = lengths if np.isfinite(scene.metre_relative_sigma) else 1 / lengths
    moves, turns = (np.abs([first[:, own], second[:, own]]).max(axis=2) for own in (~ROTATES, ROTATES))
    fewest = np.array([_FEWEST_SHOWN, FEWEST_STEPS])[:, None, None]
    counts = np.rint(moves[..., None] / steps)
    good = ((counts >= fewest) & (counts <= MAX_STEPS)).all(axis=0)
    few = (np.rint(np.degrees(turns)[..., None] / _DEGREES) <= MAX_STEPS).all(axis=0)
    length, degrees = (
        sizes[(rng.random(able.shape) * able).argmax(axis=1)] for sizes, able in ((lengths, good), (_DEGREES, few))
    )
    able = np.flatnonzero(good.any(axis=1) & few.any(axis=1))
    facts = TwoLegs(
        frame_from=facts.frame_from,
        frame_over=facts.frame_over,
        frame_to=facts.frame_to,
        point_px=facts.point_px,
        step=length,
        turn_deg=degrees,
        example=np.zeros((len(facts), 6), dtype=np.int64),
    ).take(able)
    example = _whole(facts, first[able], sigma[able]).astype(np.int64)
    return TwoLegs(**{**{name: getattr(facts, name) for name in _COLUMNS}, "example": example})


_COLUMNS = ("frame_from", "frame_over", "frame_to", "point_px", "step", "turn_deg")


def _keys(counts: Int64[np.ndarray, "6"]) -> dict[str, Json]:
    """A plan in keys, moves first."""
    named = [(COMPONENTS[k], int(counts[k])) for k in _IN_ORDER if counts[k]]
    return {
        "actions": [primitive_of(component, count).symbol for component, count in named],
        "step_nums": [abs(count) for _, count in named],
    }
