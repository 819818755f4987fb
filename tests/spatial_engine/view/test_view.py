"""Recordings are read back, and held against the store that they were made from."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from rerun.chunk import Chunk, RrdReader

from experts.intrinsics import Intrinsics
from experts.signals import CameraPath, NoEstimate, Objects
from spatial_engine import view
from spatial_engine.cli.main import main
from spatial_engine.errors import SetupError, StoreError, UsageError
from spatial_engine.options import ViewOptions
from spatial_engine.store.store import Store, create_store
from spatial_engine.view import viewing
from spatial_engine.view.picture_camera import PictureCamera
from tests.spatial_engine.measured_store import measured_store
from tests.spatial_engine.rendered_store import rendered_store, short_demo, unprojected

FRAMES, STRIDE = 12, 4


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, str]:
    return rendered_store(tmp_path_factory.mktemp("room"), short_demo(FRAMES), STRIDE)


@pytest.fixture(scope="module")
def shown(store: tuple[Store, str]) -> "Shown":
    return Shown(view(store[0], out=store[0].path.parent / "all.rrd", open=False))


class Shown:
    """What a recording holds."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.chunks: list[Chunk] = list(RrdReader(file).stream())
        self.entities = {chunk.entity_path.replace("\\", "") for chunk in self.chunks}

    def rows(self, entity: str, component: str) -> dict[int, Any]:
        """Values of a component by frame; of -1 where it holds for the whole clip."""
        return dict(self._rows(entity, component))

    def fixed(self, entity: str, component: str) -> Any:
        return self.rows(entity, component)[-1]

    def _rows(self, entity: str, component: str) -> Iterator[tuple[int, Any]]:
        for chunk in self.chunks:
            batch = chunk.to_record_batch()
            if chunk.entity_path.replace("\\", "") == entity and component in batch.schema.names:
                values = batch.column(component).to_pylist()
                frames = [-1] * len(values) if chunk.is_static else batch.column("frame").to_pylist()
                yield from ((frame, value) for frame, value in zip(frames, values, strict=True) if value is not None)


def signal(store: tuple[Store, str], name: str) -> Any:
    return store[0].signals(store[1])[name]


def pose(shown: Shown, entity: str, frame: int = -1) -> np.ndarray:
    found = np.eye(4)
    found[:3, :3] = np.reshape(shown.rows(entity, "Transform3D:mat3x3")[frame], (3, 3)).T  # columns after each other
    if frame > -1 or shown.rows(entity, "Transform3D:translation"):
        found[:3, 3] = shown.rows(entity, "Transform3D:translation")[frame][0]
    return found


def test_the_camera_is_where_the_path_has_it(store: tuple[Store, str], shown: Shown) -> None:
    path = signal(store, "camera_path")
    assert sorted(shown.rows("/world/camera", "Transform3D:mat3x3")) == path.frames.tolist()
    for frame, expected in zip(path.frames.tolist(), path.world_from_cam, strict=True):
        assert pose(shown, "/world/camera", frame) == pytest.approx(expected, abs=1e-6)
    (line,) = shown.fixed("/world/path", "LineStrips3D:strips")
    assert np.array(line) == pytest.approx(path.world_from_cam[:, :3, 3], abs=1e-6)
    side = np.reshape(shown.fixed("/world/camera/picture", "Pinhole:image_from_camera"), (3, 3)).T
    assert side == pytest.approx(path.intrinsics.matrix, abs=1e-3)


def test_up_is_up_in_the_viewer(store: tuple[Store, str], shown: Shown) -> None:
    frame = FRAMES // 2
    (up,) = shown.rows("/world/camera/up", "Arrows3D:vectors")[frame]
    up_world = pose(shown, "/world") @ pose(shown, "/world/camera", frame) @ [*up, 0]
    assert up_world / np.linalg.norm(up_world) == pytest.approx([0, 0, 1, 0], abs=1e-5)


