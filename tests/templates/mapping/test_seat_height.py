"""Which place is level and as high as a seat, among blocks of several heights on an exact floor."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Depth, Room, Scale, Signal
from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, true_signals
from spatial_engine.rendering.boxes import placed, standing
from spatial_engine.rendering.camera_paths import Stance
from spatial_engine.rendering.furniture import CEILING, OAK, room
from spatial_engine.rendering.scene import camera
from templates.mapping.seat_height import SeatHeight
from templates.measured import Measured
from templates.scene.point_groups import ThreePoints
from templates.scene.scenes import scenes_of

TEMPLATE = SeatHeight()
SPOTS = {"seat": (2.0, 3.0, 0.45), "table": (3.0, 3.2, 0.75), "step": (4.0, 3.0, 0.2), "floor": (2.5, 2.2, 0.0)}
SPOTS |= {"narrow": (1.2, 3.0, 0.45), "ramp": (4.0, 4.4, 0.45), "front": (3.0, 2.9, 0.45)}


@cache
def blocks() -> RenderedScene:
    boxes = [
        standing(name, (0.6, 0.6, SPOTS[name][2]), (*SPOTS[name][:2], 0), side=OAK)
        for name in ("seat", "table", "step")
    ]
    boxes.append(standing("narrow", (0.2, 0.6, 0.45), (1.2, 3.0, 0), side=OAK))
    ramp = standing("ramp", (0.8, 0.8, 0.2), (4.0, 4.4, 0), side=OAK)
    lean = placed(SPOTS["ramp"])
    lean[:3, :3] = Rotation.from_euler("x", 15, degrees=True).as_matrix()
    lean[:3, 3] -= 0.1 * lean[:3, 2]
    boxes.append(replace(ramp, world_from_box=lean))
    path = camera_paths.primitive("truck", 0.6, 4, Stance(at_m=(2.6, 0.3, 1.7), pitch_rad=-0.35))
    return RenderedScene(
        intrinsics=camera(480, 360, vfov_deg=70), room=room((6.0, 6.0, 3.0), OAK, (OAK,) * 4, CEILING),
        boxes=tuple(boxes), world_from_cam=path, fps=10, texel_m=0.04,
    )  # fmt: skip


def signals() -> dict[str, Signal]:
    return dict(true_signals(blocks(), as_clip(blocks())))


def measured(known: dict[str, Signal], *names: str) -> Measured:
    """Of the places of these names, in every photo."""
    (here,) = scenes_of(as_clip(blocks()), known)
    poses = blocks().world_from_cam
    cam = np.stack(
        [(np.array(SPOTS[name]) - poses[:, :3, 3]) @ poses[k, :3, :3] for k in [0] for name in names], axis=1
    )
    points = blocks().intrinsics.project(cam.reshape(-1, 3)).reshape(len(poses), len(names), 2)
    return TEMPLATE.measure(ThreePoints(frame=np.arange(len(poses)), points_px=points), here)


def said(found: Measured) -> set[str]:
    assert found.label is not None
    return {*np.where(found.why == "", found.label, found.why).tolist()}


NOT_ONE = {"not exactly one marked place is clearly a seat"}


@pytest.mark.parametrize(
    ("names", "answer"),
    [
        (("table", "seat", "step"), {"2"}),
        (("seat", "floor", "table"), {"1"}),
        (("floor", "front", "seat"), {"3"}),
        (("table", "step", "floor"), NOT_ONE),
        (("narrow", "step", "floor"), NOT_ONE),
        (("ramp", "step", "floor"), NOT_ONE),
        (("seat", "ramp", "floor"), NOT_ONE),
    ],
)
def test_the_seat_is_level_broad_and_of_that_height(names: tuple[str, ...], answer: set[str]) -> None:
    assert said(measured(signals(), *names)) == answer


def test_what_is_upright_at_that_height_is_a_trap() -> None:
    assert {*measured(signals(), "floor", "front", "seat").traps["as high as a seat, but upright"].tolist()} == {"2"}


def test_the_world_frame_does_not_matter_but_the_metre_does() -> None:
    known, turned = signals(), np.eye(4)
    turned[:3] = np.column_stack([Rotation.random(rng=np.random.default_rng(0)).as_matrix(), [1.0, 2, 3]])
    path, floor = known["camera_path"], known["room"]
    assert isinstance(path, CameraPath) and isinstance(floor, Room)
    known["camera_path"] = replace(path, world_from_cam=turned @ path.world_from_cam)
    known["room"] = replace(floor, world_from_floor=turned @ floor.world_from_floor)
    assert said(measured(known, "table", "seat", "step")) == {"2"}
    known["camera_path"] = replace(path, scale=Scale(kind="relative"))
    assert said(measured(known, "table", "seat", "step")) == {"scale is not metric"}


def test_unsure_depth_decides_nothing_surely_and_none_is_a_reason() -> None:
    known = signals()
    depth = known["depth"]
    assert isinstance(depth, Depth)
    unsure = measured(
        {**known, "depth": replace(depth, relative_sigma=np.full_like(depth.z, 0.1))}, "table", "seat", "step"
    )
    assert unsure.margin is not None and unsure.margin.max() < 2.33
    blind = {**known, "depth": replace(depth, z=np.full_like(depth.z, np.nan))}
    assert said(measured(blind, "table", "seat", "step")) == {"the place of a marked point is not known"}
    (here,) = scenes_of(as_clip(blocks()), {name: each for name, each in known.items() if name != "room"})
    assert not len(TEMPLATE.propose(here, np.random.default_rng(0), 10))


def test_what_is_too_low_or_too_high_is_not_called_level() -> None:
    said = measured(signals(), "table", "seat", "step").evidence["surfaces"]
    assert {*map(tuple, said.tolist())} == {("too high", "level", "too low")}
    assert {*measured(signals(), "floor", "front", "seat").evidence["surfaces"][:, 1].tolist()} == {"upright"}
