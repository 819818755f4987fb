"""`annotate --truth`: what a dataset knows is stored, resumed and asked about like the signals of experts."""

import json
import os
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import spatial_engine as se
from experts.clip import Clip
from experts.objects.box_orientation import BoxFront, box_orientation
from experts.signals import CameraPath, Gravity, NoEstimate, Objects, Signal
from spatial_engine.cli.main import app
from spatial_engine.errors import UsageError
from spatial_engine.rendering.scene import RenderedScene
from spatial_engine.rendering.truth import true_signals
from spatial_engine.sequences import Finding, GroundTruth, open_sequence
from spatial_engine.sources import clip_from_json
from templates.registry import create_templates
from templates.scene.objects import seen_objects
from templates.scene.scenes import scenes_of
from templates.truth import judge
from tests.spatial_engine.sequences import layouts
from tests.spatial_engine.sequences.test_presets import KEPT, LEVEL, STILLS, FakeFile, scene_for

SIX = {
    "tum": {"range_metres", "navigate"},
    "scannet": {"range_metres", "camera_turn"},
    "arkitscenes": {"range_metres", "camera_tilt"},
    "matterport3d": {"place_direction", "range_ratio"},
    "kitti-odometry": {"camera_turn", "place_direction"},
    "tartanair": {"range_metres"},
}
"""Layouts, and templates that their truth decides among others."""
TEMPLATES = create_templates()
OF_OBJECTS = {"closest_object", "wider_object", "object_faces", "count_in_photo"}
WITH_OBJECTS = {"arkitscenes", "kitti-object", "kitti-tracking", "nuscenes", "adt", "sun-rgbd", "hypersim"}
"""Layouts with boxes."""


def written(preset: str, folder: Path) -> Path:
    """The rendered room in that layout."""
    writer = next(writer for name, writer in layouts.WRITERS.values() if name == preset)
    return writer(folder, scene_for(preset))


def abilities_of(names: set[str]) -> list[str]:
    return sorted({TEMPLATES[name].ability for name in names})


@pytest.mark.parametrize("asked", ["some", pytest.param("all", marks=pytest.mark.long)])
@pytest.mark.parametrize("preset", SIX)
def test_what_a_data_set_states_is_asked_and_right(preset: str, asked: str, tmp_path: Path) -> None:
    store = se.annotate(written(preset, tmp_path / "room"), tmp_path / "store", truth=True)
    abilities = None if asked == "all" else abilities_of(SIX[preset])
    questions = list(se.generate(store, tmp_path / "set", abilities=abilities).questions)
    (clip_id,) = store.clip_ids()
    clip = clip_from_json(store.record(clip_id).clip)
    shown = sorted({frame for q in questions for medium in q.media for frame in medium.get("frames", [])})
    (truth,) = scenes_of(clip, true_signals(scene_for(preset), clip, shown))
    verdicts = [judge(question, TEMPLATES[question.template], truth) for question in questions]
    assert False not in verdicts and verdicts.count(True) > 0.8 * len(verdicts)
    assert SIX[preset] <= {question.template for question in questions}
    assert all(record["expert"] != "ground_truth" for q in questions for record in q.provenance), "the dataset's name"


def test_photos_of_their_own_are_clips_and_scenes_of_their_own(tmp_path: Path) -> None:
    store = se.annotate(written("kitti-object", tmp_path / "room"), tmp_path / "store", truth=True)
    assert len(store.clip_ids()) > 1 and len(store.clip_ids()) == len(set(store.scenes().values()))
    assert list(
        se.generate(store, tmp_path / "set", abilities=abilities_of({"closest_object", "wider_object"})).questions
    )


def test_a_second_run_does_nothing_and_a_changed_file_does(tmp_path: Path) -> None:
    room = written("tum", tmp_path / "room")
    first = se.annotate(room, tmp_path / "store", truth=True)
    keys = first.record(first.clip_ids()[0]).signals
    assert se.annotate(room, tmp_path / "store", truth=True).record(first.clip_ids()[0]).signals == keys
    depth = next((room / "depth").glob("*.png"))
    os.utime(depth, (1, 1))
    assert se.annotate(room, tmp_path / "store", truth=True).record(first.clip_ids()[0]).signals != keys