def test_boxes_have_the_size_place_and_name_of_the_objects(store: tuple[Store, str], shown: Shown) -> None:
    objects = signal(store, "objects")
    last = len(objects.labels) - 1
    assert sum(entity.startswith("/world/objects/") and "/front" not in entity for entity in shown.entities) == last + 1
    for k, label in enumerate(objects.labels):
        entity = f"/world/objects/{label} {k}"
        assert shown.fixed(entity, "Boxes3D:labels") == [label]
        assert shown.fixed(entity, "outlier_probability") == pytest.approx([objects.outlier_probability[k]])
        rows = {-1: 0} if k < last else {frame: row for row, frame in enumerate(objects.frames.tolist())}
        assert shown.rows(entity, "Boxes3D:half_sizes").keys() == rows.keys()
        for frame, row in rows.items():
            expected = objects.world_from_object[row, k]
            assert shown.rows(entity, "Boxes3D:half_sizes")[frame] == [pytest.approx(objects.size[k] / 2, abs=1e-6)]
            assert shown.rows(entity, "Boxes3D:centers")[frame] == [pytest.approx(expected[:3, 3], abs=1e-6)]
            (x, y, z, w) = shown.rows(entity, "Boxes3D:quaternions")[frame][0]
            turned = 2 * np.array([x * y + w * z, y * z + w * x])  # R[1, 0] and R[2, 1]
            assert turned == pytest.approx([expected[1, 0], expected[2, 1]], abs=1e-6)


def test_fronts_point_out_of_the_front_side(store: tuple[Store, str], shown: Shown) -> None:
    objects = signal(store, "objects")
    k = objects.labels.index("sideboard")
    (arrow,) = shown.rows(f"/world/objects/sideboard {k}/front", "Arrows3D:vectors")[0]
    assert arrow / np.linalg.norm(arrow) == pytest.approx(-objects.world_from_object[0, k, :3, 1], abs=1e-5)


def test_masks_are_those_of_the_frames(store: tuple[Store, str], shown: Shown) -> None:
    objects = signal(store, "objects")
    masks = shown.rows("/world/camera/picture/masks", "SegmentationImage:buffer")
    assert sorted(masks) == list(range(FRAMES))
    found = np.frombuffer(bytes(masks[STRIDE][0]), dtype=np.uint16).reshape(objects.ids[1].shape)
    assert (found == objects.ids[1] + 1).all()
    assert not any(masks[1][0]), "a frame without objects keeps no mask of the frame before"


def test_detected_boxes_are_shown_where_there_are_no_masks(tmp_path: Path) -> None:
    store, clip = rendered_store(tmp_path, short_demo(8), 4)
    objects = store.signals(clip)["objects"]
    box_px = np.full((2, len(objects.labels), 2, 2), np.nan)
    box_px[0, 3] = [[10, 20], [50, 60]]
    changed = replace(objects, ids=np.full((2, 1, 1), -1, dtype=np.int32), box_px=box_px)
    store.write(clip, "objects", "k" * 16, changed)
    shown = Shown(view(store, out=tmp_path / "a.rrd", open=False))
    boxes = shown.rows("/world/camera/picture/boxes", "Boxes2D:centers")
    assert [len(boxes[frame]) for frame in range(3)] == [1, 0, 0] and boxes[0] == [pytest.approx([30, 40], abs=1e-3)]
    assert shown.rows("/world/camera/picture/boxes", "Boxes2D:half_sizes")[0] == [pytest.approx([20, 20], abs=1e-3)]
    assert shown.rows("/world/camera/picture/boxes", "Boxes2D:labels")[0] == [objects.labels[3]]
    assert "/world/camera/picture/masks" not in shown.entities


