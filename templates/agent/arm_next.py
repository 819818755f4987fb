"""L4/Goal-Driven Execution/Robotic Arm: which way does the gripper or hand mainly move, or turn, from photo 1 to photo
2, in the axes of the camera of photo 1?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Int64

from templates.agent.legs import ROTATES, Motion, joint, largest, main_name, offered_names, parts_in_words
from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.effector import NO_CAMERA, OUT_OF_VIEW, effector_of, in_view, motions
from templates.scene.episode import Episode
from templates.scene.misleading import taking_turns
from templates.scene.scene import Scene, find_rows
from templates.template import Template
from templates.world import World

MOVE, TURN = "move", "turn"
_TRIES = 20
_LONGEST = 0.35
"""Largest share of the clip between the photos: what comes next."""
_VISIBLE = 0.04
"""Least length of a move, in distances from the camera to the wrist."""
_MOST_TURN_RAD = np.radians(20.0)
"""With larger turns, the fingers may move another way than the wrist."""
_FARTHEST_TURN_RAD = np.radians(150.0)
"""From photo 1 at any time: a wrist that turns farther may look as if it had turned the other way."""


@dataclass(frozen=True, kw_only=True)
class NextOfArm(Facts):
    """Two photos of one effector."""

    frames: Int64[np.ndarray, "n 2"]
    kind: Texts
    """Whether the largest move or the largest turn is asked for."""
    effector: Texts
    """ "gripper" or "hand"."""


@dataclass(frozen=True, kw_only=True)
class ArmNext(Template):
    """The largest move, or the largest turn, from photo 1 to photo 2. Measures the move in distances from the camera to
    the wrist, or the three rotations in rad, in the axes of the camera of photo 1."""

    name: str = "arm_next"
    version: str = "2"
    ability: str = "L4/Goal-Driven Execution/Robotic Arm"
    formats: tuple[FormatName, ...] = ("choice",)
    world: ClassVar[type[World]] = Episode
    facts: ClassVar[type[Facts]] = NextOfArm
    needs: frozenset[str] = frozenset({"effector_path"})
    reads: frozenset[str] = frozenset({"effector_path", "camera_path", "calibration"})

    def propose(self, episode: Episode, rng: np.random.Generator, count: int) -> Facts:
        """Pairs of photos that are not far apart in time; answers take turns."""
        path = episode.effector
        if path is None or len(path.frames) < 2:
            return NextOfArm.none()
        first = rng.integers(len(path.frames) - 1, size=_TRIES * count)
        gap = 1 + rng.integers(max(1, round(_LONGEST * len(path.frames))), size=len(first))
        frames = path.frames[np.column_stack([first, np.minimum(first + gap, len(path.frames) - 1)])]
        kind = rng.choice([MOVE, TURN], len(frames))
        facts = NextOfArm(frames=frames, kind=kind, effector=np.full(len(frames), path.effector))
        found = self.measure(facts, episode)
        assert found.label is not None
        rows = np.flatnonzero((found.why == "") & (found.label != ""))
        rows = rows[taking_turns(found.label[rows])]
        axes = np.array([name.split()[0] for name in found.label[rows].tolist()], dtype=np.str_)
        return facts.take(rows[taking_turns(axes)][:count])

    def measure(self, facts: NextOfArm, scene: Scene) -> Measured:
        """The name of the largest component of its kind, and by how many σ it is the largest and visible."""
        each, turns = motions(scene, facts.frames), facts.kind == TURN
        moved = Motion(amounts=each.amounts[:, 1], sigma=each.sigma[:, 1])
        move, turn = largest(moved, ~ROTATES), largest(moved, ROTATES)
        length, angle = (np.linalg.norm(moved.amounts[:, part], axis=1) for part in (~ROTATES, ROTATES))
        with np.errstate(invalid="ignore", divide="ignore"):
            visible = (length - _VISIBLE * each.distance) / moved.sigma[:, ~ROTATES].max(axis=1)
            steady = (_MOST_TURN_RAD - angle) / moved.sigma[:, ROTATES].max(axis=1)
            unit = np.where(turns, 1.0, each.distance)
            value, sigma = (
                np.where(turns[:, None], part[:, ROTATES], part[:, ~ROTATES]) / unit[:, None]
                for part in (moved.amounts, moved.sigma)
            )
        margin = np.where(
            turns,
            joint(np.column_stack([turn.margins, turn.visible])),
            joint(np.column_stack([move.margins, visible, steady])),
        )
        cases = {
            "the photos are not in order of time": facts.frames[:, 0] >= facts.frames[:, 1],
            NO_CAMERA: np.isnan(each.matrix).any(axis=(1, 2, 3)) | np.isnan(each.distance),
            "turns too steeply for a plan": np.isnan(moved.amounts).any(axis=1),
            OUT_OF_VIEW: ~in_view(scene, facts.frames).all(axis=1),
            "turns nearly half around or farther": turns & _turns_far(scene, facts.frames),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=value,
            sigma=sigma,
            label=np.where(np.isnan(margin), "", np.where(turns, turn.name, move.name)),
            margin=margin,
            evidence={"parts": parts_in_words(value, turns)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The name."""
        return main_name(measured)

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer:
        """The right name, its opposite, and both names of another axis."""
        return offered_names(answers, chance)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Both photos."""
        assert offer is not None
        key = f"choice.{fact['kind']}"
        words = self.wording(key).options
        return Phrasing(
            media=tuple(Photo(frame=frame) for frame in fact["frames"]),
            wording=key,
            values={"effector": fact["effector"]},
            options=tuple(words[name] for name in offer.values(0)),
        )


def _turns_far(scene: Scene, frames: Int64[np.ndarray, "n 2"]) -> Bool[np.ndarray, "n"]:
    """Whether the wrist is turned very far from where it was in photo 1, at any time until photo 2."""
    path, far = effector_of(scene), np.zeros(len(frames), dtype=bool)
    if path is None:
        return far
    for row, (first, last) in enumerate(find_rows(path.frames, frames).tolist()):
        turned = path.base_from_view[first : last + 1, :3, :3]
        cosine = (np.einsum("ij,nij->n", path.base_from_view[first, :3, :3], turned) - 1) / 2
        far[row] = min(first, last) >= 0 and bool((cosine < np.cos(_FARTHEST_TURN_RAD)).any())
    return far
