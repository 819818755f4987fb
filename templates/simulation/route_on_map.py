"""L3/Sequential Planning/Route: which drawn route is the shortest free way to an object?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.distance import cdist

from experts.objects.box_corners import box_corners
from experts.signals import Room
from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured
from templates.media import Drawing, Photo, Polygon, ScaleBar
from templates.offer import Offer
from templates.perception.nearest_option import MARKS
from templates.perception.topology import shown_objects
from templates.question import FormatName, Phrasing
from templates.scene.free_floor import (
    CLEARANCE,
    FreeFloor,
    around,
    blocked,
    free_floor,
    outline_of,
    sampled,
    way_length,
)
from templates.scene.level_axes import MAX_PITCH_RAD, MAX_ROLL_RAD, NOT_UPRIGHT
from templates.scene.marks import spread_frames
from templates.scene.misleading import taking_turns
from templates.scene.object_boxes import boxes_of, outliers
from templates.scene.objects import found_again, seen_objects
from templates.scene.offsets import POSITION_UNKNOWN
from templates.scene.room_walls import on_floor_plan
from templates.scene.scene import Scene
from templates.template import Template

_CORNERS = 8
"""Of a route; shorter ones have places on their legs among them."""
_FREE, _CROSSES = 0.2, 0.2
"""Least distance in metres of the right route from all things, and how deep wrong ones lead into them; ..."""
_DETOUR = 1.3
"""... or how many times as long they are; ..."""
_THERE, _ELSEWHERE = 0.55, 1.2
"""... or they end elsewhere: largest distance of the right end from the object, and least one of a wrong end."""
_BETWEEN, _EDGE = 24, 0.2
"""Places tested between the end of a route and the object, and how far from the object the first may be that is not
free."""
_START = 0.35
"""The camera itself may have been nearer to things, within this distance of the start."""
_LONGEST = 1.12
"""Of the right route, over the shortest way on a grid with eight neighbours."""
_NARROW, _SHORTCUT = 0.2, 0.9
"""Gaps that may be too narrow: no way with so little clearance is shorter than this share of the right route."""
_LEAST_WAY = 1.2
_BORDER = 0.7
"""What the map shows around the routes, in metres."""
_LOW, _LEAST_SIDE = 0.2, 0.25
"""Objects stand on the floor: greatest height of the foot, and least side of the footprint."""
_PHOTOS = 24
"""Photos, spread over the clip, from which ways are sought; if that is more, half as many as facts are proposed."""
_VIAS = 12
"""Places through which wrong routes may lead."""
_DRAWN = 0.9
"""Least share of what the map draws as taken that is not free."""
_SURE = 2.33
"""Least margin of a fact that is proposed, in σ."""
_TRAPS = ("through things", "a detour", "to another object")

Route = Float64[np.ndarray, "_ 2"]


@dataclass(frozen=True, kw_only=True)
class RoutesOnMap(Facts):
    """An object of a photo, and four routes from below the camera of that photo, on a map."""

    object: ObjectRefs
    routes: Float64[np.ndarray, "n 4 8 2"]
    """Corners in metres: to the right and ahead of the camera."""
    floor: Float64[np.ndarray, "n 4 2"]
    """Corners of the part of the floor that the map shows, ..."""
    taken: Float64[np.ndarray, "n r 4 2"]
    """... and of rectangles that it draws as not free; NaN ends a row."""


@dataclass(frozen=True, kw_only=True)
class RouteOnMap(Template):
    """Which of four drawn routes is the shortest way to an object on free floor, for clips in metres. Measures their
    lengths in metres."""

    name: str = "route_on_map"
    version: str = "3"
    ability: str = "L3/Sequential Planning/Route"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = RoutesOnMap
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "objects", "room"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "room"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> RoutesOnMap:
        """The shortest way to an object, one through things, a detour, and a way to another object."""
        floor, room = free_floor(scene), scene.room
        if floor is None or room is None:
            return RoutesOnMap.none()
        seen = shown_objects(seen_objects(scene), scene)
        frames = spread_frames(np.unique(seen.frame), max(_PHOTOS, count // 2))
        seen = seen.take(rng.permutation(np.flatnonzero(np.isin(seen.frame, frames))))
        refs, feet = (
            seen.refs(),
            [_foot(scene, *one) for one in zip(seen.frame.tolist(), seen.object.tolist(), strict=True)],
        )
        rows: list[dict[str, Json]] = []
        for frame in rng.permutation(frames).tolist():
            found = {k: feet[k] for k in np.flatnonzero(seen.frame == frame).tolist()}
            standing = {k: foot for k, foot in found.items() if foot is not None}
            for k, routes in _proposed(scene, floor, frame, [*standing.values()], rng):
                ref = refs.take(np.array([[*standing][k]])).to_json()[0]
                rows.append({"object": ref, "routes": routes.round(2).tolist(), **_drawn(scene, room, frame, routes)})
            if len(rows) >= 2 * count:
                break
        facts = RoutesOnMap.from_json(rows)
        measured = self.measure(facts, scene)
        assert measured.margin is not None
        known = rng.permutation(np.flatnonzero((measured.why == "") & (measured.margin >= _SURE)))
        return facts.take(known[taking_turns(facts.object.name[known])][:count])

    def measure(self, facts: RoutesOnMap, scene: Scene) -> Measured:
        """The only route that is free, short and ends at the object; σ: position and heading of the camera, the cells
        of the plan, and the metre."""
        object, floor = found_again(scene, facts.object), free_floor(scene)
        n = len(facts)
        nothing = Measured.none(n, "the free floor is not known in metres", components=len(MARKS))
        if floor is None or scene.room is None or not n:
            return nothing
        each = [
            _judged(scene, floor, int(facts.object.frame[k]), int(object[k]), facts.routes[k], facts.taken[k])
            for k in range(n)
        ]
        why, number, margin, lengths, sigma, trap = zip(*each, strict=True)
        traps = np.array(trap, dtype=np.str_)
        return Measured(
            why=np.where(object < 0, "an object is not found again", np.array(why, dtype=np.str_)),
            value=np.array(lengths),
            sigma=np.array(sigma)[:, None].repeat(len(MARKS), axis=1),
            label=np.array(number, dtype=np.str_),
            margin=np.array(margin),
            outlier_probability=outliers(scene, object),
            evidence={"lengths_m": np.array(lengths).round(2)},
            traps={name: traps[:, k] for k, name in enumerate(_TRAPS)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the route."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The photo with a box, and four maps with a route each."""
        ground = Polygon(corners=_points(np.array(fact["floor"])), fill="light", edge=None)
        taken = [Polygon(corners=_points(np.array(one)), fill="grey", edge=None) for one in fact["taken"]]
        maps = tuple(
            Drawing(
                polygons=(ground, *taken),
                polylines=(_points(np.array(route)),),
                scale_bar=ScaleBar(length=1.0, text="1 m"),
            )
            for route in fact["routes"]
        )
        values = {"name": fact["object"]["name"]}
        return Phrasing(media=(Photo.boxed({"1": fact["object"]}),), values=values, options=maps)


