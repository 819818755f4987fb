"""A video, or photos, and a detector's file beside them: found, used, said, and asked about."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from experts.clip import Clip
from experts.expert import WeightFreeExpert
from experts.signals import NoEstimate, Objects, Signal, Signals
from spatial_engine import pipeline
from spatial_engine.errors import UsageError
from spatial_engine.progress import Silent
from spatial_engine.rendering import RenderedScene, true_signals, write_video
from spatial_engine.rendering.rooms import random_room
from spatial_engine.store.store import Store
from tests.experts.detections.test_detections_expert import runs
from tests.experts.rendered_objects import SceneObject, object_ids, objects_in

FRAMES, WIDTH, HEIGHT = 10, 320, 240


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
        known = true_signals(self.scene, clip)
        return {name: known[name] for name in self.provides}


class Footage:
    """A room, its video, and what a perfect detector says of it."""

    def __init__(self, folder: Path, seed: int = 3) -> None:
        self.scene = random_room(np.random.default_rng(seed), frames=FRAMES, width_px=WIDTH, height_px=HEIGHT)
        self.objects: list[SceneObject] = objects_in(self.scene)
        self.folder = folder
        self.video = folder / "room.mp4"
        write_video(self.scene, self.video)

    def detections(self) -> list[dict[str, Any]]:
        return [
            {"image_id": frame, "category_name": one.label, "segmentation": runs(ids == k)}
            for frame in range(FRAMES)
            for ids in [object_ids(self.scene, frame, self.objects)]
            for k, one in enumerate(self.objects)
            if (ids == k).sum() >= 150
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


def objects_in_store(store: Store) -> dict[str, Any]:
    """The signal of each clip by its name."""
    return {
        store.record(clip).clip["name"]: store.read(clip, "objects", store.record(clip).signals["objects"])
        for clip in store.clip_ids()
        if "objects" in store.record(clip).signals
    }


def test_a_video_and_a_file_of_detections_give_questions_that_are_right(alone: Footage, tmp_path: Path) -> None:
    alone.written()
    said = Said()
    experts = [Renderer(alone.scene)]
    dataset = pipeline.run(
        alone.folder, tmp_path / "out", experts=experts, detections=alone.folder / "detections.json", progress=said,
        abilities="L1/Geometry/Distance",
    )  # fmt: skip
    assert any("detections.json: COCO" in line and "with masks" in line for line in said.lines)
    asked = [one for one in dataset.questions if one.template == "closest_object"]
    assert asked
    for question in asked:
        marks = {mark["text"]: mark for mark in question.media[0]["marks"]}
        assert question.answer is not None and len(marks) == 3
