"""Maps of paths of known shape."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Gravity, Signal
from templates.answers import Shape
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.facts import Facts
from templates.generate import answers_to
from templates.mapping.memory import PathMap
from templates.media import Drawing
from templates.truth import verdict
from tests.templates import worlds

MAP = PathMap()
LEVEL = Rotation.from_euler("x", -90, degrees=True).as_matrix()
FRAMES = [*range(0, 48, 6), 46]


def along(
    right: np.ndarray, ahead: np.ndarray, up: np.ndarray | float = 0.0, tilt_deg: float = 0.0
) -> dict[str, Signal]:
    """A camera that looks along world y, at places given to its right, ahead and up (z), frame by frame."""
    signals = worlds.signals()
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    poses = np.tile(np.eye(4), (len(worlds.FRAMES), 1, 1))
    poses[:, :3, :3] = LEVEL @ Rotation.from_euler("x", tilt_deg, degrees=True).as_matrix()
    poses[:, :3, 3] = np.column_stack([right, ahead, np.broadcast_to(up, right.shape)])
    gravity = worlds.signals()["gravity"]
    assert isinstance(gravity, Gravity)
    up_cam = np.einsum("nji,j->ni", poses[:, :3, :3], [0.0, 0.0, 1.0])
    return {
        "camera_path": worlds.with_path(signals, world_from_cam=poses)["camera_path"],
        "gravity": replace(gravity, up_cam=up_cam),
    }


T = np.linspace(0, 1, len(worlds.FRAMES))
CORNER = np.maximum(T - 0.5, 0), np.minimum(T, 0.5)
"""Ahead, then to the right."""


def facts(plane: str = "floor", frames: list[int] | None = None) -> Facts:
    return MAP.facts.from_json([{"frames": FRAMES if frames is None else frames, "plane": plane}])


def test_the_map_has_right_and_ahead_as_axes_and_a_largest_radius_of_one() -> None:
    scene, row = worlds.scene(along(*CORNER)), facts()
    answer = answers_to(MAP, "choice", row, MAP.measure(row, scene)).row(0)
    assert isinstance(answer, Shape)
    places = np.column_stack(CORNER)[np.array(FRAMES) // 2]
    np.testing.assert_allclose(answer.points, places / np.linalg.norm(places, axis=1).max(), atol=1e-9)


def test_rows_of_unequal_lengths_give_what_each_gives_alone() -> None:
    scene = worlds.scene(along(*CORNER))
    both = MAP.facts.from_json([*facts().to_json(), *facts(frames=[0, 20, 40]).to_json()])
    answers = answers_to(MAP, "choice", both, MAP.measure(both, scene))
    alone = facts(frames=[0, 20, 40])
    single = answers_to(MAP, "choice", alone, MAP.measure(alone, scene)).row(0)
    longer, shorter = answers.row(0), answers.row(1)
    assert isinstance(longer, Shape) and isinstance(shorter, Shape) and isinstance(single, Shape)
    np.testing.assert_allclose(shorter.points, single.points, atol=1e-12)
    assert shorter.sigma == pytest.approx(single.sigma) and len(longer.points) == len(FRAMES)


def test_a_path_out_of_the_plane_and_a_steep_view_have_no_map() -> None:
    rising, steep = along(*CORNER, up=2 * T), along(*CORNER, tilt_deg=-75.0)
    assert MAP.measure(facts(), worlds.scene(rising)).why.tolist() == ["the path leaves the plane of the map"]
    assert MAP.measure(facts(), worlds.scene(steep)).why.tolist() == [
        "the first photo looks too steeply to have a heading"
    ]
    assert MAP.measure(facts(frames=[0, 1, 2]), worlds.scene(rising)).why.tolist() == [
        "the camera position of a photo is not known"
    ]


def test_a_straight_path_is_not_asked() -> None:
    row, scene = facts(), worlds.scene(along(0 * T, T))
    answers = answers_to(MAP, "choice", row, MAP.measure(row, scene))
    for format in MAP.formats:
        offer = MAP.offer(format, row, answers, Chance.of(["1" * 16], 0))
        assert offer is not None and offer.why.tolist() == ["the path has no bend"]


@pytest.mark.parametrize("seed", range(4))
def test_yes_and_no_are_drawn_and_the_map_fits_the_answer(seed: int) -> None:
    scene, row = worlds.scene(along(*CORNER)), facts()
    many = row.take(np.zeros(64, dtype=int))
    answers: Answers = answers_to(MAP, "yes_no", many, MAP.measure(many, scene))
    offer = MAP.offer("yes_no", many, answers, Chance.of([f"{k:016x}" for k in range(64)], seed))
    assert offer is not None and offer.options is not None and offer.right is not None
    shape = answers.row(0)
    assert isinstance(shape, Shape) and 16 < offer.right.sum() < 48
    for drawn, no in zip(offer.options[:, 0], offer.right, strict=True):
        rms = np.sqrt(np.mean(np.sum((drawn - shape.points) ** 2, axis=1)))
        assert rms > 2 * 0.15 - 0.01 if no else rms < 0.002


def test_questions_are_right_and_show_the_photos_of_the_path() -> None:
    truth, drafts = worlds.scene(worlds.signals()), worlds.drafts(worlds.ask(MAP, worlds.signals()))
    assert {d.format for d in drafts} == {"choice", "yes_no"}
    said = {worlds.written(draft) for draft in drafts if draft.format == "yes_no"}
    assert said == {"yes", "no"}
    for draft in drafts:
        assert verdict(MAP, draft.format, dict(draft.fact), draft.answer, truth) is True
        photos = [medium.frame for medium in draft.media if not isinstance(medium, Drawing)]
        assert photos == draft.fact["frames"] == sorted(photos)
        assert len([medium for medium in draft.media if isinstance(medium, Drawing)]) == (draft.format == "yes_no")
        if draft.format == "choice":
            assert len(draft.options) == 4 and all(isinstance(option.shown, Drawing) for option in draft.options)


def test_without_gravity_the_map_is_the_plane_of_the_first_photo() -> None:
    found = worlds.ask(MAP, worlds.signals(with_gravity=False))
    assert len(found) and all(draft.fact["plane"] == "camera" for draft in worlds.drafts(found))


def test_a_camera_that_is_upside_down_has_no_map_of_the_floor() -> None:
    known = along(*CORNER)
    path, gravity = known["camera_path"], known["gravity"]
    assert isinstance(path, CameraPath) and isinstance(gravity, Gravity)
    turned = np.diag([-1.0, -1.0, 1.0])
    poses = path.world_from_cam.copy()
    poses[:, :3, :3] = poses[:, :3, :3] @ turned
    over = {
        "camera_path": replace(path, world_from_cam=poses), "gravity": replace(gravity, up_cam=gravity.up_cam @ turned)
    }  # fmt: skip
    assert MAP.measure(facts(), worlds.scene(known)).why.tolist() == [""]
    assert MAP.measure(facts(), worlds.scene(over)).why.tolist() != [""]
