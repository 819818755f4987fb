"""Directions, approach, turns and speeds of objects in the made-up world with three moving ones."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Gravity, Objects, Signal
from templates.measured import Measured
from templates.perception.comes_or_goes import ComesOrGoes
from templates.perception.object_motion import ObjectDirection
from templates.perception.object_speed import FasterObject, ObjectSpeed
from templates.perception.object_turns import ObjectTurns
from templates.scene import moving_objects
from templates.scene.moving_objects import MovedObject
from templates.scene.offsets import offsets
from templates.template import Template
from templates.truth import verdict
from tests.templates import worlds

TEMPLATES: list[Template] = [ObjectDirection(), ComesOrGoes(), ObjectTurns(), FasterObject(), ObjectSpeed()]
EACH = pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
FLIP = np.diag([-1.0, 1, 1, 1])


def metric(signals: dict[str, Signal]) -> dict[str, Signal]:
    return worlds.with_movers(worlds.with_path(signals, scale=worlds.METRIC))


def exact() -> dict[str, Signal]:
    """With the σ of ground truth."""
    signals = metric(worlds.signals())
    objects, gravity = signals["objects"], signals["gravity"]
    assert isinstance(objects, Objects) and isinstance(gravity, Gravity)
    sigma = np.full(len(worlds.FRAMES), 1e-4)
    return worlds.with_path(
        {
            **signals,
            "objects": replace(objects, centre_sigma=None, size_sigma=None, outlier_probability=None),
            "gravity": replace(gravity, sigma_rad=sigma),
        },
        rotation_sigma_rad=sigma,
        focal_relative_sigma=1e-3,
        scale=replace(worlds.METRIC, relative_sigma=1e-4),
    )


def elsewhere(seed: int, unit: float) -> dict[str, Signal]:
    """The world with its moving objects, in another frame and unit."""
    signals, moved = worlds.with_movers(worlds.signals()), worlds.elsewhere(seed, unit)
    objects, path, other = signals["objects"], signals["camera_path"], moved["camera_path"]
    assert isinstance(objects, Objects) and isinstance(path, CameraPath) and isinstance(other, CameraPath)
    assert objects.size is not None and objects.centre_sigma is not None and objects.size_sigma is not None
    seen = np.linalg.inv(path.world_from_cam)[:, None] @ objects.world_from_object
    seen[..., :3, 3] *= unit
    return moved | {
        "objects": replace(
            objects,
            world_from_object=other.world_from_cam[:, None] @ seen,
            size=objects.size * unit,
            centre_sigma=objects.centre_sigma * unit,
            size_sigma=objects.size_sigma * unit,
        ),
        "object_orientation": signals["object_orientation"],
    }


def mirrored(signals: dict[str, Signal]) -> dict[str, Signal]:
    """What a mirror shows: x → -x in the world, in every camera and in every picture."""
    objects, gravity = signals["objects"], signals["gravity"]
    assert isinstance(objects, Objects) and isinstance(gravity, Gravity) and objects.box_px is not None
    boxes = objects.box_px[..., ::-1, :] * [-1, 1] + [639, 0]
    boxes[..., 1] = objects.box_px[..., 1]
    poses = FLIP @ objects.world_from_object @ FLIP
    return worlds.mirrored(signals) | {
        "objects": replace(objects, world_from_object=poses, box_px=boxes),
        "gravity": replace(gravity, up_cam=gravity.up_cam * [-1, 1, 1]),
    }


@EACH
@worlds.UNITS
def test_answers_are_the_same_in_every_world(template: Template, unit: float) -> None:
    signals = elsewhere(3, unit)
    if isinstance(template, ObjectSpeed):
        assert not worlds.ask(template, signals).asked
        signals = worlds.with_path(signals, scale=worlds.METRIC)
        if unit != 1:
            return
    found, truth = worlds.drafts(worlds.ask(template, signals)), worlds.scene(exact())
    assert len(found) >= 8
    for draft in found:
        assert verdict(template, draft.format, dict(draft.fact), draft.answer, truth) is True


@EACH
def test_places_that_are_much_less_sure_are_not_asked_about(template: Template) -> None:
    signals = metric(worlds.signals())
    objects = signals["objects"]
    assert isinstance(objects, Objects) and objects.centre_sigma is not None and objects.size_sigma is not None
    rough = replace(objects, centre_sigma=objects.centre_sigma * 30, size_sigma=objects.size_sigma * 30)
    assert worlds.ask(template, signals).asked
    assert sum(map(len, worlds.ask(template, {**signals, "objects": rough}).asked)) == 0


@EACH
def test_without_moving_objects_nothing_is_asked(template: Template) -> None:
    signals = worlds.with_path(worlds.signals(), scale=worlds.METRIC)
    assert worlds.reasons(worlds.ask(template, signals)) == {"nothing to ask about"}


@EACH
def test_a_mirror_swaps_left_and_right_alone(template: Template) -> None:
    signals = metric(worlds.signals())
    scene, other = worlds.scene(signals), worlds.scene(mirrored(signals))
    facts = template.propose(scene, np.random.default_rng(0), 30)
    rows = facts.to_json()
    for row in rows:
        for ref in row.values():
            if isinstance(ref, dict) and ref["box_px"] is not None:
                (left, top), (right, bottom) = ref["box_px"]
                ref["box_px"] = [[639 - right, top], [639 - left, bottom]]
                ref["inside_px"] = [639 - ref["inside_px"][0], ref["inside_px"][1]]
    first, second = template.measure(facts, scene), template.measure(template.facts.from_json(rows), other)
    known = (first.why == "") & (second.why == "")
    assert known.sum() >= 10
    if first.label is None or second.label is None:
        np.testing.assert_allclose(second.value[known], first.value[known], rtol=1e-9)
        return
    swapped = {"clockwise": "counterclockwise", "counterclockwise": "clockwise"}
    expected = [swapped.get(text, worlds.in_a_mirror(text)) for text in first.label[known].tolist()]
    assert second.label[known].tolist() == expected
    assert (first.label[known] != second.label[known]).any() == isinstance(template, ObjectDirection | ObjectTurns)


def test_a_robot_goes_to_the_right_and_then_ahead() -> None:
    """The camera is turned to the right by up to 25° in photo 1, so that the first way may lead to the front right."""
    found = worlds.drafts(worlds.ask(ObjectDirection(), metric(worlds.signals())))
    two = [draft for draft in found if draft.fact["third"]["frame"] >= 0]
    early = [draft for draft in two if draft.fact["first"]["name"] == "robot" and draft.fact["first"]["frame"] <= 12]
    assert early and {draft.options[worlds.written(draft)].shown for draft in early} == {
        "First to the right, then straight ahead"
    }
    assert all(len(draft.media) == 3 for draft in two)


def test_every_wrong_way_is_a_mistake_and_differs_by_90_degrees_in_a_leg() -> None:
    compass = "front", "front right", "right", "back right", "back", "back left", "left", "front left"
    named = set()
    for draft in worlds.drafts(worlds.ask(ObjectDirection(), metric(worlds.signals()))):
        right, ways = draft.options[worlds.written(draft)], [option.value.split(", then ") for option in draft.options]
        assert len({option.shown for option in draft.options}) == 4 and not right.mistake
        for option, way in zip(draft.options, ways, strict=True):
            if option is not right:
                steps = [
                    abs(compass.index(a) - compass.index(b))
                    for a, b in zip(way, right.value.split(", then "), strict=True)
                ]
                assert max(min(step, 8 - step) for step in steps) >= 2 and option.mistake
                named.add(option.mistake)
    assert {"legs exchanged", "mirrored left to right", "as the object itself would say it"} <= named


def test_a_photo_that_lies_on_its_side_has_no_left_and_right() -> None:
    signals = metric(worlds.signals())
    gravity = signals["gravity"]
    assert isinstance(gravity, Gravity)
    lying = replace(gravity, up_cam=gravity.up_cam @ Rotation.from_euler("z", 90, degrees=True).as_matrix())
    assert "the photo is not upright" in worlds.reasons(worlds.ask(ObjectDirection(), {**signals, "gravity": lying}))


def test_an_object_that_the_camera_approaches_comes_no_nearer_by_that() -> None:
    """The camera goes ahead; what crosses seems to come nearer."""
    found = worlds.drafts(worlds.ask(ComesOrGoes(), metric(worlds.signals()), facts=40))
    words = {(draft.fact["first"]["name"], draft.answer.text) for draft in found}  # type: ignore[attr-defined]
    assert {("ball", "across"), ("cart", "comes")} <= words and ("ball", "comes") not in words
    assert any(option.mistake == "the camera's own motion" for draft in found for option in draft.options)


def test_the_cart_turns_and_the_robot_does_not_though_the_camera_turns() -> None:
    found = worlds.drafts(worlds.ask(ObjectTurns(), metric(worlds.signals()), facts=40))
    assert {draft.answer.text for draft in found if draft.fact["first"]["name"] == "cart"} == {"counterclockwise"}  # type: ignore[attr-defined]
    words = {
        (draft.fact["first"]["name"], draft.answer.text)  # type: ignore[attr-defined]
        for draft in worlds.drafts(worlds.ask(ObjectTurns(), exact(), facts=40))
    }
    assert words >= {("cart", "counterclockwise"), ("robot", "not")}
    fronts = replace(exact()["object_orientation"], fronts=np.full((len(worlds.FRAMES), 9), 4, dtype=np.int32))  # type: ignore[type-var]
    found = worlds.ask(ObjectTurns(), {**exact(), "object_orientation": fronts})
    assert not found.asked and "the object looks the same after a turn" in worlds.reasons(found)


def moved(template: Template, name: str, axes: np.ndarray | None = None, places: np.ndarray | None = None) -> Measured:
    """A fact about the object of this name, where its poses from photo 1 to photo 2 are others; its places count from
    the camera of photo 1, in its axes."""
    signals = exact()
    known, objects = worlds.scene(signals), signals["objects"]
    assert isinstance(objects, Objects)
    facts = template.propose(known, np.random.default_rng(0), 40)
    assert isinstance(facts, MovedObject)
    row = int(np.flatnonzero((facts.first.name == name) & (np.diff(facts.frames)[:, 0] > 12))[0])
    first, last = np.searchsorted(objects.frames, facts.frames[row]).tolist()
    poses = objects.world_from_object.copy()
    own = poses[first : last + 1, objects.labels.index(name)]
    share = np.linspace(0, 1, len(own))[:, None]
    if axes is not None:
        own[:, :3, :3] = axes[np.round(share[:, 0] * (len(axes) - 1)).astype(int)]
    if places is not None:
        camera = known.world_from_cam(facts.first.frame)[row]
        own[:, :3, 3] = (places[0] + share * (places[1] - places[0])) @ camera[:3, :3].T + camera[:3, 3]
    scene = worlds.scene({**signals, "objects": replace(objects, world_from_object=poses)})
    return template.measure(facts.take(np.array([row])), scene)


def test_a_turn_between_photos_that_are_too_far_apart_may_be_one_the_other_way_round() -> None:
    """By 250° counterclockwise; of a part of it, no poses are known."""
    turn = Rotation.from_euler("z", np.linspace(0, 250, 101)[:, None], degrees=True).as_matrix()
    half = Rotation.from_euler("z", np.linspace(0, 100, 101)[:, None], degrees=True).as_matrix()
    unknown = np.full((99, 3, 3), np.nan)
    too_far = ["the object turns to and fro, or round"]
    assert moved(ObjectTurns(), "cart", half).why.tolist() == [""]
    assert moved(ObjectTurns(), "cart", turn).why.tolist() == too_far
    assert moved(ObjectTurns(), "cart", np.concatenate([turn[:1], unknown, turn[-1:]])).why.tolist() == too_far


@pytest.mark.parametrize(
    ("start", "end", "label"),
    [((-2, 0, 4), (2, 0, 4.3), "across"), ((-4, 0, 3), (2, 0, 2.59), None), ((0.3, 0, 4), (-0.3, 0, -4.2), None)],
    ids=["across", "from 5 m to 3.3 m", "over the spot of the camera"],
)
def test_what_passes_across_stays_as_far_away(
    start: tuple[float, ...], end: tuple[float, ...], label: str | None
) -> None:
    measured = moved(ComesOrGoes(), "ball", places=np.array([start, end]))
    assert measured.label is not None
    refused = "the distance does not stay about the same"
    assert measured.why.tolist() == ["" if label else refused] and measured.label.tolist() == ["across"]


def test_the_ball_is_the_fastest_and_its_speed_that_of_its_way() -> None:
    signals = metric(worlds.signals())
    for draft in worlds.drafts(worlds.ask(FasterObject(), signals, facts=40)):
        names = [draft.fact[name]["name"] for name in ("first", "second")]
        assert "ball" not in names or names[int(draft.answer.text) - 1] == "ball"  # type: ignore[attr-defined]
    for draft in worlds.drafts(worlds.ask(ObjectSpeed(), signals, facts=40)):
        trap = draft.traps.get("the camera's own motion")
        assert trap is None or abs(trap / worlds.written(draft) - 1) > 0.35
        if draft.fact["first"]["name"] == "ball":
            assert worlds.written(draft) == pytest.approx(np.hypot(3.2, 0.2) / (46 / 24), abs=0.011)


def test_a_way_is_as_unsure_as_the_shift_of_the_camera() -> None:
    """An object stands where the camera of each photo has it."""
    sigma, frames = [], np.array([[worlds.FRAMES[0], worlds.FRAMES[-1]]])
    for travel in (0.0, 0.2):
        scene = worlds.scene(worlds.with_path(metric(worlds.signals()), travel_relative_sigma=travel))
        sigma.append(moving_objects.way(scene, np.array([0]), frames, frames[:, 0]).sigma[0])
        shift = offsets(scene, frames).length[0]
    assert sigma[1] == pytest.approx(np.hypot(sigma[0], 0.2 * shift)) and shift > 0.1


def test_speeds_need_time_stamps() -> None:
    scene = worlds.scene(metric(worlds.signals()))
    still = replace(scene, clip=replace(scene.clip, times_s=None))
    facts = ObjectSpeed().propose(still, np.random.default_rng(0), 10)
    assert set(ObjectSpeed().measure(facts, still).why.tolist()) == {"the footage has no time stamps"}
