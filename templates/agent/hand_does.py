"""L4/Goal-Driven Execution/Robotic Arm: does the gripper or hand open, close, push or pull between two photos?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from action_mapping.effector_motion import EffectorSettings
from templates.answers import Answer, Label
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.effector import BETWEEN, CLOSED, NO_EFFECTOR, OPEN, effector_of, grip, not_shown
from templates.scene.episode import Episode
from templates.scene.misleading import taking_turns
from templates.scene.scene import Scene, find_rows
from templates.template import Template
from templates.world import World

DEEDS = ("opens", "closes", "pushes", "pulls")
CLEAR_FRAMES = 2
"""Least number of frames between a photo and the time in which the state changes."""
_FRAMES_SIGMA = 0.8
"""σ of the first and last frame of a change."""
_TRAVEL = EffectorSettings().travel
"""Least motion of a closed effector that is a push or a pull, in metres; with less than half of it there is none."""
_ALONG = 0.8
"""Least share of a push or a pull in the whole motion between the photos: others go sideways."""
_TRIES = 6


@dataclass(frozen=True, kw_only=True)
class TwoPhotosOfGrip(Facts):
    """Two photos of one effector."""

    frames: Int64[np.ndarray, "n 2"]
    """In order of time."""
    effector: Texts
    """ "gripper" or "hand"."""


@dataclass(frozen=True, kw_only=True)
class HandDoes(Template):
    """What the effector does from photo 1 to photo 2. Measures the motion of the closed effector along its forward
    axis, in metres, and the number of frames between its change of state and the photos."""

    name: str = "hand_does"
    version: str = "1"
    ability: str = "L4/Goal-Driven Execution/Robotic Arm"
    formats: tuple[FormatName, ...] = ("choice",)
    world: ClassVar[type[World]] = Episode
    facts: ClassVar[type[Facts]] = TwoPhotosOfGrip
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": DEEDS}
    needs: frozenset[str] = frozenset({"effector_path"})
    reads: frozenset[str] = frozenset({"effector_path", "camera_path", "calibration"})

    def propose(self, episode: Episode, rng: np.random.Generator, count: int) -> Facts:
        """By turns photos around a change of state and photos of a closed effector that moves."""
        known, path = grip(episode), episode.effector
        if path is None or len(known.frames) < 2:
            return TwoPhotosOfGrip.none()
        ends = rng.choice(known.frames, (_TRIES * count, 2))
        if len(known.to):
            k = rng.integers(len(known.to), size=_TRIES * count)
            reach = 2 + 0.15 * rng.random((len(k), 2)) * len(known.frames)
            around = np.column_stack([known.since[k] - reach[:, 0], known.until[k] + reach[:, 1]]).round()
            ends = np.where((np.arange(len(k)) % 2 == 0)[:, None], around, ends)
        ends = np.sort(ends, axis=1).astype(np.int64)
        rows = ends[np.isin(ends, known.frames).all(axis=1) & (ends[:, 0] < ends[:, 1])]
        facts = TwoPhotosOfGrip(frames=rows, effector=np.full(len(rows), path.effector))
        measured = self.measure(facts, episode)
        rows = np.flatnonzero(measured.why == "")
        return facts.take(rows[taking_turns(np.asarray(measured.as_label().text)[rows])])

    def measure(self, facts: TwoPhotosOfGrip, scene: Scene) -> Measured:
        """One change of state while the closed effector stays; or none, and a motion along the fingers."""
        each = [_deed(scene, int(a), int(b)) for a, b in facts.frames]
        why = np.array([why for why, *_ in each], dtype=np.str_)
        value, sigma = (np.array([row[k] for row in each]).reshape(-1, 2) for k in (2, 3))
        with np.errstate(invalid="ignore", divide="ignore"):
            along = (np.abs(value[:, 0]) - _TRAVEL) / sigma[:, 0]
        margin = np.where(np.isnan(value[:, 1]), along, value[:, 1] / sigma[:, 1])
        label = np.array([label for _, label, *_ in each], dtype=np.str_)
        opposite = dict(zip(DEEDS, ("closes", "opens", "pulls", "pushes"), strict=True))
        return Measured(
            why=np.where(why == "", not_shown(scene, facts.frames), why),
            value=value,
            sigma=sigma,
            label=label,
            margin=margin,
            evidence={"along_cm": (100 * value[:, 0]).round(1)},
            traps={"the opposite": np.array([opposite.get(text, "") for text in label.tolist()], dtype=np.str_)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Label:
        """The deed."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Both photos."""
        media = tuple(Photo(frame=frame) for frame in fact["frames"])
        return Phrasing(media=media, values={"effector": fact["effector"]})


_Pair = Float64[np.ndarray, "2"]


def _deed(scene: Scene, frame_a: int, frame_b: int) -> tuple[str, str, _Pair, _Pair]:
    """Why there is no answer, or "" and the deed; motion along the fingers and clear frames, and their σ."""
    nothing, known, path = np.full(2, np.nan), grip(scene), effector_of(scene)
    if path is None or path.scale.kind != "metric":
        return NO_EFFECTOR, "", nothing, nothing
    rows = find_rows(path.frames, [frame_a, frame_b])
    part = slice(int(rows[0]), int(rows[1]) + 1)
    if rows.min() < 0 or rows[0] >= rows[1] or not np.isfinite(path.base_from_view[part]).all():
        return NO_EFFECTOR, "", nothing, nothing
    frames, poses = path.frames[part], path.base_from_view[part]
    state = known.at(frames)
    if state[0] == BETWEEN or state[-1] == BETWEEN or not np.isfinite(path.opening[part]).all():
        return "half open in a photo", "", nothing, nothing
    inside = np.flatnonzero((known.since >= frame_a) & (known.until <= frame_b))
    if len(inside) > 1:
        return "opens and closes", "", nothing, nothing
    steps = np.einsum("ni,ni->n", poses[:-1, :3, 2], np.diff(poses[:, :3, 3], axis=0))
    forward = np.append(0.0, np.cumsum(steps))
    formal = np.hypot(path.position_sigma[rows[0]], path.position_sigma[rows[1]])
    moved = float(np.linalg.norm(poses[-1, :3, 3] - poses[0, :3, 3]))
    sigma = np.array([np.hypot(formal, path.rotation_sigma_rad[part].max() * moved), _FRAMES_SIGMA])
    if len(inside):
        (k,) = inside
        clear = min(known.since[k] - frame_a, frame_b - known.until[k])
        closed = forward[(frames >= known.until[k]) if known.to[k] == CLOSED else (frames <= known.since[k])]
        why = "opens or closes near a photo" if clear < CLEAR_FRAMES else ""
        why = why or ("also pushes or pulls" if np.ptp(closed) > _TRAVEL / 2 else "")
        return why, DEEDS[int(known.to[k] == CLOSED)], np.array([np.ptp(closed), clear]), sigma
    if OPEN in state:
        return "the gripper or hand stays open", "", nothing, nothing
    along = float(forward[-1])
    cases = {
        "hardly moves along its fingers": abs(along) < _TRAVEL,
        "goes forwards and back": np.ptp(forward) > abs(along) / _ALONG,
        "moves sideways": abs(along) < _ALONG * moved,
    }
    why = next((why for why, holds in cases.items() if holds), "")
    return why, DEEDS[2 + int(along < 0)], np.array([along, np.nan]), sigma
