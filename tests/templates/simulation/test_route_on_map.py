"""Routes on the floor plan of a rendered room."""

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from experts.signals import CameraPath, Objects, Room, Scale, Signal
from spatial_engine.rendering import as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from templates.asked import Draft
from templates.generate import ask_clip
from templates.media import Drawing
from templates.scene.free_floor import sampled, way_length
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from templates.simulation.route_on_map import RouteOnMap, RoutesOnMap
from tests.templates import worlds

MAP = RouteOnMap()
FURNISHED = furnished_room(np.random.default_rng(1), frames=8, width_px=120, height_px=90)
CLIP = as_clip(FURNISHED)


@cache
def known() -> dict[str, Signal]:
    return dict(true_signals(FURNISHED, CLIP, stride=2))


def asked(signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(ask_clip(CLIP, dict(signals), [MAP], AskSettings(facts_per_template=10), 0))


@cache
def drafts() -> list[Draft]:
    return asked(known())


def path(signals: dict[str, Signal], **changes: object) -> dict[str, Signal]:
    own = signals["camera_path"]
    assert isinstance(own, CameraPath)
    return {**signals, "camera_path": replace(own, **changes)}  # type: ignore[arg-type]


def judged(signals: dict[str, Signal], routes: np.ndarray) -> tuple[str, str]:
    """The number of the right route, and why there is none, of the first question with other routes."""
    facts = RoutesOnMap.from_json([{**drafts()[0].fact, "routes": routes.tolist()}])
    measured = MAP.measure(facts, scenes_of(CLIP, signals)[0])
    assert measured.label is not None
    return str(measured.label[0]), str(measured.why[0])


def test_four_maps_of_one_floor_differ_in_the_route() -> None:
    assert len(drafts()) >= 3
    for draft in drafts():
        maps = [option.shown for option in draft.options]
        assert len({*maps}) == 4
        assert all(isinstance(one, Drawing) and one.polygons == maps[0].polygons for one in maps)  # type: ignore[union-attr]
        (photo,) = draft.media
        assert photo.frame == draft.fact["object"]["frame"] and draft.fact["object"]["name"] in draft.prompt
        routes = np.array(draft.fact["routes"])
        assert np.linalg.norm(routes[:, 0], axis=1).max() < 0.02  # below the camera
        assert np.linalg.norm(np.diff(routes, axis=1), axis=2).min() > 0  # an arrow head has a direction


def test_the_right_route_is_found_wherever_it_stands() -> None:
    routes = np.array(drafts()[0].fact["routes"])
    number, why = judged(known(), routes)
    assert (number, why) == (drafts()[0].answer.to_json().answer, "")
    rolled, why = judged(known(), np.roll(routes, 1, axis=0))
    assert (int(rolled), why) == (int(number) % 4 + 1, "")


def test_two_right_routes_or_none_are_refused() -> None:
    routes, right = np.array(drafts()[0].fact["routes"]), int(drafts()[0].answer.to_json().answer) - 1
    twice, none = routes.copy(), routes.copy()
    twice[right - 1] = routes[right]
    none[right] = routes[right - 1]
    assert judged(known(), twice)[1] == "another route is nearly as good"
    assert judged(known(), none)[1] in (
        "no route is free and ends at the object", "there is a shorter way than all that are drawn"
    )  # fmt: skip
    assert min(map(way_length, routes)) > 0.5


def clearance(routes: np.ndarray) -> np.ndarray:
    """Of routes of the first question: least distance from a cell that is not free, except near the start."""
    room, own, frame = known()["room"], known()["camera_path"], drafts()[0].fact["object"]["frame"]
    assert isinstance(room, Room) and isinstance(own, CameraPath)
    floor_from_cam = np.linalg.inv(room.world_from_floor) @ own.world_from_cam[own.frames == frame][0]
    ahead = floor_from_cam[:2, 2] / np.linalg.norm(floor_from_cam[:2, 2])
    plan = floor_from_cam[:2, 3] + routes @ np.array([[ahead[1], -ahead[0]], ahead])
    taken = room.cells_from + (np.argwhere(np.pad(room.cells, 1) != 1)[:, ::-1] - 0.5) * room.cell
    places = [sampled(route) for route in plan]
    away = [np.abs(p[np.linalg.norm(p - p[0], axis=1) > 0.35][:, None] - taken) - room.cell / 2 for p in places]
    return np.array([np.linalg.norm(np.clip(one, 0, None), axis=2).min() for one in away])


def test_the_right_route_keeps_clear_of_things_and_one_that_nearly_touches_them_is_not_right() -> None:
    routes, right = np.array(drafts()[0].fact["routes"]), int(drafts()[0].answer.to_json().answer) - 1
    assert clearance(routes)[right] >= 0.2
    routes[right, 4, 0] -= 0.15
    assert 0.1 < clearance(routes)[right] < 0.15
    assert judged(known(), routes)[1] == "no route is free and ends at the object"


def test_another_world_frame_gives_the_same_answer() -> None:
    turn = RigidTransform.from_components([3.0, -2.0, 1.0], Rotation.from_euler("zxy", [70, 20, -30], degrees=True))
    turned, signals = turn.as_matrix(), known()
    room, objects, own = signals["room"], signals["objects"], signals["camera_path"]
    assert isinstance(room, Room) and isinstance(objects, Objects) and isinstance(own, CameraPath)
    there = {
        **path(signals, world_from_cam=turned @ own.world_from_cam),
        "room": replace(room, world_from_floor=turned @ room.world_from_floor),
        "objects": replace(objects, world_from_object=turned @ objects.world_from_object),
    }
    routes = np.array(drafts()[0].fact["routes"])
    assert judged(there, routes) == judged(known(), routes)


def test_nothing_is_asked_where_the_floor_or_the_metre_is_unknown_or_sigma_is_large() -> None:
    assert not asked({name: signal for name, signal in known().items() if name != "room"})
    assert not asked(path(known(), scale=Scale(kind="relative")))
    room = known()["room"]
    assert isinstance(room, Room)
    assert not asked({**known(), "room": replace(room, cells=np.zeros_like(room.cells))})
    own = known()["camera_path"]
    assert isinstance(own, CameraPath)
    assert not asked(path(known(), position_sigma=np.full(len(own.frames), 0.5)))


def test_a_frame_without_a_pose_is_refused() -> None:
    own = known()["camera_path"]
    assert isinstance(own, CameraPath)
    lost = path(known(), registered=np.zeros(len(own.frames), dtype=bool))
    assert judged(lost, np.array(drafts()[0].fact["routes"]))[1] == "the camera position of a photo is not known"
    assert not len(MAP.measure(RoutesOnMap.none(), scenes_of(CLIP, known())[0]))


def test_a_rolled_photo_and_one_that_looks_far_down_have_no_map() -> None:
    own = known()["camera_path"]
    assert isinstance(own, CameraPath)
    for axes, angles in (("z", 180.0), ("z", -25.0), ("x", -75.0)):
        poses = own.world_from_cam.copy()
        poses[:, :3, :3] = poses[:, :3, :3] @ Rotation.from_euler(axes, angles, degrees=True).as_matrix()
        routes = np.array(drafts()[0].fact["routes"])
        assert judged(known(), routes)[1] == ""
        assert judged(path(known(), world_from_cam=poses), routes)[1] == "the photo is not upright"