def test_frames_that_contradict_the_truth_carry_none(tmp_path: Path) -> None:
    (sequence,) = open_sequence(written("arkitscenes", tmp_path / "room"))
    severe = [Finding(what="wrong pose", number="9 px", remedy="none", severe=True, frames=(1,))]
    vars(sequence)["findings"] = tuple(severe)
    found = GroundTruth([sequence])(sequence.clip, {})
    path, gravity = found["camera_path"], found["gravity"]
    assert isinstance(path, CameraPath) and isinstance(gravity, Gravity)
    assert np.flatnonzero(~path.registered).tolist() == [1] and np.isnan(path.world_from_cam[1]).all()
    assert 1 not in gravity.frames and 1 not in found["depth"].frames and 1 not in found["objects"].frames
    (sequence,) = open_sequence(tmp_path / "room")
    vars(sequence)["findings"] = (Finding(what="wrong unit", number="x 1000", remedy="none", severe=True, frames=()),)
    none = GroundTruth([sequence])(sequence.clip, {})
    assert all(isinstance(signal, NoEstimate) and "wrong unit" in signal.detail for signal in none.values())
    (sequence,) = open_sequence(tmp_path / "room")
    vars(sequence)["findings"] = (replace(severe[0], of=("depth",), frames=()),)
    found = GroundTruth([sequence])(sequence.clip, {})
    assert isinstance(found["depth"], NoEstimate)
    assert found["camera_path"].registered.all() and isinstance(found["gravity"], Gravity)


def test_objects_of_a_photo_without_depth(tmp_path: Path) -> None:
    room = written("kitti-object", tmp_path / "room")
    next((room / "training/velodyne").glob("*.bin")).unlink()
    for one in open_sequence(room):
        found = GroundTruth([one])(one.clip, {})["objects"]
        assert isinstance(found, Objects) and found.frames.tolist() == [0]


def test_the_command_line_takes_it_plans_it_and_refuses_what_a_manifest_states(tmp_path: Path) -> None:
    room, store = str(written("tum", tmp_path / "room")), str(tmp_path / "store")
    planned = CliRunner().invoke(app, ["annotate", room, "-o", store, "--truth", "--plan"])
    assert planned.exit_code == 0 and "ground_truth" in planned.output and not Path(store).exists()
    for words, said in {
        ("--truth", "--fps", "5"): "--fps beside --truth",
        ("--truth", "--upright"): "--upright beside --truth",
        ("--preset", "tum"): "add --truth",
        ("--truth", "--preset", "kitti-odometry"): "KITTI odometry",
        ("--truth", "--only", "nothing*"): "no sequence called",
    }.items():
        refused = CliRunner().invoke(app, ["annotate", room, "-o", store, *words])
        assert isinstance(refused.exception, UsageError) or refused.exit_code == 2
        assert said in refused.output + str(refused.exception), words


def test_experts_beside_it(tmp_path: Path) -> None:
    room = written("tum", tmp_path / "room")
    alone = se.annotate(room, tmp_path / "alone", truth=True, experts="valid_area")
    assert set(alone.record(alone.clip_ids()[0]).signals) >= {"camera_path", "depth", "valid_area"}
    assert "image_tracks" not in alone.record(alone.clip_ids()[0]).signals
    more = se.annotate(room, tmp_path / "more", truth=True, experts="+straight_lines")
    assert set(more.record(more.clip_ids()[0]).signals) >= {"camera_path", "image_tracks", "calibration"}
    fewer = se.annotate(room, tmp_path / "fewer", truth=True, experts="-klt")
    assert "image_tracks" not in fewer.record(fewer.clip_ids()[0]).signals


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [("CC BY 4.0", True), ("MIT", True), ("CC BY-NC-SA 3.0", False), ("unknown", False), ("ask us", False)],
)
def test_the_licence_of_the_data_set_is_that_of_its_truth(licence: str, allowed: bool, tmp_path: Path) -> None:
    (sequence,) = open_sequence(written("tum", tmp_path / "room"))
    stated = replace(sequence.truth, manifest=replace(sequence.manifest, licence=licence))
    assert (stated.provenance.code_licence, stated.provenance.commercial_ok) == (licence, allowed)


