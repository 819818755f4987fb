"""Which photo shows most that is new: a camera that turns all round in an empty room, and a board that hides a wall."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Depth, Signal
from templates.agent.best_view import BestView, NewViews
from templates.asked import Draft
from templates.scene.new_views import new_share
from tests.templates import worlds

TEMPLATE = BestView()


def drafts(signals: dict[str, Signal], facts: int = 30) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, signals, facts=facts))


def turned_deg(signals: dict[str, Signal], frame: int, other: int) -> float:
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    ahead = path.world_from_cam[[frame // 2, other // 2], :3, 2]
    return float(np.degrees(np.arccos(np.clip(ahead[0] @ ahead[1], -1, 1))))


def test_where_nothing_hides_anything_the_photo_that_is_turned_most_shows_most() -> None:
    found = drafts(worlds.empty_room())
    assert len(found) >= 10 and {draft.answer.to_json().answer for draft in found} == {*"2345"}
    for draft in found:
        angles = [turned_deg(worlds.empty_room(), draft.fact["frame"], other) for other in draft.fact["frames_others"]]
        assert draft.answer.to_json().answer == "2345"[int(np.argmax(angles))]


def test_the_share_is_that_of_the_angle() -> None:
    (scene,) = [worlds.scene(worlds.empty_room())]
    half = np.arctan(320 / 600)
    for other, angle in ((2, 15.0), (4, 30.0)):  # the new strip at the side, in the plane of the picture
        expected = 0.5 * (1 - np.tan(half - np.radians(angle)) / np.tan(half))
        least, most = new_share(scene, other, 0)
        assert least - 0.1 < expected < most + 0.05
    assert new_share(scene, 0, 0)[1] < 0.1 and new_share(scene, 24, 0)[0] > 0.99


def test_what_is_hidden_is_new() -> None:
    signals = worlds.empty_room()
    depth = signals["depth"]
    assert isinstance(depth, Depth)
    z = depth.z.copy()
    z[0, :, :16] = 0.5  # something stands close to the camera, in the left half of the first photo
    scene = worlds.scene({**signals, "depth": replace(depth, z=z)})
    assert new_share(scene, 2, 0)[0] > 0.7


def test_neither_world_frame_nor_unit_matters() -> None:
    world = np.eye(4)
    world[:3] = np.column_stack([Rotation.random(rng=np.random.default_rng(0)).as_matrix(), [1.0, 2, 3]])
    first, second = drafts(worlds.empty_room()), drafts(worlds.empty_room(world))
    assert first and [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


def test_estimated_depth_and_large_sigma_ask_nothing() -> None:
    signals = worlds.empty_room()
    depth = signals["depth"]
    assert isinstance(depth, Depth)
    assert not drafts({**signals, "depth": replace(depth, outlier_probability=0.01)})
    assert not drafts(worlds.with_path(signals, rotation_sigma_rad=np.full(24, 0.5)))


def test_two_photos_of_much_that_is_new_decide_nothing() -> None:
    facts = NewViews.from_json([{"frame": 0, "frames_others": [2, 24, 46, 22]}])
    found = TEMPLATE.measure(facts, worlds.scene(worlds.empty_room()))
    assert found.why.tolist() == ["two photos show much that is new"]
