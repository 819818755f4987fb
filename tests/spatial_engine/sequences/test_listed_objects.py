"""What a manifest states beyond camera and depth comes back as the renderer knows it; what contradicts is refused."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import yaml

import spatial_engine as se
from experts.signals import (
    CameraPath,
    EffectorPath,
    Gravity,
    Matches,
    NoEstimate,
    ObjectOrientation,
    Objects,
    Parts,
    Room,
    Task,
)
from spatial_engine.errors import UsageError
from spatial_engine.sequences import GroundTruth, Sequence, open_sequence
from spatial_engine.sequences.manifest import ListedObject, ListedRoom, as_stated, manifest_of
from spatial_engine.sequences.optical_flow import read_flow
from spatial_engine.sources import clip_from_json
from templates.registry import create_templates
from templates.scene.objects import seen_objects
from templates.scene.scenes import scenes_of
from templates.truth import judge
from tests.spatial_engine.sequences.listed_set import flow, listed, stated, true, write_listed
from tests.spatial_engine.sequences.rendered_set import FRAMES, walk

Change = Callable[[dict[str, Any], list[dict[str, Any]], Path], object]
"""Changes the manifest, the list of objects, or files of a copy."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_listed(tmp_path_factory.mktemp("listed"))


def opened(folder: Path, place: Path, change: Change | None = None) -> Sequence:
    """With a changed manifest and list; the images stay where they are."""
    values, objects = stated(), listed()
    if change is not None:
        change(values, objects, place)
    (place / "objects.json").write_text(json.dumps(objects), encoding="utf-8")
    values["objects"] = {**values["objects"], "file": str(place / "objects.json")}
    (place / "stated.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    (one,) = open_sequence(folder, manifest=place / "stated.yaml")
    return one


def test_objects_fronts_and_parts_are_the_renderers(folder: Path, tmp_path: Path) -> None:
    one = opened(folder, tmp_path)
    assert one.object_findings == ()
    found = one.truth.signals(one.clip, [0, 5])
    objects, facing, parts = found["objects"], found["object_orientation"], found["parts"]
    assert isinstance(objects, Objects) and isinstance(facing, ObjectOrientation) and isinstance(parts, Parts)
    rows = [0, 5]
    np.testing.assert_array_equal(objects.ids, true()["objects"].ids[rows])
    np.testing.assert_array_equal(parts.ids, true()["parts"].ids[rows])
    assert (parts.names, parts.affords) == (true()["parts"].names, true()["parts"].affords)
    np.testing.assert_array_equal(parts.object, true()["parts"].object)
    assert objects.complete == ("*",) and objects.centre_sigma is None
    renderers = true()["object_orientation"]
    ahead = np.isfinite(facing.polar_rad)
    assert ahead.sum() > 4 and (facing.fronts == 1).any()
    for name in ("azimuth_rad", "polar_rad", "rotation_rad", "cam_from_object"):
        np.testing.assert_allclose(getattr(facing, name)[ahead], getattr(renderers, name)[rows][ahead], atol=1e-5)


def test_the_room_is_the_renderers(folder: Path, tmp_path: Path) -> None:
    one = opened(folder, tmp_path)
    found, known = one.truth.signals(one.clip)["room"], true()["room"]
    assert isinstance(found, Room)
    assert found.height == pytest.approx(known.height)
    assert found.world_from_floor[2, 3] == pytest.approx(known.world_from_floor[2, 3], abs=1e-6)
    assert np.ptp(found.outline, axis=0) == pytest.approx(np.ptp(known.outline, axis=0))
    assert found.doorways.shape == known.doorways.shape
    area = found.outline[:, 0] @ np.roll(found.outline[:, 1], -1) - found.outline[:, 1] @ np.roll(
        found.outline[:, 0], -1
    )
    assert area > 0, "anticlockwise"
    objects = true()["objects"]
    on_floor = objects.world_from_object[0, :, 2, 3] - objects.size[:, 2] / 2 < 0.01
    for pose in objects.world_from_object[0, on_floor]:
        column, row = ((pose[:2, 3] - known.world_from_floor[:2, 3] - found.cells_from) / found.cell).astype(int)
        assert found.cells[row, column] == 2
    assert 0.1 < np.mean(found.cells == 1) < 0.95
    part = opened(folder, tmp_path, lambda values, _, __: values["objects"].update(complete=False))
    room = part.truth.signals(part.clip)["room"]
    assert isinstance(room, Room) and not (room.cells == 1).any(), "an incomplete list proves no free floor"


def test_flow_gives_matches_of_pixels_that_both_images_show(folder: Path, tmp_path: Path) -> None:
    one = opened(folder, tmp_path)
    found = one.truth.signals(one.clip)["matches"]
    assert isinstance(found, Matches) and len(found.pairs) == FRAMES - 1
    for row, (a, b) in enumerate(found.pairs.tolist()):
        mine = found.pair == row
        x, y = found.xy_a_px[mine].astype(int).T
        np.testing.assert_allclose(found.xy_b_px[mine], found.xy_a_px[mine] + flow(a, b)[y, x], atol=1e-6)
    assert found.outlier_probability.max() < 0.005
    forward = opened(folder, tmp_path, lambda values, _, __: values["flow"].pop("backward"))
    alone = forward.truth.signals(forward.clip)["matches"]
    assert isinstance(alone, Matches) and len(alone.pair) > len(found.pair) and alone.outlier_probability.min() > 0.1


def test_flow_files_of_three_formats(tmp_path: Path) -> None:
    exact = np.random.default_rng(0).uniform(-20, 20, (5, 7, 2))
    exact[2, 3] = np.nan
    np.save(tmp_path / "a.npy", exact)
    written = np.where(np.isnan(exact), 1e10, exact).astype("<f4")
    head = np.float32(202021.25).tobytes() + np.array([7, 5], dtype="<i4").tobytes()
    (tmp_path / "a.flo").write_bytes(head + written.tobytes())
    png = np.zeros((5, 7, 3), dtype=np.uint16)
    png[..., 2], png[..., 1] = (np.rint(np.nan_to_num(exact[..., k]) * 64 + 2**15) for k in (0, 1))
    png[..., 0] = np.isfinite(exact[..., 0])
    cv2.imwrite(str(tmp_path / "a.png"), png)
    for name, tolerance in (("a.npy", 0), ("a.flo", 1e-5), ("a.png", 1 / 64)):
        np.testing.assert_allclose(read_flow(tmp_path / name), exact, atol=tolerance)
    (tmp_path / "b.flo").write_bytes(b"no flow at all")
    with pytest.raises(UsageError, match=r"b.flo is no optical flow"):
        read_flow(tmp_path / "b.flo")


def test_up_per_image_and_rotations_without_positions(folder: Path, tmp_path: Path) -> None:
    def change(values: dict[str, Any], objects: list[dict[str, Any]], _: Path) -> None:
        values["gravity"] = {"file": "up.txt"}
        values["poses"] = {"file": "rotations.txt", "form": "rotations"}
        for name in ("depth", "objects", "room", "flow", "effector"):
            values.pop(name, None)
        values["objects"] = {"file": "objects.json"}
        for item in objects:
            del item["parts"]

    one = opened(folder, tmp_path, change)
    found = one.truth.signals(one.clip, [0])
    path, gravity, seen = found["camera_path"], found["gravity"], found["objects"]
    assert isinstance(path, CameraPath) and isinstance(gravity, Gravity) and isinstance(seen, Objects)
    np.testing.assert_allclose(gravity.up_cam, true()["gravity"].up_cam, atol=1e-6)
    np.testing.assert_allclose(path.world_from_cam[:, :3, :3], walk().world_from_cam[:, :3, :3], atol=1e-6)
    assert path.motion == "unresolved" and path.registered.all() and np.isnan(path.world_from_cam[:, :3, 3]).all()
    assert seen.box_px is not None and np.isnan(seen.box_px).all()
    level = opened(folder, tmp_path, lambda values, o, p: (change(values, o, p), values.pop("poses")))
    alone = level.truth.signals(level.clip)
    assert isinstance(alone["gravity"], Gravity) and "camera_path" not in alone


def test_effector(folder: Path, tmp_path: Path) -> None:
    one = opened(folder, tmp_path)
    found = one.truth.signals(one.clip)["effector_path"]
    assert isinstance(found, EffectorPath) and found.effector == "gripper" and found.scale.kind == "metric"
    np.testing.assert_allclose(found.base_from_view, walk().world_from_cam, atol=1e-6)
    np.testing.assert_allclose(found.opening, np.linspace(0, 1, FRAMES), atol=1e-6)


def test_an_effector_in_the_world_of_the_camera_is_seen_by_it(folder: Path, tmp_path: Path) -> None:
    """The wrist is the camera here."""
    one = opened(folder, tmp_path, lambda values, o, p: values["effector"].update(base_is_world=True))
    found = one.truth.signals(one.clip)["effector_path"]
    assert isinstance(found, EffectorPath) and found.cam_from_base is not None
    np.testing.assert_allclose(found.cam_from_base @ found.base_from_view, [np.eye(4)] * FRAMES, atol=1e-6)
    with pytest.raises(UsageError, match="base_is_world without poses"):
        opened(folder, tmp_path, lambda v, o, p: (v["effector"].update(base_is_world=True), v.pop("poses")))


def test_task(folder: Path, tmp_path: Path) -> None:
    steps = [{"text": "go", "frame": 0}, {"text": "stop", "frame": 3}]
    stated = {"instruction": "walk on", "steps": steps, "success": True}
    one = opened(folder, tmp_path, lambda values, o, p: values.update(task=stated))
    found = one.truth.signals(one.clip)["task"]
    assert isinstance(found, Task) and found.success and found.step_texts == ("go", "stop")
    part = one.truth.signals(replace(one.clip, frames=one.clip.frames[: FRAMES // 2]))["task"]
    assert isinstance(part, Task) and part.success is None and part.step_texts == ()
    steps[1]["frame"] = 0
    with pytest.raises(UsageError, match=r"task\.steps begin with the images \[0, 0\]"):
        opened(folder, tmp_path, lambda values, o, p: values.update(task=stated))


def test_without_masks_depth_tells_what_an_image_shows(folder: Path, tmp_path: Path) -> None:
    """No object is taken for visible that has not one pixel; what is plainly visible is found."""

    def boxes_only(values: dict[str, Any], objects: list[dict[str, Any]], _: Path) -> None:
        values["objects"] = {"file": "objects.json", "complete": True}
        for one in objects:
            one.pop("parts")

    one = opened(folder, tmp_path, boxes_only)
    objects = one.truth.signals(one.clip, range(FRAMES))["objects"]
    assert isinstance(objects, Objects) and objects.box_px is not None
    shown = np.isfinite(objects.box_px).all(axis=(2, 3))
    ids = true()["objects"].ids
    pixels = np.stack([(ids == k).sum(axis=(1, 2)) for k in range(len(objects.labels))], axis=1)
    assert shown.sum() > 20 and not (shown & (pixels == 0)).any()
    assert "*" not in objects.complete, "of some objects nobody knows whether they can be seen"
    whole = opened(
        folder, tmp_path, lambda v, o, p: (boxes_only(v, o, p), v.pop("depth"), [x.update(visible=1) for x in o])
    )
    every = whole.truth.signals(whole.clip, [0])["objects"]
    assert isinstance(every, Objects) and every.complete == ("*",)
    blind = opened(folder, tmp_path, lambda v, o, p: (boxes_only(v, o, p), v.pop("depth")))
    assert not len(seen_objects(blind.scene([0])))


def test_a_part_that_is_visible_is_not_marked_but_counted(folder: Path, tmp_path: Path) -> None:
    def little(values: dict[str, Any], objects: list[dict[str, Any]], _: Path) -> None:
        values["objects"] = {"file": "objects.json", "complete": True}
        for one in objects:
            one.pop("parts")
            one["visible"] = 0.25

    one = opened(folder, tmp_path, little)
    seen = seen_objects(one.scene([0]))
    assert len(seen) and (seen.shown < 0.6).all()


@pytest.mark.parametrize("every_ability", [False, pytest.param(True, marks=pytest.mark.long)])
def test_what_a_manifest_lists_is_asked_about_and_right(folder: Path, tmp_path: Path, every_ability: bool) -> None:
    """From files to questions; the renderer judges every answer."""
    values = stated()
    del values["effector"]
    (tmp_path / "stated.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    store = se.annotate(folder, tmp_path / "store", truth=True, manifest=str(tmp_path / "stated.yaml"))
    templates, of_objects = create_templates(), {"closest_object", "wider_object", "object_faces", "count_in_photo"}
    abilities = None if every_ability else sorted({templates[name].ability for name in of_objects})
    questions = list(se.generate(store, tmp_path / "set", abilities=abilities).questions)
    (clip_id,) = store.clip_ids()
    (truth,) = scenes_of(clip_from_json(store.record(clip_id).clip), true())
    verdicts = [judge(question, templates[question.template], truth) for question in questions]
    assert False not in verdicts and verdicts.count(True) > 0.9 * len(verdicts)  # truth decides beyond 3 σ alone
    assert of_objects <= {question.template for question in questions}


def test_static_scenes(folder: Path, tmp_path: Path) -> None:
    still = opened(folder, tmp_path)
    assert still.scene([0]).exact_objects is not None
    unsure = opened(folder, tmp_path, lambda values, _, __: values.update(static=False))
    assert unsure.scene([0]).exact_objects is None
    values = {**stated(), "static": True}
    del values["objects"], values["room"]
    (tmp_path / "static.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    (bare,) = open_sequence(folder, manifest=tmp_path / "static.yaml")
    objects = bare.scene([0]).exact_objects
    assert objects is not None and objects.labels == ()
    assert {"objects", "matches"} <= GroundTruth([bare]).provides


def test_the_examples_of_the_page_are_read() -> None:
    page = (Path(__file__).parents[3] / "docs/sequences.md").read_text(encoding="utf-8")
    blocks = {kind: re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("yaml", "json")}
    (first, example, episodes), (objects, room) = blocks["yaml"], blocks["json"]
    assert manifest_of(yaml.safe_load(first), "docs").static
    many = manifest_of(yaml.safe_load(episodes), "docs").episodes
    assert many is not None and many.layout == "lerobot" and len(many.pose) == 6
    manifest = manifest_of(yaml.safe_load(example), "docs")
    assert manifest.task is not None and len(manifest.task.steps) == 2
    assert manifest.objects is not None and manifest.room is not None and manifest.flow is not None
    assert as_stated(list[ListedObject], json.loads(objects), "docs")[0].parts[0].affords == ("pull", "open")
    assert as_stated(ListedRoom, json.loads(room), "docs").height == 2.5


def _object(**values: Any) -> Change:
    return lambda _, objects, __: objects[0].update(values)


def _stated(part: str, **values: Any) -> Change:
    return lambda manifest, _, __: manifest[part].update(values)


SKEWED = [[1, 0.2, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
MIRRORED = np.diag([1.0, 1, -1, 1]).tolist()
IDENTITY = np.eye(4).tolist()
BAD: dict[str, tuple[Change, str]] = {
    "no name": (_object(label="  "), r"objects\.json: object 1: label: no name"),
    "a number for a name": (_object(label=5), r"0\.label.*\(given: '5'\)"),
    "unknown key": (_object(colour="red"), r"0\.colour"),
    "NaN size": (_object(size=[1.0, float("nan"), 1.0]), "object 1: size: no lengths"),
    "zero size": (_object(size=[1.0, 0.0, 1.0]), "object 1: size: no lengths"),
    "two sizes": (_object(size=[1.0, 2.0]), r"0\.size"),
    "skewed": (_object(world_from_object=SKEWED), "object 1: world_from_object: pose 0 is not rigid"),
    "mirrored": (_object(world_from_object=MIRRORED), "left-handed"),
    "too few poses": (_object(world_from_object=[IDENTITY] * 3), "3 poses for 14 images"),
    "no matrix": (_object(world_from_object=[[1, 2, 3, 4]]), "object 1: world_from_object"),
    "unknown side": (_object(front="front"), r"0\.front.*'\+x'"),
    "front on top": (_object(front="+z", fronts=1), "object 1: the front"),
    "fronts without a front": (_object(front=None, fronts=2), "object 1: 2 fronts"),
    "more than visible": (_object(visible=1.5), "object 1: visible"),
    "visible in few images": (_object(visible=[1.0, 0.5]), "object 1: visible: 2 shares for 14 images"),
    "one value twice": (_object(mask=2), "the value 2 stands for several"),
    "the value of nothing": (_object(mask=0), "the value 0 stands for nothing"),
    "parts without masks": (_stated("objects", part_masks=""), "there are no part_masks"),
    "no masks": (_stated("objects", masks="nothing/*.png"), "no file matches 'nothing"),
    "masks in colour": (_stated("objects", masks="images/*.png"), "0000.png is not an instance mask"),
    "masks of some images": (_stated("objects", masks="ids/000?.png"), "10 masks for 14 images"),
    "two ups": (_stated("gravity", file="up.txt"), "state either up_world or file"),
    "no numbers": (_stated("gravity", up_world=None, file="poses.txt"), "rows of 16 numbers"),
    "a room without up": (lambda v, _, __: v.pop("gravity"), "room: without gravity"),
    "no room": (_stated("room", file="objects.json"), "objects.json"),
    "too little flow": (_stated("flow", files="forward/000?.npy"), "matches 10 files for 14 images"),
    "no gripper": (_stated("effector", kind="arm"), r"effector\.kind.*'gripper'"),
    "wide open": (_stated("effector", opening="wide.txt"), r"effector\.opening: from 0 to 14"),
    "short rotations": (_stated("poses", file="opening.txt", form="rotations"), "no rows of 4|length"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_so_is_refused(what: str, folder: Path, tmp_path: Path) -> None:
    change, message = BAD[what]
    with pytest.raises(UsageError, match=message) as caught:
        opened(folder, tmp_path, change)
    assert caught.value.remedy


def _of_masks(change: Callable[[np.ndarray], np.ndarray]) -> Change:
    """Changed masks of all images."""

    def apply(values: dict[str, Any], _: list[dict[str, Any]], place: Path) -> None:
        for frame in range(FRAMES):
            mask = change((true()["objects"].ids[frame] + 1).astype(np.uint8))
            cv2.imwrite(str(place / f"mask{frame:04d}.png"), mask)
        (place.parent / "listed").mkdir(exist_ok=True)
        values["objects"]["masks"] = "../" + "../" * 9 + str(place / "mask*.png").lstrip("/")

    return apply


def _moved(_: dict[str, Any], objects: list[dict[str, Any]], __: Path) -> None:
    """The second object is a metre beside its place, if its mask is large."""
    objects[_largest()]["world_from_object"][0][3] += 1.5


def _largest() -> int:
    ids = true()["objects"].ids
    return int(np.bincount(ids[ids >= 0]).argmax())


CONTRADICTIONS: dict[str, tuple[Change, str, bool]] = {
    "masks of another shape": (_of_masks(lambda mask: mask[:, : mask.shape[1] // 2].copy()), "another shape", True),
    "values that are not listed": (_of_masks(lambda mask: np.where(mask > 0, mask + 100, 0)), "no object", True),
    "a box beside its mask": (_moved, "boxes lie beside their masks", False),
    "values in another order": (
        lambda _, objects, __: [one.update(mask=len(objects) - k) for k, one in enumerate(objects)],
        "boxes lie beside their masks",
        False,
    ),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_what_contradicts_the_images_is_said_and_left_out(what: str, folder: Path, tmp_path: Path) -> None:
    change, said, every = CONTRADICTIONS[what]
    one = opened(folder, tmp_path, change)
    (finding,) = one.object_findings
    assert said in finding.what and finding.severe and finding.objects and finding.remedy
    assert not one.unsound, "camera and depth are as they were"
    found = GroundTruth([one])(one.clip, {})["objects"]
    if every:
        assert isinstance(found, NoEstimate) and said in found.detail
        return
    assert isinstance(found, Objects)
    assert len(found.labels) == len(walk().objects) - len(finding.objects)
    assert "*" not in found.complete and one.scene([0]).exact_objects is None
    wrong = {walk().objects[k].name for k in finding.objects}
    assert not wrong & set(found.complete)
    kept = [k for k in range(len(walk().objects)) if k not in finding.objects]
    np.testing.assert_allclose(found.size, true()["objects"].size[kept])


def test_the_digest_changes_with_what_is_stated(folder: Path, tmp_path: Path) -> None:
    first = GroundTruth([opened(folder, tmp_path)]).settings
    assert GroundTruth([opened(folder, tmp_path)]).settings == first
    for change in (_object(front="+x", fronts=1), _stated("room", sigma=0.5), _stated("flow", sigma_px=2.0)):
        assert GroundTruth([opened(folder, tmp_path, change)]).settings != first