def boxes_of(scene: RenderedScene, clip: Clip, frames: list[int], names: dict[str, str]) -> dict[str, Signal]:
    """The renderer's truth with each box as an object of its own, as the layouts list them; `frames` are the scene's,
    in the order of the clip's. Fronts are those that the layouts give: a box looks along its +x."""
    known = true_signals(scene, replace(clip, frames=np.array(frames)), frames)
    path, depth, gravity = (known[name] for name in ("camera_path", "depth", "gravity"))
    poses = np.array([box.world_from_box for box in scene.boxes])
    objects = Objects(
        frames=clip.frames,
        labels=tuple(names.get(box.name, box.name) for box in scene.boxes),
        ids=np.stack([scene.ids(frame) for frame in frames]),
        world_from_object=np.tile(poses, (len(frames), 1, 1, 1)),
        size=np.array([box.size_m for box in scene.boxes]),
        provenance=path.provenance,
    )
    path, depth, gravity = (replace(each, frames=clip.frames) for each in (path, depth, gravity))
    fronts = [BoxFront(front="+x")] * len(scene.boxes)
    facing = box_orientation(objects, path, fronts, 1e-6, path.provenance)
    return {"camera_path": path, "depth": depth, "gravity": gravity, "objects": objects, "object_orientation": facing}


@pytest.mark.parametrize("preset", sorted(WITH_OBJECTS))
def test_objects_of_a_layout_are_asked_about_and_right(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is drawn around is visible, and every answer is the renderer's."""
    monkeypatch.setitem(sys.modules, "h5py", SimpleNamespace(File=FakeFile))
    room = scene_for(preset)
    sequences = open_sequence(written(preset, tmp_path / "room"))
    asked: Counter[str] = Counter()
    for number, one in enumerate(sequences):
        frames = [number] if preset in STILLS else [*KEPT.get(preset, range(len(room)))]
        truth = boxes_of(
            room, one.clip, frames, {box.name: "chair" for box in room.boxes} if preset == "hypersim" else {}
        )
        scene, (true,) = one.scene(one.clip.frames.tolist()), scenes_of(one.clip, truth)
        seen, really = seen_objects(scene), seen_objects(true)
        for row in range(len(seen)):
            pixels = (really.frame == seen.frame[row]) & (really.name == seen.name[row])
            assert pixels.any(), f"{seen.name[row]} cannot be seen in frame {seen.frame[row]}"
        for name in sorted(OF_OBJECTS):
            template = TEMPLATES[name]
            facts = template.propose(scene, np.random.default_rng(0), 40)
            mine, known = template.measure(facts, scene), template.measure(facts, true)
            both = (mine.why == "") & (known.why == "")
            asked[name] += int(both.sum())
            if name == "wider_object":
                sure = both & (np.abs(mine.value[:, 0]) > 3 * mine.sigma[:, 0])
                assert (np.sign(mine.value[sure, 0]) == np.sign(known.value[sure, 0])).all()
            elif name == "count_in_photo":
                assert (mine.value[both] == known.value[both]).all()
            else:
                assert mine.label is not None and known.label is not None
                sure = both & (mine.margin > 3)
                assert (mine.label[sure] == known.label[sure]).all()
    assert asked["closest_object"] or asked["wider_object"], asked
    assert bool(asked["object_faces"]) == (preset in {*LEVEL, "nuscenes"})
    assert not asked["count_in_photo"], "no preset claims that a name is complete"


def test_the_users_detections_take_the_place_of_its_objects(tmp_path: Path) -> None:
    room, file = written("arkitscenes", tmp_path / "room"), tmp_path / "seen.json"
    (sequence,) = open_sequence(room)
    assert "objects" in GroundTruth([sequence]).provides
    name = sequence.clip.reader.paths[0].name  # type: ignore[attr-defined]
    file.write_text(json.dumps([{"image_id": name, "category_name": "chair", "bbox": [20, 20, 30, 30]}]))
    store = se.annotate(room, tmp_path / "store", truth=True, detections=file, experts="-klt")
    signals = store.signals(store.clip_ids()[0])
    objects = signals["objects"]
    assert (
        isinstance(objects, Objects) and objects.labels == ("chair",) and isinstance(signals["camera_path"], CameraPath)
    )
    assert objects.provenance.expert == "detections" and "object_orientation" not in signals
