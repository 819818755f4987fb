"""Whether an object can be seen from a point, in an empty room with a board that hides one of two crates."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Depth, Objects, Scale, Signal
from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, true_signals
from spatial_engine.rendering.boxes import standing
from spatial_engine.rendering.camera_paths import Stance
from spatial_engine.rendering.furniture import CEILING, OAK, room
from spatial_engine.rendering.scene import camera
from templates.mapping.can_see import CanSee, PointAndObject
from templates.scene.objects import seen_objects
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of

TEMPLATE = CanSee()
SPOT = np.array([2.6, 2.0, 0.5])
"""On a stand in front of the board; the crate is behind it, the chest hangs beside it."""


@cache
def empty_room() -> RenderedScene:
    """The camera goes past above and looks down."""
    boxes = [
        standing("crate", (0.4, 0.4, 0.4), (2.0, 4.6, 0), side=OAK),
        standing("chest", (0.4, 0.4, 0.4), (4.0, 4.6, 1.3), side=OAK),
        standing("stand", (0.3, 0.3, 0.5), (2.6, 2.0, 0), side=OAK),
        standing("board", (1.6, 0.1, 0.9), (2.0, 3.2, 0), side=OAK),
    ]
    path = camera_paths.primitive("truck", 2.0, 6, Stance(at_m=(1.8, 0.5, 2.4), pitch_rad=-0.5))
    return RenderedScene(
        intrinsics=camera(320, 240, vfov_deg=70), room=room((6.0, 6.0, 3.0), OAK, (OAK,) * 4, CEILING),
        boxes=tuple(boxes), world_from_cam=path, fps=10, texel_m=0.04,
    )  # fmt: skip


def signals() -> dict[str, Signal]:
    return true_signals(empty_room(), as_clip(empty_room()))


def scene(known: dict[str, Signal]) -> Scene:
    (only,) = scenes_of(as_clip(empty_room()), known)
    return only


def answers(known: dict[str, Signal]) -> dict[str, set[str]]:
    """Of crate and chest, seen from the spot in every photo: the answer, or the reason for none."""
    here = scene(known)
    seen = seen_objects(scene(signals()))
    seen = seen.take(np.isin(seen.name, ["crate", "chest"]))
    true = empty_room()
    cam = np.einsum("nji,nj->ni", true.world_from_cam[:, :3, :3], SPOT - true.world_from_cam[:, :3, 3])
    xy = true.intrinsics.project(cam)[seen.frame]
    found = TEMPLATE.measure(PointAndObject(frame=seen.frame, point_px=xy, object=seen.refs()), here)
    said = np.where(found.why == "", found.label, found.why)
    return {name: {*said[seen.name == name].tolist()} for name in ("crate", "chest")}


def test_what_the_board_hides_is_not_seen() -> None:
    assert answers(signals()) == {"crate": {"no"}, "chest": {"yes"}}


@pytest.mark.parametrize("unit", [3.0, pytest.param(1.0, marks=pytest.mark.long)])
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    known, turned = signals(), np.eye(4)
    turned[:3] = np.column_stack([Rotation.random(rng=np.random.default_rng(0)).as_matrix(), [1.0, 2, 3]])
    path, objects, depth = known["camera_path"], known["objects"], known["depth"]
    assert isinstance(path, CameraPath) and isinstance(objects, Objects) and isinstance(depth, Depth)
    assert objects.size is not None
    poses, boxes = turned @ path.world_from_cam, turned @ objects.world_from_object
    poses[..., :3, 3] *= unit
    boxes[..., :3, 3] *= unit
    there: dict[str, Signal] = {
        **known,
        "camera_path": replace(path, world_from_cam=poses, scale=Scale(kind="relative")),
        "objects": replace(objects, world_from_object=boxes, size=objects.size * unit),
        "depth": replace(depth, z=depth.z * np.float32(unit)),
    }
    assert answers(there) == {"crate": {"no"}, "chest": {"yes"}}


def test_what_no_photo_shows_and_estimated_depth_decide_nothing() -> None:
    known = signals()
    depth = known["depth"]
    assert isinstance(depth, Depth)
    unsure = {"not all lines of sight are free, or all blocked"}
    blind = replace(depth, z=np.where(depth.z > 3.0, np.nan, depth.z).astype(np.float32))
    assert answers({**known, "depth": blind})["chest"] == unsure
    assert answers({**known, "depth": replace(depth, outlier_probability=0.01)})["crate"] == {"depth is not measured"}


def test_yes_and_no_are_equally_frequent() -> None:
    facts = TEMPLATE.propose(scene(signals()), np.random.default_rng(0), 40)
    labels = TEMPLATE.measure(facts, scene(signals())).label
    assert labels is not None and len(labels) >= 2 and np.mean(labels == "yes") == 0.5
