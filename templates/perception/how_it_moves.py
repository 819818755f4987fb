"""L1/Motion/Ego: whether the camera stays, turns or zooms where it stands, or travels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Video
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.camera_motion import path_margins
from templates.scene.intervals import video_intervals
from templates.scene.offsets import offsets
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import scene_distance
from templates.scene.zooming import NO_ZOOM, VISIBLE_ZOOM, ln_magnification, posed
from templates.template import Template

_STAYS, _TURNS, _TRAVELS, _ZOOMS = _WAYS = ("stays", "turns", "travels", "zooms")
_LEAST_SHARE = 0.15
"""Of the clip that a video shows."""
_TRIES = 3
_LEAST_WAY = 0.06
"""Way of a camera that is seen to travel, as a share of the distance of the scene; ..."""
_ARM = 0.15
"""... and of a camera that turns too, its way is longer than the chord of that turn on a circle of this radius, as a
share of the same distance: one held by somebody who turns on the spot goes round them at arm's length, and is said to
turn."""


@dataclass(frozen=True, kw_only=True)
class Ride(Facts):
    """A video."""

    frames: Int64[np.ndarray, "n k"]


@dataclass(frozen=True, kw_only=True)
class HowItMoves(Template):
    """What the camera does in a video: stay, turn or zoom at its place, or travel. Measures the largest angle to the
    first frame in degrees."""

    name: str = "how_it_moves"
    version: str = "3"
    ability: str = "L1/Motion/Ego"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Ride
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _WAYS}
    needs: frozenset[str] = frozenset({"camera_path"})
    instead: ClassVar[Mapping[str, str]] = {"camera_path": "zooming_path"}
    reads: frozenset[str] = SURFACE | {"image_tracks", "zooming_path"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Ride:
        """Random intervals; first those that are decided, with rare answers before others."""
        drawn = Ride(frames=video_intervals(posed(scene), rng, _TRIES * count, _LEAST_SHARE))
        found = self.measure(drawn, scene)
        assert found.label is not None
        words = np.where(found.why == "", found.label, "")
        rank = np.zeros(len(drawn), dtype=np.int64)
        for word in _WAYS:  # the n-th video of each answer comes n-th
            rank[words == word] = np.arange((words == word).sum())
        rank[words == ""] = len(drawn)
        return drawn.take(np.argsort(rank, kind="stable")[:count])

    def measure(self, facts: Ride, scene: Scene) -> Measured:
        """The label that holds for every known frame compared with the first; the margin is the least one."""
        if not len(facts):
            return Measured.none(0, "")
        scene, count, first = posed(scene), len(facts), facts.frames[:, :1]
        others = np.where(facts.frames < 0, first, facts.frames)[:, 1:]
        pairs = np.stack([np.broadcast_to(first, others.shape), others], axis=2).reshape(-1, 2)
        distance = np.repeat(scene_distance(scene, facts.frames[:, 0]), others.shape[1])
        margins = path_margins(scene, pairs, distance)
        by_video = {
            name: getattr(margins, name).reshape(others.shape)
            for name in ("angle_rad", "sigma_rad", "rotates", "keeps_direction", "travels", "keeps_place")
        }
        way = _ways(scene, pairs, distance).reshape(others.shape)
        far = (way >= _LEAST_WAY) & (way >= 2 * _ARM * np.sin(by_video["angle_rad"] / 2))
        travels = np.where(far, by_video["travels"], -np.inf).max(axis=1, initial=-np.inf)
        rotates = by_video["rotates"].max(axis=1, initial=-np.inf)
        shown = (others != first) & np.isfinite(by_video["angle_rad"])
        in_place, straight = (
            np.where(shown, by_video[name], np.inf).min(axis=1, initial=np.inf)
            for name in ("keeps_place", "keeps_direction")
        )
        zooms, steady = _zoom_margins(scene, pairs, others.shape)
        still = np.fmin(straight, in_place)
        each = np.column_stack(
            [np.fmin(still, steady), np.fmin(np.fmin(rotates, in_place), steady), travels, np.fmin(still, zooms)]
        )
        widest = np.where(np.isnan(by_video["angle_rad"]), -1, by_video["angle_rad"]).argmax(axis=1)[:, None]
        angle, sigma = (
            np.degrees(np.take_along_axis(by_video[name], widest, axis=1)) for name in ("angle_rad", "sigma_rad")
        )
        label = np.array(_WAYS)[each.argmax(axis=1)]
        cases = {
            "rotation of a photo is not known": ~np.isfinite(by_video["angle_rad"][:, -1:]).all(axis=1),
            "the camera moves too little to decide": ~(each.max(axis=1) > 0),
        }
        return Measured(
            why=first_reason(count, cases),
            value=angle,
            sigma=sigma,
            label=label,
            margin=np.minimum(each.max(axis=1), 1e6),
            evidence={
                "largest_turn_deg": angle[:, 0].round(1),
                "farthest_over_distance": way.max(axis=1, initial=0.0).round(2),
            },
            traps={
                "a turn taken for a way": np.where(label == _TURNS, _TRAVELS, ""),
                "a way taken for a turn": np.where(label == _TRAVELS, _TURNS, ""),
                "motion in the picture": np.where(label == _STAYS, _TRAVELS, ""),
                "no motion noticed": np.where(label == _STAYS, "", _STAYS),
                "a zoom taken for a way": np.where(label == _ZOOMS, _TRAVELS, ""),
                "a way taken for a zoom": np.where(label == _TRAVELS, _ZOOMS, ""),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The label."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video."""
        return Phrasing(media=(Video(frames=tuple(fact["frames"])),))


def _zoom_margins(
    scene: Scene, pairs: Int64[np.ndarray, "p 2"], shape: tuple[int, int]
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """By how many σ the camera visibly zooms in any frame of each video, and by how many it zooms in none; negative
    infinity where that is not so or not known. Clips that one camera explains do not zoom."""
    ln, sigma = (each.reshape(shape) for each in ln_magnification(scene, pairs))
    if scene.path is None or scene.path.magnification is None:
        return np.full(shape[0], -np.inf), np.full(shape[0], np.inf)
    border = (NO_ZOOM + VISIBLE_ZOOM) / 2
    seen = np.where(np.abs(ln) >= VISIBLE_ZOOM, (np.abs(ln) - border) / sigma, -np.inf)
    unseen = np.where(np.abs(ln) <= NO_ZOOM, (border - np.abs(ln)) / sigma, -np.inf)
    return seen.max(axis=1, initial=-np.inf), unseen.min(axis=1, initial=np.inf)


def _ways(
    scene: Scene, pairs: Int64[np.ndarray, "p 2"], distance: Float64[np.ndarray, "p"]
) -> Float64[np.ndarray, "p"]:
    """How far the places of each pair are from each other, over the distance of the scene; 0 where one is not known,
    NaN where none is."""
    if scene.path is None or scene.path.motion != "general":
        return np.full(len(pairs), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(offsets(scene, pairs).length / distance)
