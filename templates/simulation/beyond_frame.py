"""L3/Causal Reasoning/Relation: which object lies just outside a photo, next to a point at its edge."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.depth_views import depth_views
from templates.scene.elsewhere import any_moves
from templates.scene.marks import spread_frames
from templates.scene.misleading import taking_turns
from templates.scene.named import may_be_called
from templates.scene.named_pixels import name_of, pixel_of
from templates.scene.object_boxes import outliers
from templates.scene.objects import UNNAMED, SeenObjects, found_again, seen_objects
from templates.scene.past_edge import (
    EDGES,
    SIDE_OF_EDGE,
    Parts,
    at_edge,
    beside_edge,
    between_photos,
    mirrored,
    parts_around,
)
from templates.scene.scene import SURFACE, Scene, find_rows
from templates.scene.seen_surface import seen_places
from templates.scene.shared_view import shared_views
from templates.scene.sightings import object_names, sightings
from templates.template import Template

_OPTIONS = 4
_FRAMES = 24
"""Photos in which objects and edges are looked for."""
_ALONG_EDGE = (0.1, 0.9)
"""Where points lie along an edge, as shares of it."""
_POINTS = 12
"""Points tried at each edge of each photo."""
_PHOTOS, _OUT_OF_VIEW = 3, 2
"""Most photos of objects that are tried for each point, and most wrong options that come first among those that the
photo does not show."""
_LEAST_AREA = 0.004
"""Least area of the object in the photo that shows it, as a share of the diagonal squared."""
_TRIED = 10
"""Facts that are measured for each one that is asked for."""
_NEAR_RAD, _NEXT_RAD = np.radians(15), np.radians(10)
"""Largest angle from the point to the first object, and least one from there to the next option."""
_BEFORE_RAD = np.radians(3)
"""By so much other objects may reach nearer: what stands on it, or before it."""
_STRIP_RAD, _LEAST_IN_STRIP = np.radians(3), 4
"""Half the height of the strip that continues the row of the point, and least number of seen places there."""
_LINE = np.linspace(0.1, 0.93, 24)
"""Places along a line of sight, as shares of it."""
_FREE = 0.75
"""Least share of the lines of sight to the nearest part that are free."""
_OUTSIDE_RAD = np.radians(1)
"""Least angle between all of the object and the photo."""
_SURE = 0.99
"""Least P(right) of an answer that is proposed."""


@dataclass(frozen=True, kw_only=True)
class PointAtEdge(Facts):
    """A point at an edge of a photo, and four objects of another one."""

    frame: Int64[np.ndarray, "n"]
    point_px: Float64[np.ndarray, "n 2"]
    size: Int64[np.ndarray, "n 2"]
    """Width and height of the photo, in px."""
    edge: Texts
    first: ObjectRefs
    second: ObjectRefs
    third: ObjectRefs
    fourth: ObjectRefs

    @property
    def refs(self) -> tuple[ObjectRefs, ...]:
        """The objects."""
        return self.first, self.second, self.third, self.fourth

    @property
    def names(self) -> np.ndarray:
        """Their names: (n, 4)."""
        return np.column_stack([refs.name.astype(np.str_) for refs in self.refs])


@dataclass(frozen=True)
class _Continued:
    """What lies beyond the edge of a photo. Options by number, -1 for none."""

    why: str
    first: int = 0
    angle: float = np.nan
    """From the point to the first option, ..."""
    sigma: float = np.nan
    margin: float = np.nan
    """... and by how many σ it is nearer than the next one, and out of view."""
    mistakes: tuple[int, int, int] = (-1, -1, -1)


_MISTAKES = ("beyond the opposite edge", "in the photo, next to the point", "farther beyond the edge")


@dataclass(frozen=True, kw_only=True)
class BeyondFrame(Template):
    """Which of four objects is the first one beyond an edge of photo 2, next to a point there. Photo 1 shows them.
    Measures the angle from the point to it, in rad."""

    name: str = "beyond_frame"
    version: str = "2"
    ability: str = "L3/Causal Reasoning/Relation"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = PointAtEdge
    needs: frozenset[str] = frozenset({"camera_path", "depth", "objects"})
    reads: frozenset[str] = SURFACE | {"objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PointAtEdge:
        """Points next to which something is just out of view, with photos that show it and share the view; the objects
        take turns."""
        facts = _drawn(scene, rng, _TRIED * count)
        measured = self.measure(facts, scene)
        known = np.flatnonzero((measured.why == "") & (measured.as_label().p_right() >= _SURE))
        assert measured.label is not None
        alike = np.column_stack([facts.frame.astype(np.str_), facts.first.frame.astype(np.str_), measured.label])[known]
        known = known[np.sort(np.unique(alike, axis=0, return_index=True)[1])]
        return facts.take(known[taking_turns(measured.label[known])][:count])

    def measure(self, facts: PointAtEdge, scene: Scene) -> Measured:
        """The name of the first object. The margin: to the next option, and of the object being out of view."""
        count, names = len(facts), facts.names
        objects = np.stack([found_again(scene, refs) for refs in facts.refs], axis=1)
        shift, turn = between_photos(scene, facts.frame, facts.first.frame)
        cases = {
            "an object is not found again": (objects < 0).any(axis=1),
            "an object moves": any_moves(scene, *objects.T),
            "the photos are the same": facts.frame == facts.first.frame,
            "depth is not measured": np.full(count, scene.measured_depth is None),
            "the place of a camera is not known": ~np.isfinite(shift + turn),
        }
        why = first_reason(count, cases)
        each = [
            _Continued(why[k])
            if why[k]
            else _continued(scene, facts.take(np.array([k])), objects[k], float(shift[k]), float(turn[k]))
            for k in range(count)
        ]
        row, mistakes = (
            np.arange(count),
            np.array([one.mistakes for one in each], dtype=np.int64).reshape(count, len(_MISTAKES)),
        )
        return Measured(
            why=np.array([one.why for one in each], dtype=np.str_),
            value=np.array([[one.angle] for one in each]).reshape(count, 1),
            sigma=np.array([[one.sigma] for one in each]).reshape(count, 1),
            label=names[row, np.array([one.first for one in each], dtype=np.int64)],
            margin=np.array([one.margin for one in each], dtype=float),
            outlier_probability=outliers(scene, *objects.T),
            evidence={"angle_deg": np.degrees([one.angle for one in each]).round(1)},
            traps={
                name: np.where(which >= 0, names[row, which], "")
                for name, which in zip(_MISTAKES, mistakes.T, strict=True)
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The name."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: PointAtEdge, answers: Answers, chance: Chance) -> Offer:
        """The names of the four objects."""
        right = facts.names == answers.labels()[:, None]
        why = np.where(right.any(axis=1), "", "the answer is none of the options")
        return Offer(why=why, options=facts.names, right=right.argmax(axis=1))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The photo that shows the objects, and the one with the point, both without marks."""
        assert offer is not None
        x, y = name_of(np.array(fact["point_px"]), np.array(fact["size"])).tolist()
        media = Photo(frame=fact["first"]["frame"]), Photo(frame=fact["frame"])
        shown = tuple(f"{name[:1].upper()}{name[1:]}" for name in offer.values(0))
        return Phrasing(media=media, values={"x": x, "y": y, "side": SIDE_OF_EDGE[fact["edge"]]}, options=shown)

    def placed(self, facts: PointAtEdge, scene: Scene) -> Facts:
        """As they are: the point stays at the edge, and the objects in their boxes."""
        return facts