def test_points_depth_and_tracks(store: tuple[Store, str], shown: Shown) -> None:
    points, depth, tracks = (signal(store, name) for name in ("sparse_points", "depth", "tracks"))
    assert np.array(shown.fixed("/world/points", "Points3D:positions")) == pytest.approx(points.xyz_world, abs=1e-5)
    grey = 0x96_9B_A5_FF
    assert np.mean([colour != grey for colour in shown.fixed("/world/points", "Points3D:colors")]) > 0.9
    clouds = shown.rows("/world/depth", "Points3D:positions")
    assert sorted(clouds) == depth.frames.tolist()
    _, expected = unprojected(signal(store, "camera_path"), depth, 1, 2)
    assert len(clouds[STRIDE]) == 80 * 60 and np.array(clouds[STRIDE]) == pytest.approx(expected, abs=1e-4)
    moving = shown.rows("/world/tracks", "Points3D:positions")
    assert sorted(moving) == tracks.frames.tolist()
    assert np.array(moving[5]) == pytest.approx(tracks.xyz_world[:, 5], abs=1e-6)


def test_the_room_stands_on_its_floor(store: tuple[Store, str], shown: Shown) -> None:
    room = signal(store, "room")
    strips = shown.fixed("/world/room/walls", "LineStrips3D:strips")
    assert len(strips) == 6
    assert np.array(strips[0])[:4, :2] == pytest.approx(room.outline, abs=1e-6)
    assert np.array(strips[1])[:, 2] == pytest.approx(room.height, abs=1e-6)
    assert pose(shown, "/world/room") == pytest.approx(room.world_from_floor)
    rgba = np.frombuffer(bytes(shown.fixed("/world/room/floor", "GridMap:data")[0]), dtype=np.uint8)
    free = rgba.reshape(*room.cells.shape, 4)[::-1, :, 1] == 200
    assert (free == (room.cells == 1)).all()


def test_the_second_reconstruction_lies_on_the_first_and_is_off(store: tuple[Store, str], shown: Shown) -> None:
    path = signal(store, "camera_path")
    (factor,) = shown.fixed("/world/second", "Transform3D:scale")
    first_from_second = pose(shown, "/world/second")
    first_from_second[:3, :3] *= factor
    for frame in (0, FRAMES - 1):
        found = first_from_second @ pose(shown, "/world/second/camera", frame)
        assert found[:3, 3] == pytest.approx(path.world_from_cam[frame, :3, 3], abs=1e-4)
    reader = RrdReader(shown.file)
    (entry,) = reader.blueprints()
    hidden = [
        chunk.entity_path
        for chunk in reader.stream(store=entry)
        if "EntityBehavior:visible" in chunk.to_record_batch().schema.names
        and not chunk.to_record_batch().column("EntityBehavior:visible").to_pylist()[0][0]
    ]
    assert len(hidden) == 1 and hidden[0].endswith("overrides/world/second/visualizers")


def test_seconds_are_those_of_the_clip(shown: Shown) -> None:
    (chunk,) = [chunk for chunk in shown.chunks if chunk.entity_path == "/world/camera"]
    batch = chunk.to_record_batch()
    seconds = [time.total_seconds() for time in batch.column("seconds").to_pylist()]
    assert seconds == pytest.approx(np.array(batch.column("frame").to_pylist()) / 20)


def test_options_bound_the_file(store: tuple[Store, str], shown: Shown, tmp_path: Path) -> None:
    file = view(
        store[0], store[1][:5], out=tmp_path / "a.rrd", open=False, every=6, picture_side=64, points=50, tracks=3
    )
    small = Shown(file)
    pictures = small.rows("/world/camera/picture", "EncodedImage:blob")
    assert sorted(pictures) == [0, 6, 8], "every sixth, and as many of those with depth"
    jpeg = np.frombuffer(bytes(pictures[0][0]), dtype=np.uint8)
    assert cv2.imdecode(jpeg, cv2.IMREAD_COLOR).shape == (48, 64, 3)
    assert len(small.fixed("/world/points", "Points3D:positions")) == 50
    assert all(len(cloud) <= 50 for cloud in small.rows("/world/depth", "Points3D:positions").values())
    assert {len(points) for points in small.rows("/world/tracks", "Points3D:positions").values()} == {3}
    assert file.stat().st_size < shown.file.stat().st_size


