"""L2/Understanding/Motion Understanding: in which manner a camera films what is in the middle of its picture."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts
from templates.mapping.filmed_path import AboutPath, timed_videos, video_of
from templates.measured import Measured
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.camera_manner import (
    FOLLOWS,
    IN,
    MANNERS,
    ORBITS,
    OUT,
    PAST,
    REVEALS,
    TURNS,
    WANDERS,
    camera_manner,
)
from templates.scene.scene import SURFACE, Scene

_LIKE = {ORBITS: TURNS, TURNS: ORBITS, IN: OUT, OUT: IN, PAST: TURNS, FOLLOWS: PAST, REVEALS: PAST, WANDERS: TURNS}
"""What each manner is taken for by somebody who sees the picture move, but not how."""


@dataclass(frozen=True, kw_only=True)
class Filmed(Facts):
    """A video."""

    frames: Int64[np.ndarray, "n k"]


@dataclass(frozen=True, kw_only=True)
class CameraManner(AboutPath):
    """Whether the camera orbits what is in the middle of its picture, pushes in on it, pulls back from it, tracks past
    it, or turns in place; follows something that moves, reveals what was hidden, or wanders about. Measures by how many
    degrees it goes round that or turns, and how many times as large that becomes."""

    name: str = "camera_manner"
    version: str = "3"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Filmed
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MANNERS}
    reads: frozenset[str] = SURFACE | {"objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Filmed:
        """Videos that are filmed in one manner; the n-th video of each manner comes n-th."""
        videos = scene.once("videos filmed in a manner", lambda: _videos(scene))
        shuffled = [videos[k] for k in rng.permutation(len(videos))]
        labels = [label for _, label in shuffled]
        order = sorted(range(len(shuffled)), key=lambda k: labels[:k].count(labels[k]))
        return Filmed.from_json([{"frames": shuffled[k][0].tolist()} for k in order[:count]])

    def measure(self, facts: Filmed, scene: Scene) -> Measured:
        """The manner whose definition holds, while those of all others fail."""
        found = [camera_manner(scene, frames) for frames in facts.frames]
        label = np.array([one.label for one in found], dtype=np.str_)
        value = np.array([[one.around_deg, one.nearer] for one in found]).reshape(-1, 2)
        return Measured(
            why=np.array([one.why for one in found], dtype=np.str_),
            value=value,
            sigma=np.zeros_like(value),
            label=label,
            margin=np.array([one.margin for one in found], dtype=np.float64),
            evidence={"round_the_middle_deg": value[:, 0].round(), "nearer": value[:, 1].round(2)},
            traps={"how the picture moves": np.array([_LIKE.get(one.label, "") for one in found], dtype=np.str_)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The manner."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video."""
        return Phrasing(media=video_of(fact))


def _videos(scene: Scene) -> list[tuple[Int64[np.ndarray, "k"], str]]:
    found = [(frames, camera_manner(scene, frames)) for frames in timed_videos(scene)]
    return [(frames, one.label) for frames, one in found if not one.why and one.margin > 0]
