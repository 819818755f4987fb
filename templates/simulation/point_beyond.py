"""L3/Causal Reasoning/Relation: which marked point lies just outside another photo, next to a point at its edge."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.columns import Columns, Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.elsewhere import elsewhere, on_mover
from templates.scene.intervals import places
from templates.scene.marks import markable, spaced
from templates.scene.named_pixels import name_of, pixel_of
from templates.scene.past_edge import (
    EDGES,
    SIDE_OF_EDGE,
    at_edge,
    away,
    beside_edge,
    edge_normals,
    in_axes_of,
    mirrored,
)
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import shared_views
from templates.scene.surface import Surface
from templates.template import Template

_MARKS = ("1", "2", "3")
_PLACES = 14
_PER_PAIR = 3
"""Points at edges that are tried for each pair of photos."""
_ALONG_EDGE = (0.08, 0.92)
"""Where these lie along the edge, as shares of it."""
_NEAR_RAD, _NEXT_RAD = np.radians(16), np.radians(10)
"""Largest angle from the point to the marked one next to it, and least one from there to any other outside."""
_STRAIGHT_RAD = np.radians(5)
"""Largest angle between the marked point and the continued row of the point."""
_CLEAR_RAD = np.radians(1.5)
"""Least angle between marked points and the edges of the photo, outside or inside."""
_APART = 0.08
"""Least distance between marks, as a share of the diagonal."""
_OUTSIDE = 1
"""So many wrong points are drawn first among those outside the photo."""
_SIGMAS = 3.2
"""Least distance of marked points from the edges of the photo in σ."""
_SURE = 0.99
"""Least P(right) of an answer that is proposed."""


@dataclass(frozen=True, kw_only=True)
class MarksBeyond(Facts):
    """A point at an edge of a photo, and three marked points of another one."""

    frame: Int64[np.ndarray, "n"]
    point_px: Float64[np.ndarray, "n 2"]
    size: Int64[np.ndarray, "n 2"]
    """Width and height of the photo, in px."""
    edge: Texts
    frame_marked: Int64[np.ndarray, "n"]
    marks_px: Float64[np.ndarray, "n 3 2"]


@dataclass(frozen=True, kw_only=True)
class _Ways(Columns):
    """k places around each of n photos."""

    angle: Float64[np.ndarray, "n k"]
    """From the point at the edge."""
    aside: Float64[np.ndarray, "n k"]
    """Its part across the row of the point."""
    past: Float64[np.ndarray, "n k"]
    """Beyond the edge of the point, ..."""
    beyond: Float64[np.ndarray, "n k"]
    """... and beyond any edge; < 0 inside."""


@dataclass(frozen=True, kw_only=True)
class PointBeyond(Template):
    """Which of three points of photo 1 is the nearest one outside photo 2, straight on from a point at its edge.
    Measures the angles from there, in rad."""

    name: str = "point_beyond"
    version: str = "1"
    ability: str = "L3/Causal Reasoning/Relation"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = MarksBeyond
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> MarksBeyond:
        """Points of photos that share their view, one of them just outside the other photo; most of the others are out
        of view, too."""
        drawn = [*islice(_drawn(scene, rng), 4 * count)]
        facts = MarksBeyond.from_json(drawn)
        measured = self.measure(facts, scene)
        sure = (measured.why == "") & (measured.as_label().p_right() >= _SURE)
        return facts.take(np.flatnonzero(sure)[:count])

    def measure(self, facts: MarksBeyond, scene: Scene) -> Measured:
        """The mark; σ from the ranges of the points and the poses of both photos."""
        there, here = facts.frame_marked, facts.frame
        if scene.path is None:
            return Measured.none(len(facts), "the camera path is not known", len(_MARKS))
        sigma, places_cam, outliers, moves = [], [], [], []
        for xy_px in facts.marks_px.swapaxes(0, 1):
            surface = scene.surface(there, xy_px)
            sigma.append(_sigma(scene, there, here, surface))
            places_cam.append(surface.xyz_cam)
            outliers.append(surface.outlier_probability)
            moves.append(on_mover(scene, there, xy_px))
        spread = np.column_stack(sigma)
        placed = in_axes_of(scene, here, there, np.stack(places_cam, axis=1))
        ways = _ways(scene, placed, facts.point_px, facts.edge)
        across = _ways(scene, placed, *mirrored(facts.point_px, facts.edge, facts.size))
        outside = ways.beyond > 0
        angle = np.where(outside & (ways.past > 0), ways.angle, np.inf)
        first, row = angle.argmin(axis=1), np.arange(len(facts))
        others = np.where(outside, ways.angle - ways.angle[row, first][:, None], np.inf)
        others[row, first] = np.inf
        cases = {
            "the place of a marked point is not known": ~np.isfinite(ways.angle + spread).all(axis=1),
            "a marked point moves": np.any(moves, axis=0),
            "no marked point is just beyond the edge": ~(
                (angle.min(axis=1) <= _NEAR_RAD) & (np.abs(ways.aside[row, first]) <= _STRAIGHT_RAD)
            ),
            "a marked point is at an edge of the photo": ~(np.abs(ways.beyond) >= _CLEAR_RAD).all(axis=1),
            "another marked point is about as near": ~(others >= _NEXT_RAD).all(axis=1),
        }
        known = np.isfinite(others)
        steps = np.column_stack([np.abs(ways.beyond), np.where(known, others, 1.0)])
        own = np.hypot(spread, spread[row, first][:, None])
        marks = np.array(_MARKS)
        return Measured(
            why=first_reason(len(facts), cases),
            value=ways.angle,
            sigma=spread,
            label=marks[first],
            margin=margin_of_all(steps, np.column_stack([spread, np.where(known, own, 1e-9)])),
            outlier_probability=1 - np.prod([1 - each for each in outliers], axis=0),
            evidence={
                "angles_deg": np.degrees(ways.angle).round(1),
                "outside_deg": np.degrees(ways.beyond).round(1),
            },
            traps={
                "in the photo, next to the point": _least(np.where(outside, np.inf, ways.angle)),
                "farther beyond the edge": _least(np.where((ways.past > 0) & np.isfinite(others), ways.angle, np.inf)),
                "beyond the opposite edge": _least(np.where(across.past > 0, across.angle, np.inf)),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Photo 1 with three marks, and photo 2 without."""
        marked = Photo.marked(fact["frame_marked"], dict(zip(_MARKS, fact["marks_px"], strict=True)))
        x, y = name_of(np.array(fact["point_px"]), np.array(fact["size"])).tolist()
        values = {"x": x, "y": y, "side": SIDE_OF_EDGE[fact["edge"]]}
        return Phrasing(media=(marked, Photo(frame=fact["frame"])), values=values)

    def placed(self, facts: MarksBeyond, scene: Scene) -> Facts:
        """As they are: the point stays at the edge."""
        return facts