def _view(scene: Scene, room: Room, frame: int) -> tuple[Float64[np.ndarray, "2"], Float64[np.ndarray, "2 2"], bool]:
    """Where the camera is on the plan, and right and ahead of it as rows, NaN where unknown; and whether the photo is
    upright: what one that is rolled, or looks far up or down, shows ahead and to the right is not so on the map."""
    pose = scene.world_from_cam(frame)
    at = on_floor_plan(room, pose[:3, 3])
    right, _, ahead = (room.world_from_floor[:3, :3].T @ pose[:3, :3]).T[:, :2]
    level = float(np.linalg.norm(ahead))
    axes = np.array([[ahead[1], -ahead[0]], ahead]) / max(level, 1e-9)
    return at, axes, bool(level >= np.cos(MAX_PITCH_RAD) and axes[0] @ right >= np.cos(MAX_ROLL_RAD))


def _foot(scene: Scene, frame: int, object: int) -> Float64[np.ndarray, "p 2"] | None:
    """Places on the plan that cover the footprint of an object on the floor; None for others."""
    known, pose, size, _, _ = (each[0] for each in boxes_of(scene, np.array([frame]), np.array([object])))
    if not known or scene.room is None:
        return None
    corners = box_corners(np.linalg.inv(scene.room.world_from_floor) @ pose, size)
    if (
        not np.isfinite(corners).all()
        or corners[:, 2].min() > _LOW
        or np.ptp(corners[:, :2], axis=0).max() < _LEAST_SIDE
    ):
        return None
    share = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 9)] * 3), axis=-1).reshape(-1, 3)
    world = (share * size) @ pose[:3, :3].T + pose[:3, 3]
    return on_floor_plan(scene.room, world)


