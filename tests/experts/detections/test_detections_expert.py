"""Files of a rendered room's true detections become its objects; what does not fit is refused with its reason."""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experts.clip import Clip, StatedDetections
from experts.detections.detections_expert import DetectionsExpert
from experts.detections.reading import digest_of
from experts.detections.runs import encoded
from experts.signals import NoEstimate, Objects, Signal
from spatial_engine.rendering import as_clip, true_signals
from spatial_engine.rendering.imitated import noisy
from spatial_engine.rendering.imitated_networks import box_of
from tests.experts.objects.test_open_vocabulary import scene_of

FRAMES, WIDTH, HEIGHT = 6, 320, 240


class Room:
    """A room with a cupboard, two boxes, and a crate that slides; true masks of its objects."""

    def __init__(self) -> None:
        self.scene = scene_of(FRAMES)
        self.clip = as_clip(self.scene)
        self.objects = self.scene.objects
        self.ids = [self.scene.object_ids(f) for f in range(FRAMES)]
        known: dict[str, Any] = true_signals(self.scene, self.clip)
        known["depth"] = noisy(known["depth"], np.random.default_rng(0), 0.005, 0.005)
        self.world_from_objects = known["objects"].world_from_object[0]
        known.pop("objects")
        self.signals: dict[str, Signal | NoEstimate] = known

    def masks(self) -> list[tuple[int, str, np.ndarray]]:
        """Frame, name and mask of everything that is seen."""
        return [
            (frame, one.name, ids == k)
            for frame, ids in enumerate(self.ids)
            for k, one in enumerate(self.objects)
            if (ids == k).sum() >= 80
        ]


@pytest.fixture(scope="module")
def room() -> Room:
    return Room()


def coco(room: Room, masks: bool = True, boxes: bool = True, **parts: Any) -> Any:
    entries = []
    for frame, name, mask in room.masks():
        left, top, right, bottom = (edge + 0.5 for edge in box_of(mask))
        entry: dict[str, Any] = {"image_id": frame, "category_name": name}
        entry |= {"segmentation": encoded(mask)} if masks else {}
        entry |= {"bbox": [left, top, right - left, bottom - top]} if boxes else {}
        entries.append(entry | parts)
    return entries


def stating(clip: Clip, path: Path, content: Any = None, complete: Sequence[str] = (), **parts: Any) -> Clip:
    if content is not None:
        path = path / "detections.json"
        path.write_text(json.dumps(content))
    stated = StatedDetections(
        path=str(path), sha256=digest_of(path), frames=FRAMES, width_px=WIDTH, height_px=HEIGHT,
        crop=(0, 0, WIDTH, HEIGHT), complete=tuple(complete),
    )  # fmt: skip
    return clip.with_options(detections=replace(stated, **parts))


def made(clip: Clip, signals: dict[str, Any]) -> Objects:
    found = DetectionsExpert()(clip, signals)["objects"]
    assert isinstance(found, Objects), found
    return found


def refused(clip: Clip, signals: dict[str, Any]) -> NoEstimate:
    found = DetectionsExpert()(clip, signals)["objects"]
    assert isinstance(found, NoEstimate), found
    return found


def test_masks_become_objects_with_place_size_and_name(room: Room, tmp_path: Path) -> None:
    found = made(stating(room.clip, tmp_path, coco(room), complete=["box", "lamp"]), room.signals)
    assert sorted(found.labels) == ["box", "box", "crate", "cupboard"]
    assert found.size is not None and found.centre_sigma is not None and found.outlier_probability is not None
    assert found.complete == ("box", "lamp")
    for k, label in enumerate(found.labels):
        mine = found.ids == k
        true = np.stack(room.ids)
        which = int(np.bincount(true[mine & (true >= 0)]).argmax())
        assert room.objects[which].name == label
        assert (mine & (true == which)).sum() > 0.95 * (mine | (true == which)).sum()
        if label == "crate":  # it moves
            assert np.isnan(found.world_from_object[:, k]).all() and found.outlier_probability[k] > 0.09
            continue
        offset = found.world_from_object[0, k, :3, 3] - room.world_from_objects[which, :3, 3]
        assert np.abs(offset).max() < 3 * found.centre_sigma[k]
        assert found.outlier_probability[k] == pytest.approx(0.002)
    assert found.provenance.settings["format"] == "COCO" and found.provenance.settings["left_out"] == {}


def test_boxes_alone_have_places_without_sizes_or_pixels(room: Room, tmp_path: Path) -> None:
    found = made(stating(room.clip, tmp_path, coco(room, masks=False, score=0.8)), room.signals)
    counts = [found.labels.count(name) for name in ("box", "cupboard")]
    assert counts == [2, 1] and (found.ids == -1).all()  # nothing follows the crate, which moves
    assert found.box_px is not None and found.score is not None and found.size is not None
    assert np.nanmin(found.score) == pytest.approx(0.8) and np.isnan(found.size).all()
    cupboard = found.labels.index("cupboard")
    frame, _, mask = next(one for one in room.masks() if one[1] == "cupboard")
    np.testing.assert_allclose(found.box_px[frame, cupboard].ravel(), box_of(mask))
    true = room.world_from_objects[[one.name for one in room.objects].index("cupboard"), :3, 3]
    assert found.centre_sigma is not None
    assert np.abs(found.world_from_object[0, cupboard, :3, 3] - true).max() < 3 * found.centre_sigma[cupboard]
    assert found.name_outlier_probability == pytest.approx(0.2)
    assert found.outlier_probability is not None and found.outlier_probability.min() == pytest.approx(0.002)