def _least(angle: Float64[np.ndarray, "n k"]) -> Texts:
    """The mark of the smallest angle; "" for none."""
    return np.where(np.isfinite(angle).any(axis=1), np.array(_MARKS)[angle.argmin(axis=1)], "")


def _ways(scene: Scene, seen: Float64[np.ndarray, "n k 3"], point_px: Float64[np.ndarray, "n 2"], edge: Texts) -> _Ways:
    """Places in the camera axes of a photo, as seen from a point at its edge."""
    along, aside = beside_edge(scene, point_px, edge, seen)
    past = _past_edges(scene, seen)
    number = np.argmax(edge[:, None] == np.array(EDGES), axis=1)
    own = np.take_along_axis(past, number[:, None, None], axis=2)[:, :, 0]
    return _Ways(angle=away(along, aside), aside=aside, past=own, beyond=past.max(axis=2))


def _past_edges(scene: Scene, ways: Float64[np.ndarray, "*n 3"]) -> Float64[np.ndarray, "*n 4"]:
    """Angle of directions beyond the plane of each edge."""
    with np.errstate(invalid="ignore", divide="ignore"):
        sine = ways @ edge_normals(scene).T / np.linalg.norm(ways, axis=-1, keepdims=True)
    return np.asarray(np.arcsin(np.clip(sine, -1, 1)))


