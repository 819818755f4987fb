"""L4/Goal-Driven Execution/Agentic Navigation: which move, or which turn, does most to reach the view of photo 2?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.agent.legs import (
    MIN_SHARE,
    MIN_TRAVEL,
    ROTATES,
    joint,
    largest,
    main_name,
    motion,
    offered_names,
    parts_in_words,
)
from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.intervals import places
from templates.scene.misleading import taking_turns
from templates.scene.offsets import POSITION_UNKNOWN
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import shared_views
from templates.template import Template

_PLACES = 20
MOVE, TURN = "move", "turn"
_TWINS = {"Pan": "Truck", "Tilt": "Pedestal"}
"""Rotations, and the translations that shift the picture the same way."""
_TAKEN_FOR = {
    f"{one} {way}": f"{other} {way}"
    for pair in _TWINS.items()
    for one, other in (pair, pair[::-1])
    for way in ("Right", "Left", "Up", "Down")
}


@dataclass(frozen=True, kw_only=True)
class OneLeg(Facts):
    """From one photo to another."""

    frame_from: Int64[np.ndarray, "n"]
    frame_to: Int64[np.ndarray, "n"]
    kind: Texts
    """Whether the largest move or the largest turn is asked for."""


@dataclass(frozen=True, kw_only=True)
class FirstMove(Template):
    """The largest move, or the largest turn, from photo 1 to photo 2. Measures the direction of the translation as a
    unit vector in the axes of photo 1, or the three rotations in rad."""

    name: str = "first_move"
    version: str = "2"
    ability: str = "L4/Goal-Driven Execution/Agentic Navigation"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = OneLeg
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> OneLeg:
        """Ordered pairs of distant frames that share their view; kinds and answers take turns."""
        frames = places(scene, _PLACES)
        views = shared_views(scene, frames)
        shared = (views.share >= MIN_SHARE) & ~np.eye(len(frames), dtype=bool)
        a, b = (np.argwhere(shared & far).T for far in (views.travel >= MIN_TRAVEL, shared))
        pairs, kinds = np.hstack([a, b]), np.repeat([MOVE, TURN], [a.shape[1], b.shape[1]])
        facts = OneLeg(frame_from=frames[pairs[0]], frame_to=frames[pairs[1]], kind=kinds)
        found = self.measure(facts, scene)
        assert found.label is not None
        rows = rng.permutation(np.flatnonzero((found.why == "") & (found.label != "")))
        rows = rows[taking_turns(found.label[rows])]
        return facts.take(rng.permutation(rows[taking_turns(facts.kind[rows])][:count]))

    def measure(self, facts: OneLeg, scene: Scene) -> Measured:
        """The name of the largest component of its kind, and by how many σ it is the largest."""
        frames, turns = np.column_stack([facts.frame_from, facts.frame_to]), facts.kind == TURN
        moved = motion(scene, frames)
        move, turn = largest(moved, ~ROTATES), largest(moved, ROTATES)
        margin = np.where(
            turns, joint(np.column_stack([turn.margins, turn.visible])), joint(np.column_stack([move.margins]))
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            length = np.where(turns, 1.0, np.linalg.norm(moved.amounts[:, ~ROTATES], axis=1))
            value, sigma = (
                np.where(turns[:, None], each[:, ROTATES], each[:, ~ROTATES]) / length[:, None]
                for each in (moved.amounts, moved.sigma)
            )
        cases = {
            POSITION_UNKNOWN: np.isnan(scene.world_from_cam(frames)).any(axis=(1, 2, 3)),
            "the tilt between the photos is too steep for a plan": np.isnan(moved.amounts).any(axis=1),
            "the photos were taken at one place": ~(length > 0),
        }
        other = np.where(turns, move.name, turn.name)
        return Measured(
            why=first_reason(len(facts), cases),
            value=value,
            sigma=sigma,
            label=np.where(np.isnan(margin), "", np.where(turns, turn.name, move.name)),
            margin=margin,
            evidence={"parts": parts_in_words(value, turns)},
            traps={
                "takes moving for turning": np.array([_TAKEN_FOR.get(name, "") for name in other.tolist()], dtype=str)
            },
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
        media = (Photo(frame=fact["frame_from"]), Photo(frame=fact["frame_to"]))
        return Phrasing(media=media, wording=key, options=tuple(words[name] for name in offer.values(0)))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Two frames, and a kind."""
        drawn = pictures.distinct_frames(rng, 2)
        kind = (MOVE, TURN)[rng.integers(2)]
        return {"frame_from": drawn[0], "frame_to": drawn[1], "kind": kind} if drawn else None
