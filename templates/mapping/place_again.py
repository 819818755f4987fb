"""L2/Memory/Memory Retrieval: which of four photos was taken nearest to the place of another one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.intervals import places
from templates.scene.misleading import misleading_first
from templates.scene.offsets import POSITION_UNKNOWN, offsets
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene, angle_between_rad
from templates.scene.shared_view import shared_views
from templates.template import Template

_OTHERS = ("2", "3", "4", "5")
_PLACES = 24
_RATIO, _STEP = 1.5, 0.15
"""By how much the next photo is farther than the nearest: least ratio, and least difference as a share of the distance
of what photo 1 shows. Nobody sees less."""
_SURE = 0.99
"""Least P(right) of a photo that is proposed."""
_MISLEADING = 0.6
"""Least share of facts in which another photo shows more of photo 1."""
_LARGEST_SHARE = "shows most of photo 1"
_LITTLE_SHARED, _AS_NEAR = "the photos share too little of their view", "two photos are about as near"


@dataclass(frozen=True, kw_only=True)
class FivePhotos(Facts):
    """A photo and four others."""

    frame: Int64[np.ndarray, "n"]
    frames_others: Int64[np.ndarray, "n 4"]


@dataclass(frozen=True, kw_only=True)
class PlaceAgain(Template):
    """Which of photos 2 to 5 was taken nearest to where photo 1 was. Measures the distances of their cameras from that
    of photo 1, over the distance of what photo 1 shows."""

    name: str = "place_again"
    version: str = "1"
    ability: str = "L2/Memory/Memory Retrieval"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = FivePhotos
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _OTHERS}
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_LITTLE_SHARED, _AS_NEAR})
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> FivePhotos:
        """Photos that all share part of their view with photo 1; mostly another one shares most of it."""
        facts = _drawn(scene, rng)
        measured = self.measure(facts, scene)
        rows = np.flatnonzero((measured.why == "") & (measured.as_label().p_right() >= _SURE))
        misled = np.asarray(measured.label != measured.traps[_LARGEST_SHARE])
        return facts.take(rows[misleading_first(misled[rows], rng, _MISLEADING)[:count]])

    def measure(self, facts: FivePhotos, scene: Scene) -> Measured:
        """The photo with the smallest distance; σ: both positions ⊕ what is systematic along the path."""
        n, k = facts.frames_others.shape
        pairs = np.column_stack([facts.frame.repeat(k), facts.frames_others.reshape(-1)])
        each, at = np.unique(pairs, return_inverse=True)
        a, b = at.reshape(n * k, 2).T
        views, offset = shared_views(scene, each), offsets(scene, pairs)
        unit = views.distance[a].reshape(n, k)
        sigma = offset.shift_sigma.reshape(n, k) / unit
        length, mutual, share = (
            column.reshape(n, k) for column in (offset.length, views.mutual[a, b], views.share[a, b])
        )
        travel = length / unit
        order = np.argsort(np.where(np.isnan(travel), np.inf, travel), axis=1, kind="stable")
        near, near_sigma = (np.take_along_axis(column, order, axis=1) for column in (travel, sigma))
        with np.errstate(invalid="ignore"):
            cases = {
                POSITION_UNKNOWN: ~np.isfinite(travel + sigma).all(axis=1),
                "a photo is shown twice": (pairs[:, 0] == pairs[:, 1]).reshape(n, k).any(axis=1),
                _LITTLE_SHARED: ~mutual.all(axis=1),
                _AS_NEAR: near[:, 1] < np.maximum(_RATIO * near[:, 0], near[:, 0] + _STEP),
            }
            apart = np.hypot(near_sigma[:, 1:], near_sigma[:, :1])
        return Measured(
            why=first_reason(n, cases),
            value=travel,
            sigma=sigma,
            label=_named(travel),
            margin=margin_of_all(near[:, 1:] - near[:, :1], apart),
            evidence={"travel_over_distance": travel.round(2)},
            traps={
                _LARGEST_SHARE: _named(-share),
                "looks most nearly the same way": _named(_turned(scene, pairs).reshape(n, k)),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the photo."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Five photos."""
        return Phrasing(media=tuple(Photo(frame=frame) for frame in (fact["frame"], *fact["frames_others"])))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Five frames."""
        drawn = pictures.distinct_frames(rng, 1 + len(_OTHERS))
        return None if drawn is None else {"frame": drawn[0], "frames_others": [*drawn[1:]]}


def _named(value: Float64[np.ndarray, "n 4"]) -> Texts:
    """The photo with the smallest value."""
    return np.array(_OTHERS)[np.where(np.isnan(value), np.inf, value).argmin(axis=1)]


def _turned(scene: Scene, pairs: Int64[np.ndarray, "n 2"]) -> Float64[np.ndarray, "n"]:
    rotations = scene.world_from_cam(pairs)[..., :3, :3]
    return np.asarray(angle_between_rad(rotations[:, 0], rotations[:, 1]))


def _drawn(scene: Scene, rng: np.random.Generator) -> FivePhotos:
    """For every two photos, three more that are farther from the first; one of them shows most of it."""
    frames = places(scene, _PLACES)
    views, rows = shared_views(scene, frames), []
    for a, b in np.argwhere(views.mutual & ~np.eye(len(frames), dtype=bool)).tolist():
        travel = views.travel[a]
        with np.errstate(invalid="ignore"):
            farther = np.flatnonzero(views.mutual[a] & (travel >= max(_RATIO * travel[b], travel[b] + _STEP)))
        farther = rng.permutation(farther[farther != a])
        if len(farther) >= len(_OTHERS) - 1:
            like = farther[np.argmax(views.share[a, farther])]
            two = farther[farther != like][: len(_OTHERS) - 2]
            rows.append((a, *rng.permutation([b, like, *two]).tolist()))
    chosen = frames[np.array(rows, dtype=np.int64).reshape(-1, 1 + len(_OTHERS))]
    return FivePhotos(frame=chosen[:, 0], frames_others=chosen[:, 1:])