def _continued(
    scene: Scene, fact: PointAtEdge, objects: Int64[np.ndarray, "4"], shift: float, turn: float
) -> _Continued:
    """What lies beyond the edge of one fact. `shift`, `turn`: σ between the photos."""
    frame, xy_px, edge = int(fact.frame[0]), fact.point_px, fact.edge
    across_px, across = mirrored(xy_px, edge, fact.size)
    parts = parts_around(scene, frame, np.concatenate([xy_px, across_px]), np.concatenate([edge, across]))
    seen = [_in_strip(scene, fact, int(refs.frame[0]), int(one)) for refs, one in zip(fact.refs, objects, strict=True)]
    first = int(np.argmin([angle for angle, _ in seen]))
    (angle, places), object, near = seen[first], int(objects[first]), parts.near[:, 0]
    if not angle <= _NEAR_RAD:
        return _Continued("no object is just beyond the edge")
    if not parts.beyond_rad[object] >= _OUTSIDE_RAD or _shows(scene, frame, object):
        return _Continued("the photo may show a part of the object")
    wrong = _called_like_another(scene, fact.names[0], first)
    wrong[np.delete(objects, first)] = True
    wrong[object] = False
    if not (near[wrong] >= angle + _NEXT_RAD).all():
        return _Continued("another option is about as near")
    if (np.delete(near, object) < angle - _BEFORE_RAD).any():
        return _Continued("another object is nearer")
    if not _in_sight(scene, frame, places):
        return _Continued("something hides the object")
    sigma = np.hypot(np.hypot(parts.place_sigma, shift) / parts.distance, turn)
    options = np.delete(objects, first)
    return _Continued(
        why="",
        first=first,
        angle=angle,
        sigma=float(sigma[object]),
        margin=min(
            float(((near[options] - angle) / np.hypot(sigma[options], sigma[object])).min()),
            float(parts.beyond_rad[object] / sigma[object]),
        ),
        mistakes=_mistakes(scene, fact, parts, objects, first),
    )


