"""Which reconstructions are tried where the first one is refused, and which of them counts."""

from dataclasses import replace

import numpy as np
import pytest

from experts.mapping import colmap
from experts.mapping.colmap import ColmapExpert
from experts.mapping.colmap_features import FeatureSettings
from experts.provenance import Provenance
from experts.signals import CameraPath, ImageTracks, NoEstimate
from experts.tracking.klt import KltExpert
from spatial_engine.rendering import as_clip, camera_paths, true_signals
from spatial_engine.rendering.rooms import random_room
from tests.experts.mapping.test_moving_parts import tracks

SCENE = random_room(np.random.default_rng(0), frames=12, width_px=640, height_px=480, path=camera_paths.walk)
CLIP = as_clip(SCENE)
WALK = true_signals(SCENE, CLIP, [0])["camera_path"]
assert isinstance(WALK, CameraPath)
TURN = replace(WALK, motion="rotation_only")
Path = CameraPath | NoEstimate


def refused(reason: str) -> NoEstimate:
    return NoEstimate(reason=reason)


def tried(monkeypatch: pytest.MonkeyPatch, mover_m: float, *found: Path) -> tuple[object, list[str]]:
    """The path that the expert returns if its tries find these, and what each try was."""
    tries: list[str] = []

    def mapped(_self: object, _inputs: object, valid: np.ndarray, features: FeatureSettings) -> dict[str, Path]:
        assert valid.all() or 0.6 < valid.mean() < 0.95
        words = "all" if valid.all() else MASKED
        tries.append(words if features == FeatureSettings() else f"{words}, more features")
        return {"camera_path": found[len(tries) - 1]}

    monkeypatch.setattr(ColmapExpert, "_mapped", mapped)
    image_tracks = ImageTracks(
        frames=CLIP.frames,
        xy_px=tracks(mover_m).astype(np.float32),
        provenance=Provenance(expert="test", version="1"),
    )
    return ColmapExpert()(CLIP, {"image_tracks": image_tracks})["camera_path"], tries


MASKED, MORE = "without what moves", "all, more features"


@pytest.mark.parametrize(
    ("reason", "mover_m", "further"),
    [
        ("few keyframes registered", 0.6, [MASKED, MORE]),
        ("few keyframes registered", 0.0, [MORE]),
        ("focal length undecided", 0.6, [MORE]),
        ("the two reconstructions disagree", 0.0, []),
        ("matches contradict the reconstruction", 0.6, [MASKED]),
        ("matches contradict the reconstruction", 0.0, []),
        ("focal length changes", 0.6, []),
        ("planar scene", 0.6, []),
        ("the footage contradicts --intrinsics", 0.6, []),
    ],
)
def test_the_reason_says_what_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, reason: str, mover_m: float, further: list[str]
) -> None:
    found, tries = tried(monkeypatch, mover_m, *[refused(reason)] * 3)
    assert found == refused(reason) and tries == ["all", *further]


def test_the_first_path_with_positions_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    few = refused("few keyframes registered")
    assert tried(monkeypatch, 0.6, few, WALK)[0] is WALK
    assert tried(monkeypatch, 0.6, few, refused("few points"), WALK)[0] is WALK


def test_a_further_try_proves_neither_that_the_camera_turns_nor_another_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    few = refused("few keyframes registered")
    for second, third in ((TURN, TURN), (refused("few points"), refused("planar scene"))):
        assert tried(monkeypatch, 0.6, few, second, third)[0] is few


def turns_little(n: int, start: camera_paths.Stance) -> np.ndarray:
    """A pan and tilt of 12 degrees."""
    return camera_paths.performed([(n, {"pan": 0.2, "tilt": -0.06, "roll": 0.04})], start)


@pytest.mark.parametrize(
    ("path", "reason", "reconstructed", "outcome"),
    [
        (camera_paths.walk, "few keyframes registered", 2, "few keyframes registered"),
        (camera_paths.pure_rotation, "few points", 1, "rotation_only"),
        (camera_paths.pure_rotation, "few keyframes registered", 1, "unresolved"),
        (camera_paths.pure_rotation, "the two reconstructions disagree", 2, "unresolved"),
        (camera_paths.pure_rotation, "focal length undecided", 2, "unresolved"),
        (turns_little, "few keyframes registered", 1, "rotation and translation cannot be distinguished"),
        (turns_little, "the two reconstructions disagree", 2, "the two reconstructions disagree"),
    ],
)
def test_where_rotations_explain_the_matches_nothing_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, path: object, reason: str, reconstructed: int, outcome: str
) -> None:
    """A reconstruction from more features may follow what moves. A turn of less than 20 degrees does not tell a camera
    that turns before something that moves from one that moves. An undecided focal length is tried with its extremes."""
    times = 0

    class Refusing(colmap.Reconstructor):
        def two_reconstructions(self, attempt: object) -> NoEstimate:
            nonlocal times
            times += 1
            return refused(reason)

    monkeypatch.setattr(colmap, "Reconstructor", Refusing)
    monkeypatch.setattr(colmap, "shows_parallax", lambda *_: True)
    clip = as_clip(random_room(np.random.default_rng(0), frames=8, path=path))  # type: ignore[arg-type]
    found = ColmapExpert()(clip, KltExpert()(clip, {}))["camera_path"]
    assert times == reconstructed
    assert (found.motion if isinstance(found, CameraPath) else getattr(found, "reason", None)) == outcome