def _drawn(scene: Scene, rng: np.random.Generator) -> Iterator[dict[str, Json]]:
    """Facts that may be worth asking: a marked point just beyond an edge, and two that are clearly elsewhere."""
    frames = places(scene, _PLACES)
    if scene.path is None or not len(frames):
        return
    frame, xy = markable(scene, frames.tolist())
    mutual = shared_views(scene, frames).mutual & ~np.eye(len(frames), dtype=bool)
    size = np.array([scene.clip.width_px, scene.clip.height_px])
    pairs = np.argwhere(mutual)
    surfaces = scene.surface(frame, xy)
    for _ in range(_PER_PAIR):
        for a, b in rng.permutation(pairs).tolist():
            rows = rng.permutation(np.flatnonzero(frame == frames[a]))
            surface, there = surfaces.take(rows), np.full(len(rows), frames[b])
            seen = in_axes_of(scene, frames[[b]], frames[[a]], surface.xyz_cam[None])[0]
            past = _past_edges(scene, seen)
            place = scene.path.intrinsics.project(seen)
            edge = past.argmax(axis=1)
            share = (np.where(np.isin(edge, (0, 1)), place[:, 1], place[:, 0]) + 0.5) / size[np.isin(edge, (0, 1)) * 1]
            with np.errstate(invalid="ignore"):
                able = (past.max(axis=1) >= _CLEAR_RAD) & (past.max(axis=1) <= _NEAR_RAD)
                able &= (share >= _ALONG_EDGE[0]) & (share <= _ALONG_EDGE[1])
            if not able.any():
                continue
            sigma = _sigma(scene, frame[rows], there, surface)
            clear = np.abs(past.max(axis=1)) >= np.maximum(_CLEAR_RAD, _SIGMAS * sigma)
            for first in np.flatnonzero(able & clear)[:1].tolist():
                name = EDGES[int(edge[first])]
                point = at_edge(np.array([name]), share[[first]], size)
                point = pixel_of(name_of(point, size), size).round(1)
                ways = _ways(scene, seen[None], point, np.array([name]))
                chosen = _others(ways, clear, xy[rows], first, _APART * scene.diagonal_px)
                if chosen:
                    yield {
                        "frame": int(frames[b]),
                        "point_px": point[0].tolist(),
                        "size": size.tolist(),
                        "edge": name,
                        "frame_marked": int(frames[a]),
                        "marks_px": xy[rows][rng.permutation(chosen)].tolist(),
                    }


def _others(
    ways: _Ways, clear: Bool[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"], first: int, apart_px: float
) -> list[int]:
    """The first row and two others whose marks are apart: of those outside the photo, one comes first."""
    with np.errstate(invalid="ignore"):
        outside = clear & (ways.beyond[0] > 0) & (ways.angle[0] >= ways.angle[0, first] + 1.5 * _NEXT_RAD)
        inside = clear & (ways.beyond[0] < 0)
    out = np.flatnonzero(outside)
    chosen = spaced(np.array([first, *out]), xy_px, apart_px, 1 + _OUTSIDE)
    chosen = spaced(np.array([*chosen, *np.flatnonzero(inside), *out]), xy_px, apart_px, len(_MARKS))
    return chosen if len(chosen) == len(_MARKS) and outside[chosen].any() else []


def _sigma(
    scene: Scene, marked: Int64[np.ndarray, "k"], frame: Int64[np.ndarray, "k"], surface: Surface
) -> Float64[np.ndarray, "k"]:
    """Of the directions of surface points of photos, seen from others, in rad."""
    range_sigma = surface.range * surface.range_relative_sigma
    seen = elsewhere(scene, marked, frame, surface.xyz_cam, 0 * range_sigma, range_sigma, level=False)
    return seen.from_axis_sigma_rad
