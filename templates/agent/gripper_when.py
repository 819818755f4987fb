"""L4/Goal-Driven Execution/Robotic Arm: in which photo is the gripper or hand closed, or open, for the first time?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer, Label
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.effector import CLOSED, OPEN, grip, not_shown
from templates.scene.episode import Episode
from templates.scene.scene import Scene
from templates.template import Template
from templates.world import World

PHOTOS = 4
_LATER = tuple(str(number) for number in range(2, PHOTOS + 1))
CLEAR_FRAMES = 2
"""Least number of frames between a photo and the time in which the state changes."""
FRAMES_SIGMA = 0.8
"""σ of the first and last frame of a change: an opening is recorded up to a frame early or late."""
STATES = {"open": OPEN, "closed": CLOSED}


@dataclass(frozen=True, kw_only=True)
class PhotosOfGrip(Facts):
    """Photos of one effector that opens or closes once while they are taken."""

    frames: Int64[np.ndarray, "n 4"]
    """In order of time."""
    state: Texts
    """The later one: a key of `STATES`."""
    effector: Texts
    """ "gripper" or "hand"."""


@dataclass(frozen=True, kw_only=True)
class GripperWhen(Template):
    """The first photo with the new state. Measures how many frames before and after the change the nearest photos were
    taken."""

    name: str = "gripper_when"
    version: str = "1"
    ability: str = "L4/Goal-Driven Execution/Robotic Arm"
    formats: tuple[FormatName, ...] = ("choice",)
    world: ClassVar[type[World]] = Episode
    facts: ClassVar[type[Facts]] = PhotosOfGrip
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _LATER}
    needs: frozenset[str] = frozenset({"effector_path"})
    reads: frozenset[str] = frozenset({"effector_path", "camera_path", "calibration"})

    def propose(self, episode: Episode, rng: np.random.Generator, count: int) -> Facts:
        """For each change by turns one to three photos of the old state, and the others of the new one."""
        known, path = grip(episode), episode.effector
        if path is None or not len(known.to):
            return PhotosOfGrip.none()
        borders = np.concatenate([known.frames[:1] - 1, known.until, known.frames[-1:] + 1])
        rows = []
        for number in range(count):
            k, old = number % len(known.to), 1 + number // len(known.to) % (PHOTOS - 1)
            frames, state = known.frames, known.to[k]
            before = frames[(frames >= borders[k]) & (frames <= known.since[k] - CLEAR_FRAMES)]
            after = frames[(frames >= known.until[k] + CLEAR_FRAMES) & (frames < borders[k + 2])]
            before, after = (part[known.at(part) == s] for part, s in ((before, 1 - state), (after, state)))
            if len(before) < old or len(after) < PHOTOS - old:
                continue
            shown = [rng.choice(before, old, replace=False), rng.choice(after, PHOTOS - old, replace=False)]
            word = next(word for word, meant in STATES.items() if meant == state)
            rows.append({"frames": np.sort(np.concatenate(shown)).tolist(), "state": word, "effector": path.effector})
        return PhotosOfGrip.from_json(rows)

    def measure(self, facts: PhotosOfGrip, scene: Scene) -> Measured:
        """Once, and clear of the photos."""
        known = grip(scene)
        new = np.array([STATES[state] for state in facts.state], dtype=np.int64)
        is_new = known.at(facts.frames) == new[:, None]
        first = is_new.argmax(axis=1)
        once = is_new == (np.arange(PHOTOS) >= np.maximum(first, 1)[:, None])
        clear, between = np.full((len(facts), 2), np.nan), np.zeros(len(facts), dtype=np.int64)
        for row, frames in enumerate(facts.frames):
            inside = (known.since >= frames[0]) & (known.until <= frames[-1])
            between[row] = inside.sum()
            if between[row] == 1 and first[row]:
                (k,) = np.flatnonzero(inside)
                clear[row] = known.since[k] - frames[first[row] - 1], frames[first[row]] - known.until[k]
        cases = {
            "the photos are not in order of time": (np.diff(facts.frames, axis=1) <= 0).any(axis=1),
            "opening of the gripper or hand not known": ~np.isin(facts.frames, known.frames).all(axis=1),
            "half open in a photo": (known.at(facts.frames) < 0).any(axis=1),
            "opens and closes other than once": (between != 1) | ~once.all(axis=1),
            "opens or closes near a photo": ~(clear >= CLEAR_FRAMES).all(axis=1),
        }
        why = first_reason(len(facts), cases)
        return Measured(
            why=np.where(why == "", not_shown(scene, facts.frames), why),
            value=clear,
            sigma=np.full(clear.shape, FRAMES_SIGMA),
            label=np.array(("", *_LATER))[first],
            margin=clear.min(axis=1) / FRAMES_SIGMA,
            evidence={"frames_from_change": clear},
            traps={
                "a photo too late": np.array(("", *_LATER[1:], ""))[first],
                "a photo too early": np.array(("", "", *_LATER[:-1]))[first],
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Label:
        """The number of the photo."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The photos in order of time."""
        values = {"effector": fact["effector"], "state": fact["state"]}
        return Phrasing(media=tuple(Photo(frame=frame) for frame in fact["frames"]), values=values)
