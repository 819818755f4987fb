"""Which drawn box encloses an object: that of its measured box, and silent where that is not known well."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.objects.box_corners import box_corners
from experts.signals import Objects, Signal
from templates.media import Outline
from templates.perception.which_box import WhichBox
from templates.scene.objects import found_again
from tests.templates import worlds

TEMPLATE = WhichBox()


def changed(signals: dict[str, Signal], **changes: object) -> dict[str, Signal]:
    return {**signals, "objects": replace(signals["objects"], **changes)}  # type: ignore[type-var]


@worlds.UNITS
def test_the_right_box_is_that_of_the_object(unit: float) -> None:
    signals = worlds.elsewhere(3, unit)
    scene, objects = worlds.scene(signals), signals["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    found = worlds.ask(TEMPLATE, signals)
    for asked in found.asked:
        rows = found_again(scene, asked.facts.object)
        pose = np.linalg.inv(scene.world_from_cam(asked.facts.object.frame)) @ objects.world_from_object[0, rows]
        true_px = worlds.CAMERA.project(box_corners(pose, objects.size[rows]).reshape(-1, 3)).reshape(-1, 1, 8, 1, 2)
        away = np.linalg.norm(true_px - asked.facts.corners_px[:, :, None], axis=-1).min(axis=-1).max(axis=-1)
        assert (away.min(axis=1) < 0.2).all() and (np.sort(away, axis=1)[:, 1] > 5).all()
        assert (1 + away.argmin(axis=1)).astype(str).tolist() == asked.answers.labels().tolist()
    assert len(found) >= 10


def test_wrong_boxes_are_named_mistakes() -> None:
    drafts = worlds.drafts(worlds.ask(TEMPLATE, worlds.signals()))
    assert drafts and all(option.mistake for d in drafts for k, option in enumerate(d.options) if k != d.written)
    assert len({option.mistake for d in drafts for option in d.options}) >= 5


def test_each_photo_shows_the_faces_that_look_at_the_camera() -> None:
    for draft in worlds.drafts(worlds.ask(TEMPLATE, worlds.signals())):
        assert len(draft.media) == 4
        for photo in draft.media:
            point, *faces = photo.marks
            assert point.text == "P" and 1 <= len(faces) <= 3 and all(isinstance(face, Outline) for face in faces)


@pytest.mark.parametrize(
    "change",
    [
        {"centre_sigma": np.full(6, 1.0)},
        {"size_sigma": np.full((6, 3), np.inf)},
        {"outlier_probability": np.full(6, 0.05)},
        {"size": None, "size_sigma": None},
    ],
)
def test_nothing_is_asked_of_doubtful_boxes(change: dict[str, object]) -> None:
    assert not len(worlds.ask(TEMPLATE, changed(worlds.signals(), **change)))


def test_boxes_that_are_not_upright_are_not_asked_about() -> None:
    objects = worlds.signals()["objects"]
    assert isinstance(objects, Objects)
    poses = objects.world_from_object.copy()
    poses[..., :3, :3] = Rotation.from_euler("x", 25, degrees=True).as_matrix()
    assert not len(worlds.ask(TEMPLATE, changed(worlds.signals(), world_from_object=poses)))
    assert not len(worlds.ask(TEMPLATE, worlds.signals(with_gravity=False)))


def test_neither_world_frame_nor_unit_matters() -> None:
    here, there = (worlds.ask(TEMPLATE, signals) for signals in (worlds.signals(), worlds.elsewhere(4, 3.0)))
    shown = [[worlds.shown(draft)[1:] for draft in worlds.drafts(each)] for each in (here, there)]
    assert shown[0] and shown[0] == shown[1]