def test_photos_without_depth_have_names_and_masks_of_each_photo(room: Room, tmp_path: Path) -> None:
    """Photos have no clock: what lies at an equal place in two of them is not taken for one object."""
    found = made(stating(replace(room.clip, times_s=None), tmp_path, coco(room)), {})
    assert len(found.labels) == len(room.masks()) and np.isnan(found.world_from_object).all()
    assert all((found.ids == k).any(axis=(1, 2)).sum() == 1 for k in range(len(found.labels)))


def test_masks_of_a_smaller_picture_are_scaled_and_those_of_another_shape_refused(room: Room, tmp_path: Path) -> None:
    half = [entry | {"segmentation": encoded(mask[::2, ::2])} for entry, (_, _, mask) in zip(
        coco(room, boxes=False), room.masks(), strict=True
    )]  # fmt: skip
    found = made(stating(room.clip, tmp_path, half), room.signals)
    whole = made(stating(room.clip, tmp_path, coco(room)), room.signals)
    assert found.labels == whole.labels and (found.ids == whole.ids).mean() > 0.97
    wide = [entry | {"segmentation": encoded(mask[::2])} for entry, (_, _, mask) in zip(
        coco(room, boxes=False), room.masks(), strict=True
    )]  # fmt: skip
    none = refused(stating(room.clip, tmp_path, wide), room.signals)
    assert none.detail == f"{len(wide)} left out: the mask or picture has another shape than the frame"


def test_a_crop_moves_masks_and_boxes_with_its_frames(room: Room, tmp_path: Path) -> None:
    left, top, width, height = 40, 30, 240, 180
    clip = replace(room.clip, width_px=width, height_px=height)
    for masks in (True, False):
        clip = stating(clip, tmp_path, coco(room, masks=masks), crop=(left, top, width, height))
        cut = made(clip, {})
        frame, name, mask = room.masks()[0]
        inside = mask[top : top + height, left : left + width]
        k = cut.labels.index(name)
        if masks:
            assert ((cut.ids[frame] == k) == inside).mean() > 0.99
        else:
            assert cut.box_px is not None
            np.testing.assert_allclose(cut.box_px[frame, k].ravel(), box_of(inside), atol=0.01)


def test_what_is_left_out_is_not_complete(room: Room, tmp_path: Path) -> None:
    content = coco(room)
    content[0]["segmentation"]["counts"][0] += 1
    spoilt = content[0]["category_name"]
    found = made(stating(room.clip, tmp_path, content, complete=["*"]), room.signals)
    assert spoilt not in found.complete and "*" not in found.complete and len(found.complete) == 2
    assert found.provenance.settings["left_out"] == {"the runs of the mask do not fit its size": 1}
    whole = made(stating(room.clip, tmp_path, coco(room), complete=["*"]), room.signals)
    assert whole.complete == ("*",)
    nameless = [*coco(room), {"image_id": 0, "category_id": 4, "bbox": [1, 1, 9, 9]}]
    assert made(stating(room.clip, tmp_path, nameless, complete=["*"]), room.signals).complete == ()


def test_a_name_with_boxes_beside_masks_is_not_complete(room: Room, tmp_path: Path) -> None:
    content = coco(room)
    del next(entry for entry in content if entry["category_name"] == "cupboard")["segmentation"]
    found = made(stating(room.clip, tmp_path, content, complete=["box", "cupboard"]), room.signals)
    assert found.complete == ("box",)


def test_a_name_in_another_language_is_kept(room: Room, tmp_path: Path) -> None:
    found = made(stating(room.clip, tmp_path, coco(room, category_name="<b>стул</b>")), room.signals)
    assert set(found.labels) == {"стул"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "the detections cannot be read"),
        ("{", "the detections cannot be read"),
        ('[{"image_id": 99, "category_name": "box", "bbox": [1, 1, 9, 9]}]', "no detection can be used"),
        ('[{"image_id": 0, "category_name": "box", "bbox": [500, 1, 9, 9]}]', "no detection can be used"),
        ('[{"image_id": 0, "category_name": "box", "bbox": [1, 1, 9, 9], "score": NaN}]', "no detection can be used"),
        ('{"shapes": [], "imagePath": "0.jpg"}', "no detections in the frames of this clip"),
    ],
)
def test_bad_files_are_a_reason(room: Room, tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "detections.json"
    path.write_text(content)
    assert refused(stating(room.clip, path), room.signals).reason == reason


def test_without_detections_there_is_no_estimate(room: Room, tmp_path: Path) -> None:
    assert refused(room.clip, room.signals).reason == "no detections beside the clip"
    clip = stating(room.clip, tmp_path, coco(room))
    (tmp_path / "detections.json").unlink()
    assert refused(clip, room.signals).reason == "the detections cannot be read"


def test_ten_thousand_detections_in_a_frame_stay_fast(room: Room, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    corner = rng.uniform([0, 0], [WIDTH - 40, HEIGHT - 40], (10_000, 2)).round(1)
    boxes = [
        {"image_id": k % 2, "category_name": "box", "bbox": [x, y, 30, 30], "score": rng.random()}
        for k, (x, y) in enumerate(corner.tolist())
    ]
    started = time.process_time()
    found = made(stating(room.clip, tmp_path, boxes), room.signals)
    assert time.process_time() - started < 20
    assert len(found.labels) <= 200 and found.provenance.settings["left_out"] == {
        "beyond the best 100 of its frame": 9_800
    }
