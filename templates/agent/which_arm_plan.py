"""L4/Goal-Driven Execution/Robotic Arm: which plan takes the gripper or hand from photo 1 to photo 2?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from action_mapping.pair_plan import FEWEST_STEPS
from action_mapping.plan import MAX_STEPS
from templates.agent.legs import ROTATES, joint
from templates.answers import Answer, Label
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
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
from templates.template import Template
from templates.world import World

_TRIES = 20
_UNITS_CM = (2, 3, 4, 5, 6, 8, 10)
_VISIBLE = 0.02
"""Least length of a unit, in distances from the camera to the wrist."""
_LEAST_APART = 2.5
"""Least distance between the ends of two plans, in units."""
_MOST_TURN_RAD = np.radians(10.0)
"""Plans name no turns."""
_WAYS = (("right", "left"), ("down", "up"), ("forwards", "backwards"))
_STATES = ("open", "closed")


@dataclass(frozen=True, kw_only=True)
class ArmWay(Facts):
    """Two photos of one effector."""

    frames: Int64[np.ndarray, "n 2"]
    unit_cm: Int64[np.ndarray, "n"]
    """Length of a unit."""
    effector: Texts
    """ "gripper" or "hand"."""


@dataclass(frozen=True, kw_only=True)
class WhichArmPlan(Template):
    """The way of the wrist in whole units along the axes of photo 1's camera, and the state of the fingers at its end.
    Measures the way in units. The label is the plan in words ("3 left, 2 up; closed")."""

    name: str = "which_arm_plan"
    version: str = "1"
    ability: str = "L4/Goal-Driven Execution/Robotic Arm"
    formats: tuple[FormatName, ...] = ("choice",)
    world: ClassVar[type[World]] = Episode
    facts: ClassVar[type[Facts]] = ArmWay
    needs: frozenset[str] = frozenset({"effector_path"})
    reads: frozenset[str] = frozenset({"effector_path", "camera_path", "calibration"})

    def propose(self, episode: Episode, rng: np.random.Generator, count: int) -> Facts:
        """Pairs of photos with a way of three to ten units; the state at the end takes turns. A gripper that stays
        open, or closed, would make its state a constant answer."""
        known, path = grip(episode), episode.effector
        clear = known.frames[known.state != BETWEEN]
        if path is None or not len(known.to):
            return ArmWay.none()
        frames = np.sort(rng.choice(clear, (_TRIES * count, 2)), axis=1)
        facts = ArmWay(
            frames=frames,
            unit_cm=rng.choice(_UNITS_CM, len(frames)).astype(np.int64),
            effector=np.full(len(frames), path.effector),
        )
        found = self.measure(facts, episode)
        rows = np.flatnonzero((found.why == "") & (found.as_label().margin > 0))
        closed = np.char.endswith(np.asarray(found.as_label().text)[rows], _STATES[1])
        return facts.take(rows[taking_turns(np.where(closed, *_STATES[::-1]))][:count])

    def measure(self, facts: ArmWay, scene: Scene) -> Measured:
        """The nearest whole units, with a margin from the next ones."""
        each, state, path = motions(scene, facts.frames), grip(scene).at(facts.frames), effector_of(scene)
        unit = 0.01 * facts.unit_cm[:, None]
        amounts, sigma = each.amounts[:, 1], each.sigma[:, 1]
        way, spread = amounts[:, ~ROTATES] / unit, sigma[:, ~ROTATES] / unit
        counts = np.rint(np.nan_to_num(way)).astype(np.int64)
        most = np.abs(counts).max(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            rounding = (0.5 - np.abs(way - counts)) / spread
            steady = (_MOST_TURN_RAD - np.linalg.norm(amounts[:, ROTATES], axis=1)) / sigma[:, ROTATES].max(axis=1)
        cases = {
            "the length of a step is not known": path is None or path.scale.kind != "metric",
            "the photos are not in order of time": facts.frames[:, 0] >= facts.frames[:, 1],
            NO_CAMERA: np.isnan(each.matrix).any(axis=(1, 2, 3)) | np.isnan(each.distance),
            OUT_OF_VIEW: ~in_view(scene, facts.frames).all(axis=1),
            HIDDEN: fingers_hidden(scene, facts.frames[:, 1]),
            "half open in a photo": (state == BETWEEN).any(axis=1),
            "turns": np.isnan(way).any(axis=1) | ~(steady > 0),
            "a way of too few or too many units": (most < FEWEST_STEPS) | (most > MAX_STEPS),
            "the units are too short to be seen": ~(unit[:, 0] >= _VISIBLE * each.distance),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=way,
            sigma=spread,
            label=_in_words(counts, state[:, 1] == CLOSED),
            margin=joint(np.column_stack([rounding, steady])),
            evidence={"way_units": way.round(2)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Label:
        """The plan in words."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer:
        """The right way and a wrong one, each with the fingers open and closed: no part stands out."""
        counts, closed = _from_words(answers.labels())
        ways, every = _wrong_ways(counts), np.arange(len(counts))
        differs = np.linalg.norm(ways - counts[:, None], axis=2) >= _LEAST_APART
        chosen = np.where(differs, chance.uniform("way", ways.shape[1]), -1).argmax(axis=1)
        wrong = ways[every, chosen]
        options = [_in_words(way, state) for way in (counts, wrong) for state in (closed, ~closed)]
        why = np.where(differs.any(axis=1), "", "no wrong way differs enough")
        both = np.array(["mirrored", "opposite way", "opposite way, mirrored"])[chosen]
        mistakes = np.column_stack([np.full(len(both), ""), np.full(len(both), "wrong state"), both, both])
        return Offer.first_right(np.column_stack(options), why=why, mistakes=mistakes)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Both photos."""
        assert offer is not None
        return Phrasing(
            media=tuple(Photo(frame=frame) for frame in fact["frames"]),
            values={"effector": fact["effector"], "unit": str(fact["unit_cm"])},
            options=tuple(offer.values(0)),
        )


def _in_words(counts: Int64[np.ndarray, "n 3"], closed: np.ndarray) -> Texts:
    """ "3 left, 2 up; closed"."""
    return np.array(
        [f"{_way(row)}; {_STATES[int(state)]}" for row, state in zip(counts.tolist(), closed.tolist(), strict=True)],
        dtype=np.str_,
    )


def _way(counts: Sequence[int]) -> str:
    parts = zip(counts, _WAYS, strict=True)
    return ", ".join(f"{abs(count)} {ways[int(count < 0)]}" for count, ways in parts if count)


def _from_words(plans: Texts) -> tuple[Int64[np.ndarray, "n 3"], np.ndarray]:
    """The inverse; zeros for ""."""
    counts = np.zeros((len(plans), 3), dtype=np.int64)
    signed = {way: (axis, sign) for axis, ways in enumerate(_WAYS) for way, sign in zip(ways, (1, -1), strict=True)}
    for row, plan in enumerate(plans.tolist()):
        for part in filter(None, plan.rpartition("; ")[0].split(", ")):
            number, _, way = part.partition(" ")
            axis, sign = signed[way]
            counts[row, axis] = sign * int(number)
    return counts, np.char.endswith(plans, _STATES[1])


def _wrong_ways(counts: Int64[np.ndarray, "n 3"]) -> Int64[np.ndarray, "n 3 3"]:
    """In a mirror, the opposite way, and that in a mirror. A camera that looks down sees every way up or down as a way
    backwards or forwards too: with one of the two signs changed, a way would look odd."""
    return counts[:, None] * np.array([[-1, 1, 1], [-1, -1, -1], [1, -1, -1]])
