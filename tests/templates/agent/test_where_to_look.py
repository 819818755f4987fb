"""Which turn shows a point that a photo does not, on a small exact world."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Signal, SparsePoints
from templates.agent.where_to_look import WhereToLook
from templates.asked import Draft
from templates.scene.view_edges import inside_view_rad
from tests.templates import worlds

TEMPLATE = WhereToLook()


def around() -> dict[str, Signal]:
    return worlds.signals(poses=worlds.poses_turning())


def drafts(signals: dict[str, Signal], facts: int = 30) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, signals, facts=facts))


def test_after_the_right_turn_alone_the_point_is_in_the_picture() -> None:
    signals, found = around(), drafts(around())
    points = signals["sparse_points"]
    assert isinstance(points, SparsePoints) and len(found) >= 10
    for draft in found:
        here = points.observation_frame == draft.fact["frame_shown"]
        at = np.linalg.norm(points.observation_xy_px[here] - draft.fact["point_px"], axis=1).argmin()
        world = points.xyz_world[points.observation_point[here][at]]
        pose = worlds.poses_turning()[draft.fact["frame"] // 2]
        inside = []
        for option in draft.options:
            side, angle = str(option.value).split()
            vector = {"left": [0, -1, 0], "right": [0, 1, 0], "up": [1, 0, 0], "down": [-1, 0, 0]}[side]
            turned = pose[:3, :3] @ Rotation.from_rotvec(np.multiply(vector, int(angle)), degrees=True).as_matrix()
            xyz_cam = turned.T @ (world - pose[:3, 3])
            inside.append(bool(xyz_cam[2] > 0 and worlds.CAMERA.contains(worlds.CAMERA.project(xyz_cam[None]))[0]))
        assert inside == [True, False, False, False] and worlds.written(draft) == 0
        assert not draft.media[0].marks and draft.media[1].marks


def test_each_side_and_each_angle_is_offered_as_often() -> None:
    for draft in drafts(around()):
        sides, angles = zip(*(str(option.value).split() for option in draft.options), strict=True)
        four = ({*sides}, len({*angles})) == ({"left", "right", "up", "down"}, 1)
        assert four or (sorted(sides) == ["left", "left", "right", "right"] and len({*angles}) == 2)


def test_no_choice_of_world_or_unit_changes_a_question() -> None:
    first, second = drafts(around()), drafts(worlds.elsewhere(3, 7.0, poses=worlds.poses_turning()))
    assert first and [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


def test_a_mirror_swaps_left_and_right() -> None:
    scene = worlds.scene(around())
    facts = TEMPLATE.propose(scene, np.random.default_rng(0), 30)
    swapped = replace(facts, pan_deg=-facts.pan_deg, point_px=facts.point_px * [-1, 1] + [639, 0])
    points, flip = around()["sparse_points"], np.array([-1.0, 1, 1])
    assert isinstance(points, SparsePoints)
    mirrored = worlds.mirrored({**around(), "objects": around()["objects"]}) | {
        "sparse_points": replace(
            points,
            xyz_world=points.xyz_world * flip,
            observation_xy_px=(points.observation_xy_px * [-1, 1] + [639, 0]).astype(points.observation_xy_px.dtype),
        )
    }
    first = TEMPLATE.measure(facts, scene).label
    second = TEMPLATE.measure(swapped, worlds.scene({k: v for k, v in mirrored.items() if k in NEEDED})).label
    assert first is not None and second is not None
    assert second.tolist() == [worlds.in_a_mirror(text) for text in first.tolist()] and (first != second).any()


NEEDED = ("camera_path", "sparse_points")


@pytest.mark.parametrize("changes", [{"rotation_sigma_rad": np.full(24, 0.5)}, {"position_sigma": np.full(24, 9.0)}])
def test_too_large_a_sigma_asks_nothing(changes: dict[str, object]) -> None:
    assert not drafts(worlds.with_path(around(), **changes))


def test_angles_to_the_edges_of_the_view() -> None:
    path = worlds.signals()["camera_path"]
    assert isinstance(path, CameraPath)
    half = np.degrees(np.arctan(319.5 / 600))
    azimuth = np.radians([0.0, half - 5, half + 5, 90.0, 180.0])
    directions = np.stack([np.sin(azimuth), 0 * azimuth, np.cos(azimuth)], axis=1)
    found = np.degrees(inside_view_rad(path.intrinsics, directions))
    assert found[1:3] == pytest.approx([5, -5], abs=0.2) and found[0] > 20 and (found[3:] < -25).all()