def test_what_is_not_known_is_absent(tmp_path: Path) -> None:
    nothing: dict[str, Any] = dict.fromkeys(
        ["depth", "gravity", "object_orientation", "sparse_points", "tracks", "camera_path_check", "room"]
    )
    refused = NoEstimate(reason="too little parallax")
    store, _ = rendered_store(tmp_path, short_demo(8), 4, **nothing | {"camera_path": refused, "objects": None})
    shown = Shown(view(store, out=tmp_path / "bare.rrd", open=False))
    assert {entity for entity in shown.entities if entity.startswith("/world")} == {"/world/camera/picture"}
    assert "camera_path: no estimate (too little parallax)" in shown.fixed("/clip", "TextDocument:text")[0]


def test_an_object_is_shown_only_where_its_place_is_known(tmp_path: Path) -> None:
    def half_known(objects: Objects) -> Objects:
        poses, size = objects.world_from_object.copy(), objects.size.copy()
        poses[1, -1] = np.nan
        size[0] = np.nan
        return replace(objects, world_from_object=poses, size=size)

    store, clip = rendered_store(tmp_path, short_demo(12), 4)
    objects = half_known(store.signals(clip)["objects"])
    store.write(clip, "objects", "k" * 16, objects)
    shown = Shown(view(store, out=tmp_path / "a.rrd", open=False))
    k = len(objects.labels) - 1
    boxes = shown.rows(f"/world/objects/{objects.labels[k]} {k}", "Boxes3D:half_sizes")
    assert [len(boxes[frame]) for frame in (0, 4, 8)] == [1, 0, 1]
    assert shown.fixed(f"/world/objects/{objects.labels[0]} 0", "Points3D:positions") == [
        pytest.approx(objects.world_from_object[0, 0, :3, 3], abs=1e-6)
    ]


def test_an_object_of_unknown_rotation_is_a_ball(tmp_path: Path) -> None:
    store, clip = rendered_store(tmp_path, short_demo(8), 4)
    objects = store.signals(clip)["objects"]
    poses = objects.world_from_object.copy()
    poses[:, 2, :3, :3] = np.nan
    labels = (*objects.labels[:2], "\ud800", *objects.labels[3:])
    store.write(clip, "objects", "k" * 16, replace(objects, world_from_object=poses, labels=labels))
    shown = Shown(view(store, out=tmp_path / "a.rrd", open=False))
    entity = next(entity for entity in shown.entities if entity.startswith("/world/objects/") and entity.endswith(" 2"))
    assert shown.fixed(entity, "Points3D:positions") == [pytest.approx(poses[0, 2, :3, 3], abs=1e-6)]
    assert shown.fixed(entity, "Points3D:radii") == pytest.approx([np.median(objects.size[2]) / 2])


def test_a_path_without_registered_frames_shows_no_camera(tmp_path: Path) -> None:
    store, clip = rendered_store(tmp_path, short_demo(8), 4)
    path = store.signals(clip)["camera_path"]
    lost = replace(
        path,
        registered=np.zeros_like(path.registered),
        world_from_cam=np.full_like(path.world_from_cam, np.nan),
    )
    store.write(clip, "camera_path", "k" * 16, lost)
    shown = Shown(view(store, out=tmp_path / "a.rrd", open=False))
    assert "/world/camera" not in shown.entities and "/world/depth" not in shown.entities
    assert len(shown.rows("/world/camera/picture", "EncodedImage:blob")) == 8


def test_a_camera_that_only_turns_stands_in_the_origin(tmp_path: Path) -> None:
    def turning(path: CameraPath) -> CameraPath:
        poses = path.world_from_cam.copy()
        poses[:, :3, 3] = np.nan
        return replace(path, world_from_cam=poses, motion="rotation_only")

    store, clip = rendered_store(tmp_path, short_demo(8), 4)
    store.write(clip, "camera_path", "k" * 16, turning(store.signals(clip)["camera_path"]))
    shown = Shown(view(store, out=tmp_path / "a.rrd", open=False))
    assert pose(shown, "/world/camera", 5)[:3, 3].tolist() == [0, 0, 0]
    assert "/world/depth" in shown.entities