def _proposed(
    scene: Scene, floor: FreeFloor, frame: int, feet: list[Route], rng: np.random.Generator
) -> Iterator[tuple[int, Float64[np.ndarray, "4 8 2"]]]:
    """Objects of a photo with four routes, the right one anywhere among them, around the camera."""
    assert scene.room is not None
    at, axes, upright = _view(scene, scene.room, frame)
    row, column = floor.squares(at) if upright and np.isfinite(at).all() else (0, 0)
    if not floor.clear[row, column] > 0:
        return
    lengths, before = floor.ways_from(at)
    ends = [_end(floor, lengths, foot) for foot in feet]
    ways = [None if end is None else floor.way(at, end, before) for end in ends]
    for k, way in enumerate(ways):
        if way is None or not way_length(way) >= _LEAST_WAY:
            continue
        straight = np.stack([way[0], way[-1]])
        others = [w for w in ways if w is not None and cdist(w[-1:], feet[k]).min() >= _ELSEWHERE + 0.2]
        others = [w for w in others if way_length(w) >= _LEAST_WAY]
        through, around = [straight] if _crosses(floor, straight) else [], []
        for via in _vias(floor, lengths, rng):
            bent = np.stack([way[0], via, way[-1]])
            if _crosses(floor, bent) and way_length(bent) <= 1.6 * way_length(way):
                through.append(bent)
        detour = _detour(floor, at, way, ends[k])
        if detour is not None and way_length(detour) >= (_DETOUR + 0.05) * way_length(way):
            around.append(detour)
        kinds = [rng.permutation(len(part)).tolist() for part in (through, around, others)]
        wrong = [part[i] for part, order in zip((through, around, others), kinds, strict=True) for i in order[:1]]
        wrong += [through[i] for i in kinds[0][1:]]
        drawn = [_with_corners(route) for route in (way, *wrong[: len(MARKS) - 1])]
        if len(drawn) == len(MARKS) and all(route is not None for route in drawn):
            routes = np.stack([route for route in drawn if route is not None])
            yield k, (rng.permutation(routes) - at) @ axes.T


def _beside(
    floor: FreeFloor, lengths: Float64[np.ndarray, "h w"], foot: Float64[np.ndarray, "p 2"], most: float
) -> Int64[np.ndarray, "e 2"]:
    """The squares near an object that can be reached."""
    squares = np.argwhere(np.isfinite(lengths))
    places = floor.corner + (squares[:, ::-1] + 0.5) * floor.step
    low, high = foot.min(axis=0) - most, foot.max(axis=0) + most
    squares = squares[((places >= low) & (places <= high)).all(axis=1)]
    places = floor.corner + (squares[:, ::-1] + 0.5) * floor.step
    return squares[_off(floor, places, foot) <= most]


