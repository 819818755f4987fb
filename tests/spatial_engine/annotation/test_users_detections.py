"""A video, or photos, and a detector's file beside them: found, used, said, and asked about."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from experts.clip import Clip
from experts.detections.runs import encoded
from experts.expert import WeightFreeExpert
from experts.signals import NoEstimate, Signal, Signals
from spatial_engine import pipeline
from spatial_engine.annotation.write_detections import write_detections
from spatial_engine.errors import UsageError
from spatial_engine.progress import Silent
from spatial_engine.rendering import RenderedScene, as_clip, true_signals, write_video
from spatial_engine.rendering.imitated import noisy
from spatial_engine.rendering.rooms import random_room
from spatial_engine.store.store import Store
from templates.generate import ask_clip
from templates.registry import TEMPLATES
from templates.settings import AskSettings
from tests.templates.test_objects_in_rooms import RIGHT

FRAMES, WIDTH, HEIGHT = 8, 320, 240


_RENDERED: dict[str, Signal] = {}
"""What the renderer gives for the one scene of this file."""


class Said(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)


@dataclass
class Renderer(WeightFreeExpert):
    """Stands for experts of camera path, depth and gravity: gives the renderer's."""

    scene: RenderedScene
    name: str = "renderer"
    version: str = "1"
    provides: frozenset[str] = frozenset({"camera_path", "depth", "gravity"})
    needs: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    settings: dict[str, Any] = field(default_factory=dict)

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        if not _RENDERED:
            known: dict[str, Any] = true_signals(self.scene, clip)
            known["depth"] = noisy(known["depth"], np.random.default_rng(0), 0.003, 0.003)
            _RENDERED.update({name: known[name] for name in self.provides})
        return _RENDERED


class Footage:
    """A room, its video, and what a perfect detector says of it."""

    def __init__(self, folder: Path, seed: int = 2) -> None:
        self.scene = random_room(np.random.default_rng(seed), frames=FRAMES, width_px=WIDTH, height_px=HEIGHT)
        self.objects = self.scene.objects
        self.folder = folder
        self.video = folder / "room.mp4"
        write_video(self.scene, self.video)

    def detections(self) -> list[dict[str, Any]]:
        return [
            {"image_id": frame, "category_name": one.name, "segmentation": encoded(ids == k)}
            for frame in range(FRAMES)
            for ids in [self.scene.object_ids(frame)]
            for k, one in enumerate(self.objects)
            if (ids == k).any()
        ]

    def written(self, name: str = "detections.json", **parts: Any) -> Path:
        path = self.folder / name
        path.write_text(json.dumps([one | parts for one in self.detections()]))
        return path


@pytest.fixture(scope="module")
def footage(tmp_path_factory: pytest.TempPathFactory) -> Footage:
    return Footage(tmp_path_factory.mktemp("footage"))


@pytest.fixture
def alone(footage: Footage, tmp_path: Path) -> Footage:
    """The video in a folder of its own."""
    other = object.__new__(Footage)
    other.__dict__ |= footage.__dict__ | {"folder": tmp_path / "in", "video": tmp_path / "in" / "room.mp4"}
    other.folder.mkdir()
    other.video.write_bytes(footage.video.read_bytes())
    return other


NAMES = {"closest_object", "wider_object", "count_in_photo"}
ABILITIES = sorted({TEMPLATES.load(name).ability for name in NAMES})


def objects_in_store(store: Store) -> dict[str, Any]:
    """The signal of each clip by its name."""
    return {
        store.record(clip).clip["name"]: store.read(clip, "objects", store.record(clip).signals["objects"])
        for clip in store.clip_ids()
        if "objects" in store.record(clip).signals
    }


def annotated(footage: Footage, out: Path, **options: Any) -> tuple[Any, list[str]]:
    """The objects of the video, and what was said."""
    said = Said()
    store = pipeline.annotate(
        footage.video, out, **({"experts": [Renderer(footage.scene), "detections"]} | options), progress=said
    )
    (objects,) = objects_in_store(store).values()
    return objects, said.lines