def _mistakes(
    scene: Scene, fact: PointAtEdge, parts: Parts, objects: Int64[np.ndarray, "4"], first: int
) -> tuple[int, int, int]:
    """The other options beyond the opposite edge, in the photo, and farther beyond the edge: the nearest of each."""
    seen = seen_objects(scene)
    shown = {int(k): seen.box_px[row] for row, k in enumerate(seen.object) if seen.frame[row] == fact.frame[0]}
    there = [shown.get(int(k), np.full((2, 2), np.inf)).mean(axis=0) for k in objects]
    found = []
    for away in (parts.near[objects, 1], np.linalg.norm(there - fact.point_px, axis=1), parts.near[objects, 0]):
        others = np.where(np.arange(_OPTIONS) == first, np.inf, away)
        found.append(int(others.argmin()) if np.isfinite(others).any() else -1)
    return found[0], found[1], found[2]


def _in_strip(scene: Scene, fact: PointAtEdge, frame: int, object: int) -> tuple[float, Float64[np.ndarray, "p 3"]]:
    """The angle from the point to what photo 1 shows of an object where the row of the point goes on, inf for nothing;
    and the nearest places of it, in the world."""
    world = seen_places(scene, frame, object)
    camera = scene.world_from_cam(int(fact.frame[0]))
    along, aside = beside_edge(scene, fact.point_px, fact.edge, ((world - camera[:3, 3]) @ camera[:3, :3])[None])
    in_strip = (np.abs(aside[0]) <= _STRIP_RAD) & (along[0] > 0)
    if in_strip.sum() < _LEAST_IN_STRIP:
        return np.inf, world[:0]
    angle = float(np.sort(along[0, in_strip])[_LEAST_IN_STRIP - 1])
    return angle, world[in_strip & (along[0] <= angle + _STRIP_RAD)]


def _in_sight(scene: Scene, frame: int, places: Float64[np.ndarray, "p 3"]) -> bool:
    """Whether nothing is between the camera and most of the places."""
    views, camera = depth_views(scene), scene.world_from_cam(frame)[:3, 3]
    lines = camera + _LINE[:, None] * (places - camera)[:, None]
    return views is not None and float(views.free(lines, views.nearest_first(frame)).mean()) >= _FREE


def _shows(scene: Scene, frame: int, object: int) -> bool:
    """Whether the mask of an object has pixels in a photo."""
    assert scene.objects is not None
    row = int(find_rows(scene.objects.frames, [frame])[0])
    return row >= 0 and bool((scene.objects.ids[row] == object).any())