def test_pictures_that_cannot_be_read_cost_themselves_only(tmp_path: Path) -> None:
    store, _ = rendered_store(tmp_path, short_demo(8), 4)
    (tmp_path / "room" / "000.jpg").unlink()
    with pytest.warns(UserWarning, match="room: pictures from frame 0 on cannot be read"):
        shown = Shown(view(store, out=tmp_path / "a.rrd", open=False))
    assert not shown.rows("/world/camera/picture", "EncodedImage:blob")
    assert "/world/depth" in shown.entities and "/world/camera/picture/masks" in shown.entities


def test_distortion_is_taken_out_of_pictures_masks_and_pixels(store: tuple[Store, str]) -> None:
    camera = Intrinsics(width_px=160, height_px=120, fx_px=150, fy_px=150, cx_px=79.5, cy_px=59.5, k1=-0.2)
    clip = short_clip()
    flat = PictureCamera(clip, camera, 80)
    xyz = np.array([[0.3, -0.25, 1.0]])
    pixel = camera.project(xyz)
    straight = replace(camera, k1=0.0).scaled(80, 60).project(xyz)
    assert flat.pixels(pixel) == pytest.approx(straight, abs=1e-6)
    ids = np.full((120, 160), -1, dtype=np.int32)
    x, y = np.round(pixel[0]).astype(int)
    ids[y - 2 : y + 3, x - 2 : x + 3] = 7
    there = np.argwhere(flat.mask(ids) == 7)[:, ::-1]
    assert np.abs(there.mean(axis=0) - straight[0]).max() < 1 and 4 <= len(there) <= 12


def short_clip() -> Any:
    from spatial_engine.rendering import as_clip

    return as_clip(short_demo(2))


@pytest.mark.parametrize("screen", [True, False])
@pytest.mark.parametrize("wanted", [None, True, False])
def test_the_viewer_opens_only_where_there_is_a_screen(
    monkeypatch: pytest.MonkeyPatch, store: tuple[Store, str], tmp_path: Path, screen: bool, wanted: bool | None
) -> None:
    opened: list[list[str]] = []
    monkeypatch.setattr(viewing.subprocess, "Popen", lambda command, **_: opened.append(command))
    monkeypatch.setattr(viewing.sys, "platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0" if screen else "")
    file = view(store[0], out=tmp_path / "a.rrd", open=wanted, every=12, tracks=0, points=0)
    assert [command[-1] for command in opened] == ([str(file)] if screen and wanted is not False else [])


def test_errors_name_what_there_is(store: tuple[Store, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="no clip nowhere") as wrong:
        view(store[0], "nowhere", open=False)
    assert store[1] in wrong.value.remedy and "(room)" in wrong.value.remedy
    with pytest.raises(UsageError, match=r"a\.mp4 is no name for a recording"):
        view(store[0], out=tmp_path / "a.mp4")
    with pytest.raises(StoreError, match="holds no clip") as empty:
        view(create_store(tmp_path / "empty"))
    assert "spatial-engine annotate" in empty.value.remedy
    with pytest.raises(StoreError, match="is not a store"):
        view(tmp_path / "nothing")
    (tmp_path / "two").mkdir()
    with pytest.raises(UsageError, match=r"2 clips of .* could be meant") as several:
        view(measured_store(tmp_path / "two"))
    assert "a" * 16 in several.value.remedy and "b" * 16 in several.value.remedy
    with pytest.raises(UsageError, match="--every 0"):
        ViewOptions(every=0)
    monkeypatch.setattr(viewing, "find_spec", lambda _: None)
    with pytest.raises(SetupError, match="rerun-sdk") as missing:
        view(store[0])
    assert missing.value.remedy == "pip install -e '.[view]'"


def test_the_command_says_what_it_wrote(
    store: tuple[Store, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["view", str(store[0].path), "room", "--no-open", "--every", "6", "--tracks", "10"])
    said = capsys.readouterr().out
    assert end.value.code in (0, None)
    assert (tmp_path / f"{store[1]}.rrd").is_file() and f"written: {store[1]}.rrd" in said and "rerun" in said