@pytest.fixture(scope="module")
def described(footage: Footage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the video, with all that the detector says."""
    path = tmp_path_factory.mktemp("described") / "store"
    annotated(footage, path, detections=footage.written("all.json"))
    return path


def test_a_video_and_a_file_beside_it_give_questions_that_are_right(alone: Footage, tmp_path: Path) -> None:
    """Every question about objects is answered again from surfaces."""
    alone.written()
    said, experts = Said(), [Renderer(alone.scene), "detections"]
    dataset = pipeline.run(
        alone.folder, tmp_path / "out", experts=experts, complete="*", abilities=ABILITIES, progress=said
    )
    assert any("detections.json: COCO" in line and "with masks" in line for line in said.lines)
    assert {one.template for one in dataset.questions} >= NAMES
    store = Store(tmp_path / "out" / "store")
    (clip_id,) = store.clip_ids()
    signals = {name: store.read(clip_id, name, key) for name, key in store.record(clip_id).signals.items()}
    clip, templates = replace(as_clip(alone.scene), id=clip_id), [TEMPLATES.load(name)() for name in sorted(NAMES)]
    found = ask_clip(clip, signals, templates, AskSettings(facts_per_template=60), 0)
    for one in found.asked:
        for fact, draft in zip(one.facts.to_json(), one.drafts(), strict=True):
            assert RIGHT[one.template.name](alone.scene, fact, draft.answer.to_json().answer), (one.template.name, fact)


def test_nothing_is_counted_unless_the_user_says_that_all_are_listed(described: Path, tmp_path: Path) -> None:
    asked = {
        one.template for one in pipeline.generate(Store(described), tmp_path / "set", abilities=ABILITIES).questions
    }
    assert "closest_object" in asked and "count_in_photo" not in asked


@pytest.mark.parametrize("name", ["detections.json", "room.json", "room.detections.json"])
def test_a_file_beside_the_video_is_found_and_named(alone: Footage, tmp_path: Path, name: str) -> None:
    alone.written(name)
    plan = pipeline.plan(alone.folder, tmp_path / "store", progress=(said := Said()))
    assert "detections" in {step.expert.name for step in plan.steps}
    assert any(line.startswith(f"room.mp4: {name}: COCO: ") for line in said.lines)
    assert not any(line.startswith("left out") for line in said.lines)


def test_without_detections_the_expert_does_not_run(alone: Footage, tmp_path: Path) -> None:
    plan = pipeline.plan(alone.folder, tmp_path / "store")
    assert "detections" not in {step.expert.name for step in plan.steps}
    with pytest.raises(UsageError, match="there are no detections"):
        pipeline.plan(alone.folder, tmp_path / "store", complete="chair")


def test_a_json_of_something_else_is_said_and_not_used(alone: Footage, tmp_path: Path) -> None:
    (alone.folder / "room.json").write_text('{"fps": 30, "lens": "wide"}')
    plan = pipeline.plan(alone.folder, tmp_path / "store", progress=(said := Said()))
    assert "detections" not in {step.expert.name for step in plan.steps}
    assert any("room.json holds no detections that can be read" in line for line in said.lines)


def test_a_broken_file_is_a_reason_and_the_batch_goes_on(alone: Footage, tmp_path: Path) -> None:
    (alone.folder / "detections.json").write_text("{")
    objects, said = annotated(alone, tmp_path / "store")
    assert isinstance(objects, NoEstimate) and objects.reason == "the detections cannot be read"
    assert any("detections.json holds no detections that can be read" in line for line in said)


def test_what_is_left_out_is_said(alone: Footage, tmp_path: Path) -> None:
    path = alone.folder / "detections.json"
    path.write_text(json.dumps([*alone.detections(), {"image_id": 500, "category_name": "cup", "bbox": [1, 1, 9, 9]}]))
    _, said = annotated(alone, tmp_path / "store")
    assert any("1 left out: no clip has a frame of its name or number" in line for line in said)


def test_a_second_run_keeps_the_objects_and_a_changed_file_makes_them_anew(
    alone: Footage, described: Path, tmp_path: Path
) -> None:
    shutil.copytree(described, tmp_path / "store")
    first, said = annotated(alone, tmp_path / "store", detections=alone.written("moved.json"))
    assert any("1 complete before this run" in line for line in said)
    alone.written("moved.json", category_name="thing")
    other, said = annotated(alone, tmp_path / "store", detections=alone.folder / "moved.json")
    assert any("0 complete before this run" in line for line in said)
    assert set(first.labels) != set(other.labels) == {"thing"}


def test_one_file_cannot_describe_two_videos(alone: Footage, tmp_path: Path) -> None:
    path = alone.written("all.json")
    (alone.folder / "again.mp4").write_bytes(alone.video.read_bytes())
    with pytest.raises(UsageError, match="2 clips alike"):
        pipeline.plan(alone.folder, tmp_path / "store", detections=path)
    alone.written("detections.json")  # whose is it?
    plan = pipeline.plan(alone.folder, tmp_path / "store")
    assert "detections" not in {step.expert.name for step in plan.steps}
    each = tmp_path / "each"
    each.mkdir()
    path.rename(each / "room.json")
    plan = pipeline.plan(alone.folder, tmp_path / "store", detections=each)
    with pytest.raises(UsageError, match="no such file"):
        pipeline.plan(alone.folder, tmp_path / "store", detections=tmp_path / "nowhere")


def test_photos_with_labelme_files_beside_them(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(3):
        picture = np.random.default_rng(number).integers(0, 255, (60, 80, 3), dtype=np.uint8)
        cv2.imwrite(str(photos / f"IMG_{number + 40}.png"), picture)
        shape = {"label": "cup", "shape_type": "polygon", "points": [[10, 10], [40, 10], [40, 30], [10, 30]]}
        content = {"shapes": [shape], "imagePath": f"IMG_{number + 40}.png", "imageWidth": 80, "imageHeight": 60}
        (photos / f"IMG_{number + 40}.json").write_text(json.dumps(content))
    store = pipeline.annotate(photos, tmp_path / "store", complete="cup")
    (objects,) = objects_in_store(store).values()
    assert objects.labels == ("cup",) * 3 and objects.complete == ("cup",)
    assert np.isnan(objects.world_from_object).all()
    assert objects.outlier_probability.tolist() == [0.002] * 3


@dataclass
class Supervision:
    """What `supervision.Detections` has."""

    xyxy: np.ndarray
    mask: np.ndarray | None = None
    confidence: np.ndarray | None = None
    class_id: np.ndarray | None = None
    data: dict[str, Any] = field(default_factory=dict)


def test_detections_of_supervision_are_written_and_used(alone: Footage, described: Path, tmp_path: Path) -> None:
    by_frame: dict[int | str, Any] = {}
    for frame in range(FRAMES):
        ids = alone.scene.object_ids(frame)
        rows = [k for k in range(len(alone.objects)) if (ids == k).sum() > 50]
        places = [np.nonzero(ids == k) for k in rows]
        boxes = [[x.min(), y.min(), x.max() + 1, y.max() + 1] for y, x in places]
        names = {"class_name": np.array([alone.objects[k].name for k in rows])}
        masks = np.stack([ids == k for k in rows])
        by_frame[frame] = Supervision(np.array(boxes), masks, np.full(len(rows), 0.75), data=names)
    path = write_detections(by_frame, alone.folder / "mine.json")
    written, _ = annotated(alone, tmp_path / "a", detections=path)
    (whole,) = objects_in_store(Store(described)).values()
    assert set(written.labels) <= set(whole.labels) and np.nanmin(written.score) == pytest.approx(0.75)
    assert ((written.ids >= 0) == (whole.ids >= 0)).mean() > 0.98


def test_detections_without_names_or_of_odd_length_are_refused(tmp_path: Path) -> None:
    one = Supervision(np.array([[1, 2, 3, 4]]), class_id=np.array([3]))
    photo = write_detections({"a.jpg": one}, tmp_path / "x.json", names={3: "cup"})
    assert json.loads(photo.read_text())["annotations"][0]["category_name"] == "cup"
    for bad in (one, replace(one, class_id=None), replace(one, confidence=np.array([0.1, 0.2]), class_id=None)):
        with pytest.raises(UsageError, match="frame 0"):
            write_detections({0: bad}, tmp_path / "y.json")
