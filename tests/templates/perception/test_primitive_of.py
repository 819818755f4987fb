"""Bodies of known shape, alone in a room: the right primitive, or no question."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import Depth, Signal
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.imitated import noisy
from templates.asked import ClipQuestions
from templates.generate import ask_clip
from templates.perception.primitive_of import PrimitiveOf
from templates.scene.bodies import SHAPES, out_of_limits
from templates.settings import AskSettings
from tests.templates import worlds
from tests.templates.bodies_in_rooms import alone, true_shape

TEMPLATE = PrimitiveOf()
END_ON = {"cylinder": (90, 0, 0), "cone": (-90, 0, 0), "cuboid": (0, 0, 0)}
"""Turns by which a body 3 m before the camera shows it one end alone."""


def signals_of(scene: RenderedScene, smooth: float = 0, pixel: float = 0, seed: int = 0) -> dict[str, Signal]:
    signals = true_signals(scene, as_clip(scene))
    depth = signals["depth"]
    assert isinstance(depth, Depth)
    if smooth or pixel:
        depth = noisy(depth, np.random.default_rng(seed), smooth, pixel)
    return {**signals, "depth": depth}


def ask(scene: RenderedScene, signals: dict[str, Signal]) -> ClipQuestions:
    return ask_clip(as_clip(scene), signals, [TEMPLATE], AskSettings(), 0)


def answers(shape: str, seed: int, smooth: float = 0, pixel: float = 0) -> list[str]:
    """What is asked about one body, in the format of choices."""
    scene = alone(shape, seed)
    assert true_shape(scene, 0, 0) == shape
    drafts = worlds.drafts(ask(scene, signals_of(scene, smooth, pixel, seed)))
    for draft in drafts:
        if draft.format == "yes_no":
            assert worlds.written(draft) == ("yes" if draft.fact["shape"] == shape else "no")
    return [str(draft.answer.to_json().value) for draft in drafts if draft.format == "choice"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [4, pytest.param(40, marks=pytest.mark.long)])
def test_bodies_in_any_pose_are_named_rightly_or_not_at_all_and_most_are_named(shape: str, count: int) -> None:
    given_ = [answers(shape, seed) for seed in range(count)]
    assert {answer for each in given_ for answer in each} == {shape}
    assert sum(map(bool, given_)) >= count / 2


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("smooth", "pixel"), [(0, 0.01), (0, 0.03), (0.01, 0.005), (0.027, 0.013)])
@pytest.mark.parametrize(
    "count", [pytest.param(3, marks=pytest.mark.long(sample=True)), pytest.param(25, marks=pytest.mark.long)]
)
def test_noise_of_depth_silences_and_does_not_mislead(shape: str, smooth: float, pixel: float, count: int) -> None:
    given_ = Counter(answer for seed in range(count) for answer in answers(shape, seed, smooth, pixel))
    assert set(given_) <= {shape}


@pytest.mark.parametrize("shape", END_ON)
def test_a_body_of_which_one_end_is_seen_is_not_asked_about(shape: str) -> None:
    scene = alone(shape, 4, Rotation.from_euler("xyz", END_ON[shape], degrees=True))
    (body,) = scene.boxes
    pose = body.world_from_box.copy()
    pose[:3, 3] = [3, 5.5, 1.5]
    scene = replace(scene, boxes=(replace(body, world_from_box=pose),))
    assert not ask(scene, signals_of(scene)).asked


@pytest.mark.parametrize(("length", "allowed"), [(5, True), (30, False)])
def test_a_stick_is_neither_a_cuboid_nor_a_cylinder(length: float, allowed: bool) -> None:
    stick = np.array([[0, 0, 2, 0, 0, 0, np.log(0.02), np.log(0.02), np.log(0.02 * length)]])
    for shape in ("cuboid", "cylinder"):
        assert (out_of_limits(shape, stick)[0] == 0) == allowed


@pytest.mark.parametrize("shape", SHAPES)
def test_ten_times_the_noise_silences(shape: str) -> None:
    scene = alone(shape, 1)
    signals = signals_of(scene)
    depth = signals["depth"]
    assert isinstance(depth, Depth)
    rough = replace(depth, relative_sigma=np.full_like(depth.relative_sigma, 0.1))
    assert not ask(scene, {**signals, "depth": rough}).asked


def test_no_unit_changes_an_answer() -> None:
    scene = alone("cylinder", 1)
    signals = signals_of(scene)
    depth = signals["depth"]
    assert isinstance(depth, Depth)
    larger = {**signals, "depth": replace(depth, z=7 * depth.z)}
    first, second = (worlds.drafts(ask(scene, each)) for each in (signals, larger))
    assert first and [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


def test_a_body_that_something_hides_in_part_is_not_asked_about() -> None:
    scene = alone("ball", 1)
    signals = signals_of(scene)
    objects, depth = signals["objects"], signals["depth"]
    row, column = np.nonzero(objects.ids[0] == 0)  # type: ignore[union-attr]
    cut = np.zeros_like(objects.ids, dtype=bool)  # type: ignore[union-attr]
    cut[:, :, : int(np.median(column))] = True
    hidden = {
        **signals,
        "objects": replace(objects, ids=np.where(cut, -1, objects.ids)),  # type: ignore[union-attr,type-var]
        "depth": replace(depth, z=np.where(cut, np.float32(0.5), depth.z)),  # type: ignore[union-attr,type-var]
    }
    assert len(row) and not ask(scene, hidden).asked  # type: ignore[arg-type]