def _called_like_another(scene: Scene, names: np.ndarray, first: int) -> np.ndarray:
    """Which objects of the scene the names of wrong options may mean."""
    others = {str(name) for name in np.delete(names, first)}
    every = object_names(scene)
    meant = [name for name in np.unique(every).tolist() if name in others or may_be_called(name, others)]
    return np.isin(every, meant)


def _size(scene: Scene) -> Int64[np.ndarray, "2"]:
    return np.array([scene.clip.width_px, scene.clip.height_px])


def _drawn(scene: Scene, rng: np.random.Generator, count: int) -> PointAtEdge:
    """Points next to which the box of an object is out of view, and four objects of another photo."""
    seen, clear = seen_objects(scene), sightings(scene)
    seen = seen.take((seen.called != UNNAMED) & clear.clear[find_rows(clear.frames, seen.frame), seen.object])
    frames = np.array(spread_frames(np.unique(seen.frame), _FRAMES), dtype=np.int64)
    if scene.path is None or not len(frames):
        return PointAtEdge.none()
    mutual = shared_views(scene, frames).mutual & ~np.eye(len(frames), dtype=bool)
    found: list[tuple[int, Float64[np.ndarray, "2"], str, tuple[int, ...]]] = []
    for row, frame in enumerate(frames.tolist()):
        shown = np.flatnonzero(np.isin(seen.frame, frames[mutual[row]]))
        edge = np.repeat(EDGES, _POINTS)
        xy = at_edge(edge, rng.uniform(*_ALONG_EDGE, len(edge)), _size(scene))
        xy = pixel_of(name_of(xy, _size(scene)), _size(scene)).round(1)
        parts = parts_around(scene, frame, xy, edge)
        for k in range(len(edge)):
            groups = _groups(seen, shown, parts, k, _LEAST_AREA * scene.diagonal_px**2, rng)
            found += [(frame, xy[k], str(edge[k]), group) for group in groups]
    found = [found[k] for k in rng.permutation(len(found))[:count]]
    if not found:
        return PointAtEdge.none()
    frame_of, point, edges, rows = (np.array(column) for column in zip(*found, strict=True))
    first, second, third, fourth = (seen.take(column).refs() for column in rng.permuted(rows, axis=1).T)
    return PointAtEdge(
        frame=frame_of,
        point_px=point,
        size=np.tile(_size(scene), (len(frame_of), 1)),
        edge=edges,
        first=first,
        second=second,
        third=third,
        fourth=fourth,
    )


def _groups(
    seen: SeenObjects,
    shown: Int64[np.ndarray, "s"],
    parts: Parts,
    point: int,
    least_px: float,
    rng: np.random.Generator,
) -> list[tuple[int, ...]]:
    """Rows of objects, of at least some area, that come first beyond a point at an edge, each with three others of the
    same photo."""
    near = parts.near[:, point]
    with np.errstate(invalid="ignore"):
        able = (
            (parts.beyond_rad >= _OUTSIDE_RAD)
            & (near <= _NEAR_RAD)
            & (near <= np.fmin.reduce(near, initial=np.inf) + _BEFORE_RAD)
        )
    groups = []
    large = seen.area_px[shown] >= least_px
    for row in rng.permutation(shown[able[seen.object[shown]] & large])[:_PHOTOS].tolist():
        here = shown[seen.frame[shown] == seen.frame[row]]
        far = rng.permutation(here[near[seen.object[here]] >= near[seen.object[row]] + _NEXT_RAD + _BEFORE_RAD])
        hidden = parts.beyond_rad[seen.object[far]] > 0
        group = [row]
        for other in [*far[hidden][:_OUT_OF_VIEW], *far[~hidden], *far[hidden][_OUT_OF_VIEW:]]:
            name, names = str(seen.called[other]), {str(seen.called[k]) for k in group}
            if len(group) < _OPTIONS and name not in names and not may_be_called(name, names):
                group.append(int(other))
        if len(group) == _OPTIONS:
            groups.append(tuple(group))
    return groups
