"""Boxes of objects in space as nine numbers: exact, whatever the axes of the box are called."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.objects.box_corners import box_corners
from experts.signals import Objects, Signal
from templates.answers import Box3D
from templates.perception.object_box import ObjectBox
from tests.templates import worlds

TEMPLATE = ObjectBox()
SCALE = replace(worlds.METRIC, relative_sigma=0.001)
METRIC = worlds.with_path(worlds.signals(), scale=SCALE)


def objects_of(signals: dict[str, Signal]) -> Objects:
    found = signals["objects"]
    assert isinstance(found, Objects)
    return found


def corners(numbers: dict[str, float]) -> np.ndarray:
    """Of the box that nine numbers describe, in camera axes."""
    lens = worlds.CAMERA
    x = (numbers["u"] / 1000 * 640 - 0.5 - lens.cx_px) / lens.fx_px
    y = (numbers["v"] / 1000 * 480 - 0.5 - lens.cy_px) / lens.fy_px
    turns = [
        Rotation.from_rotvec(np.radians(numbers[name]) * np.eye(3)[axis])
        for name, axis in (("yaw", 1), ("pitch", 0), ("roll", 2))
    ]
    pose = np.eye(4)
    pose[:3, :3] = (turns[0] * turns[1] * turns[2]).as_matrix()
    pose[:3, 3] = np.array([x, y, 1]) * numbers["z"]
    return box_corners(pose, np.array([numbers[name] for name in ("x_size", "y_size", "z_size")]))


def test_the_box_is_that_of_the_object() -> None:
    found = worlds.ask(TEMPLATE, METRIC)
    known, scene = objects_of(METRIC), worlds.scene(METRIC)
    size, drafts = known.size, worlds.drafts(found)
    assert size is not None and len(drafts) >= 15
    for draft in drafts:
        ref = draft.fact["object"]
        row, same = int(np.searchsorted(known.frames, ref["frame"])), []
        for k in np.flatnonzero(np.array(known.labels) == ref["name"]):
            pose = np.linalg.inv(scene.world_from_cam(ref["frame"])) @ known.world_from_object[row, k]
            expected, given = box_corners(pose, size[k]), corners(draft.answer.to_json().value)
            same.append(np.abs(expected[:, None] - given).max(axis=2).min(axis=1).max())
        assert min(same) < 1e-6
        numbers = draft.answer.to_json().answer
        assert all(abs(numbers[name]) <= 60 for name in ("roll", "pitch", "yaw"))


def test_a_name_that_singles_the_object_out_needs_no_mark() -> None:
    for draft in worlds.drafts(worlds.ask(TEMPLATE, METRIC)):
        (photo,) = draft.media
        assert len(photo.marks) == draft.fact["marked"] == ("rectangle" in draft.prompt)
        assert draft.fact["marked"] or draft.fact["object"]["name"] != "object"


def test_a_name_of_which_not_every_object_is_listed_is_marked() -> None:
    some = {**METRIC, "objects": replace(objects_of(METRIC), complete=("table",))}
    drafts = worlds.drafts(worlds.ask(TEMPLATE, some))
    assert {draft.fact["object"]["name"] for draft in drafts if not draft.fact["marked"]} == {"table"}


def test_other_names_of_its_axes_give_the_same_box() -> None:
    known = objects_of(METRIC)
    assert known.size is not None
    poses = known.world_from_object.copy()
    poses[..., :3, :3] = poses[..., :3, :3] @ np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    renamed = {**METRIC, "objects": replace(known, world_from_object=poses, size=known.size[:, [1, 2, 0]])}
    here, there = (worlds.drafts(worlds.ask(TEMPLATE, signals)) for signals in (METRIC, renamed))
    assert [draft.answer.to_json().answer for draft in here] == [draft.answer.to_json().answer for draft in there]


def test_neither_world_frame_matters_nor_is_anything_asked_without_metres() -> None:
    """Turned worlds give the same numbers; the unit is the metre."""
    turned = worlds.with_path(worlds.elsewhere(4, 1.0), scale=SCALE)
    here, there = (worlds.drafts(worlds.ask(TEMPLATE, signals)) for signals in (METRIC, turned))
    assert [worlds.shown(draft)[:4] for draft in here] == [worlds.shown(draft)[:4] for draft in there]
    for one, other in zip(here, there, strict=True):
        assert isinstance(one.answer, Box3D) and isinstance(other.answer, Box3D)
        assert one.answer.value == pytest.approx(other.answer.value, abs=1e-6)
    relative = worlds.ask(TEMPLATE, worlds.signals())
    assert not relative.asked and worlds.reasons(relative) == {"scale is not metric"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"size_sigma": np.full((6, 3), np.inf)}, "the box of an object is not known"),
        ({"centre_sigma": np.full(6, 0.2), "size_sigma": np.full((6, 3), 0.2)}, "σ too large for the tolerance"),
        ({"outlier_probability": np.full(6, 0.05)}, "not confirmed by an independent measurement"),
    ],
)
def test_uncertain_boxes_are_not_asked_for(change: dict[str, np.ndarray], why: str) -> None:
    found = worlds.ask(TEMPLATE, {**METRIC, "objects": replace(objects_of(METRIC), **change)})  # type: ignore[arg-type]
    assert not found.asked and why in worlds.reasons(found)


def test_a_lens_that_distorts_the_photo_gives_no_box() -> None:
    bent = worlds.with_path(METRIC, intrinsics=replace(worlds.CAMERA, k1=-0.4))
    found = worlds.ask(TEMPLATE, bent)
    assert "the lens distorts the photo too much" in worlds.reasons(found)


def test_objects_too_thin_to_place_are_not_asked_for() -> None:
    known = objects_of(METRIC)
    assert known.size is not None
    thin = {**METRIC, "objects": replace(known, size=known.size * [1, 0.1, 1])}
    found = worlds.ask(TEMPLATE, thin)
    assert not found.asked and "the object is too thin" in worlds.reasons(found)
