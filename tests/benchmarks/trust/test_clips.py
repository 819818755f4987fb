"""Parts of real sets as clips, and detections of rendered rooms."""

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from benchmarks.trust.clips import RealClip
from benchmarks.trust.rooms import room
from benchmarks.trust.sources import _detections
from spatial_engine.sources import find_footage, open_clips


def test_a_part_has_the_truth_of_its_pictures(tmp_path: Path) -> None:
    folder, poses = tmp_path / "temple_ring", [np.diag([1.0, 1, 1, 1]) for _ in range(6)]
    folder.mkdir()
    for k, pose in enumerate(poses):
        pose[0, 3] = k
        noise = np.random.default_rng(k).integers(0, 255, (120, 160, 3), dtype=np.uint8)
        cv2.imwrite(str(folder / f"templeR000{k}.png"), noise)
    (folder / "truth.json").write_text(json.dumps({"frames": [{"world_from_cam": pose.tolist()} for pose in poses]}))
    part = RealClip(data=tmp_path, set="temple_ring", part=(1, 2))
    assert part.name == "temple_ring_2of2"
    found = part.sequence.truth.world_from_cam
    assert found is not None and found[:, 0, 3].tolist() == [3, 4, 5]
    objects = part.sequence.truth.objects
    assert objects is not None and objects.others_stand_still and len(objects.world_from_object) == 3
    footage, options = part.footage(tmp_path / "out")
    (one,) = find_footage(footage).taken
    assert {*part.truths(open_clips(one, options))} == {part.sequence.clip.id}


def test_detections_name_every_large_object_but_those_missed() -> None:
    drawn = room(0, "furnished")
    small = replace(drawn, scene=replace(drawn.scene, intrinsics=drawn.scene.intrinsics.scaled(160, 120)))
    stated = json.loads(json.dumps(_detections(small, 0)))
    shown = {frame["id"]: small.scene.object_ids(frame["id"]) for frame in stated["images"]}
    large = sum(int((np.unique(ids[ids >= 0], return_counts=True)[1] >= 100).sum()) for ids in shown.values())
    assert 0.8 * large < len(stated["annotations"]) < 0.97 * large
    assert {one["category_id"] for one in stated["annotations"]} <= {one["id"] for one in stated["categories"]}