def _off(floor: FreeFloor, places: Float64[np.ndarray, "e 2"], foot: Route) -> Float64[np.ndarray, "e"]:
    """How far places are from an object; inf where something else, as a wall, is between them."""
    apart = cdist(places, foot)
    nearest = foot[apart.argmin(axis=1)]
    share = np.linspace(0, 1, _BETWEEN)
    between = floor.squares(places[:, None] + share[:, None] * (nearest - places)[:, None])
    blocked = np.concatenate([floor.clear[between[..., 0], between[..., 1]] == 0, np.ones((len(places), 1), bool)], 1)
    left = apart.min(axis=1) * (1 - np.append(share, 1.0)[blocked.argmax(axis=1)])
    return np.where(left <= _EDGE, apart.min(axis=1), np.inf)


def _least(
    floor: FreeFloor, lengths: Float64[np.ndarray, "h w"], foot: Float64[np.ndarray, "p 2"], most: float
) -> float:
    """Length of the shortest way to an object."""
    return float(lengths[tuple(_beside(floor, lengths, foot, most).T)].min(initial=np.inf))


def _end(floor: FreeFloor, lengths: Float64[np.ndarray, "h w"], foot: Float64[np.ndarray, "p 2"]) -> np.ndarray | None:
    """The square beside an object to which the way is shortest."""
    squares = _beside(floor, lengths, foot, _THERE - 0.1)
    squares = squares[floor.clear[tuple(squares.T)] >= CLEARANCE]
    return squares[lengths[tuple(squares.T)].argmin()] if len(squares) else None


def _vias(
    floor: FreeFloor, lengths: Float64[np.ndarray, "h w"], rng: np.random.Generator
) -> Float64[np.ndarray, "v 2"]:
    squares = rng.permutation(np.argwhere(np.isfinite(lengths)))[:_VIAS]
    return floor.corner + (squares[:, ::-1] + 0.5) * floor.step


def _detour(floor: FreeFloor, at: Float64[np.ndarray, "2"], way: Route, end: np.ndarray | None) -> Route | None:
    """The shortest clear way that keeps away from the middle of another one."""
    places = sampled(way)
    middle = places[np.linalg.norm(np.diff(places, axis=0), axis=1).cumsum().searchsorted(way_length(way) / 2)]
    rows, columns = np.indices(floor.clear.shape)
    squares = floor.corner + (np.stack([columns, rows], axis=-1) + 0.5) * floor.step
    lengths, before = floor.ways_from(at, closed=np.linalg.norm(squares - middle, axis=2) < 0.45)
    if end is None or not np.isfinite(lengths[end[0], end[1]]):
        return None
    return floor.way(at, end, before)


def _crosses(floor: FreeFloor, route: Route) -> bool:
    return bool(floor.along(route)[1].max() >= 1.3 * _CROSSES)


def _with_corners(route: Route) -> Float64[np.ndarray, "8 2"] | None:
    """The route with so many corners; None for one that has more."""
    while len(route) < _CORNERS:
        longest = int(np.linalg.norm(np.diff(route, axis=0), axis=1).argmax())
        route = np.insert(route, longest + 1, route[longest : longest + 2].mean(axis=0), axis=0)
    return route if len(route) == _CORNERS else None


def _drawn(scene: Scene, room: Room, frame: int, routes: Float64[np.ndarray, "4 8 2"]) -> dict[str, Json]:
    """The floor around the routes, and what is not free of it, seen from the camera."""
    at, axes, _ = _view(scene, room, frame)
    plan = at + routes.reshape(-1, 2) @ axes
    cells = around(room, plan.min(axis=0) - _BORDER, plan.max(axis=0) + _BORDER)
    taken = [((each - at) @ axes.T).round(2).tolist() for each in blocked(room, cells)]
    return {"floor": ((outline_of(room, cells) - at) @ axes.T).round(2).tolist(), "taken": taken}


