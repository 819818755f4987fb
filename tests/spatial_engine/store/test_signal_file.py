"""Every kind of signal survives its file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.signals import (
    SIGNAL_TYPES,
    Agreement,
    Calibration,
    CameraPath,
    Depth,
    EffectorPath,
    Gravity,
    ImageTracks,
    Matches,
    NoEstimate,
    ObjectOrientation,
    Objects,
    Parts,
    PathOnTracks,
    PointTracks,
    Room,
    Scale,
    Signal,
    SparsePoints,
    Task,
    ValidArea,
)
from spatial_engine.errors import StoreError
from spatial_engine.store.signal_file import artefact_hash, as_filed, file_name, read_signal, write_signal

FRAMES = np.array([3, 5, 9])
MADE = Provenance(expert="fake", version="1", settings={"spacing_px": 3.5, "names": ["a"], "off": None}, seed=1)
RELATIVE = Scale(kind="relative")
RNG = np.random.default_rng(0)
FLOATS = RNG.normal(size=(3,))

SIGNALS: dict[str, Signal] = {
    "valid_area": ValidArea(valid=RNG.random((4, 6)) < 0.5, provenance=MADE),
    "image_tracks": ImageTracks(frames=FRAMES, xy_px=np.full((2, 3, 2), np.nan, dtype=np.float32), provenance=MADE),
    "camera_path": CameraPath(
        frames=FRAMES,
        world_from_cam=RNG.normal(size=(3, 4, 4)),
        registered=np.array([True, False, True]),
        keyframe=np.array([True, False, False]),
        intrinsics=Intrinsics.centred(640, 480, 500.0),
        focal_relative_sigma=0.05,
        motion="general",
        rotation_sigma_rad=FLOATS,
        position_sigma=FLOATS,
        direction_sigma_rad=0.05,
        scale=Scale(kind="metric", relative_sigma=0.02, source="data set"),
        provenance=MADE,
    ),
    "fitted_path": PathOnTracks(
        frames=FRAMES,
        world_from_cam=np.full((3, 4, 4), np.nan),
        intrinsics=Intrinsics.centred(640, 480, 500.0),
        residual_px=0.4,
        provenance=MADE,
    ),
    "sparse_points": SparsePoints(
        xyz_world=np.zeros((0, 3)),
        range_relative_sigma=np.zeros(0),
        triangulation_angle_rad=np.zeros(0),
        outlier_probability=np.zeros(0),
        observation_point=np.zeros(0, dtype=np.int64),
        observation_frame=np.zeros(0, dtype=np.int64),
        observation_xy_px=np.zeros((0, 2)),
        provenance=MADE,
    ),
    "tracks": PointTracks(
        frames=FRAMES,
        xy_px=RNG.normal(size=(2, 3, 2)),
        visible=RNG.random((2, 3)) < 0.5,
        sigma_px=np.ones((2, 3)),
        outlier_probability=np.ones(2),
        motion=np.array([1, -1], dtype=np.int32),
        residual_px=np.array([np.nan, 1.0]),
        moving_pairs=np.array([3, 0], dtype=np.int32),
        parallax_px=np.ones(2),
        provenance=MADE,
    ),
    "matches": Matches(
        pairs=np.array([[3, 5]]),
        pair=np.zeros(4, dtype=np.int64),
        xy_a_px=RNG.normal(size=(4, 2)),
        xy_b_px=RNG.normal(size=(4, 2)),
        sigma_px=np.ones(4),
        outlier_probability=np.ones(4),
        confirmed_by=np.zeros(4, dtype=np.int32),
        provenance=MADE,
    ),
    "gravity": Gravity(
        frames=FRAMES, up_cam=RNG.normal(size=(3, 3)), sigma_rad=FLOATS, decided_by="--upright", provenance=MADE
    ),
    "depth": Depth(
        frames=FRAMES,
        z=RNG.random((3, 4, 6)).astype(np.float32),
        relative_sigma=np.full((3, 4, 6), np.nan, dtype=np.float32),
        scale=RELATIVE,
        provenance=MADE,
    ),
    "calibration": Calibration(
        intrinsics=Intrinsics.centred(640, 480, 500.0), focal_relative_sigma=0.1, provenance=MADE
    ),
    "object_orientation": ObjectOrientation(
        frames=FRAMES,
        azimuth_rad=np.zeros((3, 2)),
        polar_rad=np.zeros((3, 2)),
        rotation_rad=np.zeros((3, 2)),
        sigma_rad=np.full((3, 2, 3), np.inf),
        cam_from_object=np.full((3, 2, 3, 3), np.nan),
        fronts=np.full((3, 2), -1, dtype=np.int32),
        provenance=MADE,
    ),
    "parts": Parts(
        frames=FRAMES,
        names=("handle", "lid"),
        object=np.array([0, 0]),
        affords=(("pull", "open"), ()),
        ids=np.zeros((3, 4, 6), dtype=np.int32),
        provenance=MADE,
    ),
    "room": Room(
        world_from_floor=np.eye(4),
        floor_sigma=0.01,
        outline=np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 3.0]]),
        wall_sigma=np.array([0.01, 0.02, np.inf]),
        height=np.nan,
        height_sigma=np.nan,
        doorways=np.empty((0, 2, 2)),
        cells=np.zeros((3, 4), dtype=np.int32),
        cell=0.1,
        cells_from=np.zeros(2),
        provenance=MADE,
    ),
    "effector_path": EffectorPath(
        frames=FRAMES,
        base_from_view=np.full((3, 4, 4), np.nan),
        opening=np.array([0.0, 0.5, 1.0]),
        rotation_sigma_rad=np.full(3, 0.01),
        position_sigma=np.full(3, 0.001),
        effector="gripper",
        scale=Scale(kind="metric", relative_sigma=0.01, source="data set"),
        provenance=MADE,
    ),
    "task": Task(
        instruction="put the cup on the plate",
        step_texts=("take the cup", "put it down"),
        step_frames=np.array([0, 2]),
        success=None,
        provenance=MADE,
    ),
    "agreement": Agreement(
        compared=("gravity: a, b",),
        disagreement={"up_rad": 0.01},
        refused={"depth": "two of them disagree"},
        provenance=MADE,
    ),
    "objects": Objects(
        frames=FRAMES,
        labels=("chair", "[b]日本"),
        ids=np.zeros((3, 4, 6), dtype=np.int32),
        world_from_object=np.full((3, 2, 4, 4), np.nan),
        provenance=MADE,
    ),
}


def test_every_kind_is_tried() -> None:
    assert {type(signal) for signal in SIGNALS.values()} == set(SIGNAL_TYPES.values())


@pytest.mark.parametrize("name", SIGNALS)
def test_round_trip(tmp_path: Path, name: str) -> None:
    path = tmp_path / file_name(name, "key", SIGNALS[name])
    write_signal(path, SIGNALS[name])
    for back in (read_signal(path, SIGNAL_TYPES[name]), as_filed(SIGNALS[name])):
        assert type(back) is type(SIGNALS[name])
        assert artefact_hash(back) == artefact_hash(SIGNALS[name])
        for field, value in vars(SIGNALS[name]).items():
            if isinstance(value, np.ndarray):
                assert getattr(back, field).dtype == value.dtype
                np.testing.assert_array_equal(getattr(back, field), value)
            elif value == value:
                assert getattr(back, field) == value
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_unanswerable(tmp_path: Path) -> None:
    refusal = NoEstimate(reason="too little parallax", detail="σ = 3°", remedy="--upright")
    path = tmp_path / file_name("gravity", "key", refusal)
    write_signal(path, refusal)
    assert path.name == "gravity.key.json"
    assert read_signal(path, Gravity) == refusal


def test_the_hash_sees_arrays_and_attributes() -> None:
    gravity = SIGNALS["gravity"]
    assert isinstance(gravity, Gravity)
    other_up = gravity.up_cam.copy()
    other_up[0, 0] = np.nextafter(other_up[0, 0], 2)
    others = [
        replace(gravity, up_cam=other_up),
        replace(gravity, decided_by="data set"),
        replace(gravity, provenance=replace(MADE, settings={"spacing_px": 3.6})),
    ]
    assert len({artefact_hash(signal) for signal in [gravity, *others]}) == 4


@pytest.mark.parametrize("damage", ["cut", "empty", "other kind"])
def test_damage_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "gravity.key.zarr.zip"
    write_signal(path, SIGNALS["valid_area" if damage == "other kind" else "gravity"])
    data = path.read_bytes()
    if damage != "other kind":
        path.write_bytes(data[: len(data) // 2] if damage == "cut" else b"")
    with pytest.raises(StoreError, match=r"gravity\.key\.zarr\.zip cannot be read") as caught:
        read_signal(path, Gravity)
    assert "delete" in caught.value.remedy