def _judged(
    scene: Scene,
    floor: FreeFloor,
    frame: int,
    object: int,
    routes: Float64[np.ndarray, "4 8 2"],
    taken: Float64[np.ndarray, "r 4 2"],
) -> tuple[str, str, float, np.ndarray, float, tuple[str, str, str]]:
    """Why no route is the only right one, its number, the margin in σ, all lengths, σ, and what mistakes choose."""
    assert scene.room is not None
    lengths = np.array([way_length(route) for route in routes])
    nothing = ("", np.nan, lengths, np.nan, ("", "", ""))
    at, axes, upright = _view(scene, scene.room, frame)
    if not np.isfinite(at).all():
        return POSITION_UNKNOWN, *nothing
    if not upright:
        return NOT_UPRIGHT, *nothing
    foot = _foot(scene, frame, object) if object >= 0 else None
    if foot is None:
        return "the place of an object on the floor is not known", *nothing
    frames = np.array([frame])
    sigma = np.linalg.norm(
        [
            scene.position_sigma(frames)[0],
            scene.rotation_sigma_rad(frames)[0] * lengths.max(),
            scene.metre_relative_sigma * lengths.max(),
            scene.room.cell / np.sqrt(12),
        ]
    )
    plan = at + routes @ axes
    clear, deep = np.empty(len(MARKS)), np.empty(len(MARKS))
    for k, route in enumerate(plan):
        own_clear, own_deep = floor.along(route)
        away = np.linalg.norm(sampled(route) - at, axis=1) > _START
        clear[k], deep[k] = own_clear[away].min(initial=np.inf), own_deep.max()
    off = np.array([cdist(route[-1:], foot).min() for route in plan])
    good = (clear >= _FREE) & (deep < _CROSSES) & (_off(floor, plan[:, -1], foot) <= _THERE)
    if not good.any():
        return "no route is free and ends at the object", *nothing
    right = int(np.where(good, lengths, np.inf).argmin())
    ways, _ = scene.once(("ways from", frame), lambda: floor.ways_from(at))
    narrow, _ = scene.once(("narrow ways from", frame), lambda: floor.ways_from(at, clearance=_NARROW))
    if not lengths[right] <= _LONGEST * _least(floor, ways, foot, _THERE - 0.1):
        return "there is a shorter way than all that are drawn", *nothing
    rows, columns = np.nonzero(narrow < _SHORTCUT * lengths[right])
    gap = floor.corner + (np.column_stack([columns, rows]) + 0.5) * floor.step
    if cdist(gap, foot[:: len(foot) // 81]).min(initial=np.inf) <= _THERE + _EDGE:
        return "a narrow gap may be a shorter way", *nothing
    drawn = taken[np.isfinite(taken).all(axis=(1, 2))]
    middles = floor.squares(at + drawn.mean(axis=1) @ axes)
    if len(drawn) and (floor.clear[middles[:, 0], middles[:, 1]] <= floor.step).mean() < _DRAWN:
        return "the map is not that of the floor", *nothing
    wrong = np.arange(len(MARKS)) != right
    longer = lengths - _DETOUR * lengths[right]
    elsewhere = off - _ELSEWHERE
    excess = np.max(
        [deep, np.where(longer >= 0, lengths - lengths[right], -1), np.where(elsewhere >= 0, off - _THERE, -1)], axis=0
    )
    decided = (deep >= _CROSSES) | (longer >= 0) | (elsewhere >= 0)
    if not decided[wrong].all():
        return "another route is nearly as good", *nothing
    margin = float(min(clear[right], excess[wrong].min()) / sigma)
    kinds = (
        deep >= _CROSSES,
        (longer >= 0) & (deep < _CROSSES) & (elsewhere < 0),
        (elsewhere >= 0) & (deep < _CROSSES),
    )
    traps = tuple(MARKS[int((kind & wrong).argmax())] if (kind & wrong).any() else "" for kind in kinds)
    return "", MARKS[right], margin, lengths, float(sigma), (traps[0], traps[1], traps[2])


def _points(xy: Float64[np.ndarray, "k 2"]) -> tuple[tuple[float, float], ...]:
    return tuple((round(float(x), 3), round(float(y), 3)) for x, y in xy)
