from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.trust.cached_reconstructions import Cache, cached_reconstructions
from experts.intrinsics import Intrinsics
from experts.mapping import colmap
from experts.mapping import two_reconstructions as two_reconstructions
from experts.mapping.colmap_features import FeatureSettings
from spatial_engine.rendering import as_clip, demo_scene

CAMERA, OTHER = (Intrinsics.centred(64, 48, focal_px) for focal_px in (60.0, 70.0))


def test_a_reconstruction_is_made_once_from_the_same_keyframes_and_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[tuple[Any, ...]] = []
    made: list[Path] = []
    monkeypatch.setattr(two_reconstructions, "verified_copy", _recorded(verified))
    monkeypatch.setattr(two_reconstructions, "reconstruct", lambda path, *_: made.append(path))
    cache = Cache()
    for turn, (contents, camera) in enumerate([(b"a", CAMERA), (b"a", CAMERA), (b"a", OTHER), (b"b", CAMERA)]):
        database, target = tmp_path / f"{turn}.db", tmp_path / f"start{turn}.db"
        database.write_bytes(contents)
        with cached_reconstructions(cache):
            two_reconstructions.verified_copy(database, target, camera, False, 0)
            assert two_reconstructions.reconstruct(target, tmp_path / "map", False, 0) is None
    assert [path.name for path in made] == ["start0.db", "start2.db", "start3.db"]
    assert [start[1] for start in verified] == made and len(cache.reconstructions) == 3


def test_an_alternative_starts_from_the_matches_of_the_first_reconstruction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[tuple[Any, ...]] = []
    copied: list[tuple[Any, ...]] = []
    monkeypatch.setattr(two_reconstructions, "verified_copy", _recorded(verified))
    monkeypatch.setattr(two_reconstructions, "copy_with_camera", _recorded(copied))
    monkeypatch.setattr(two_reconstructions, "reconstruct", lambda *_: None)
    cache = Cache()
    for turn, contents in enumerate((b"a", b"a", b"b")):
        database, first, other = (tmp_path / f"{name}{turn}.db" for name in ("of", "first", "other"))
        database.write_bytes(contents)
        with cached_reconstructions(cache):
            two_reconstructions.verified_copy(database, first, CAMERA, False, 0)
            two_reconstructions.copy_with_camera(first, other, OTHER, True)
            assert two_reconstructions.reconstruct(other, tmp_path / "map", True, 10) is None
    assert [path.name for _, path, *_ in copied] == ["other0.db", "other2.db"]
    assert [path.name for path, *_ in copied] == ["first0.db", "first2.db"] == [path.name for _, path, *_ in verified]


def test_features_are_computed_once_with_the_same_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clip, cache, everywhere = as_clip(demo_scene(64, 48)), Cache(), np.ones((48, 64), dtype=bool)
    made: list[Path] = []

    def describe(folder: Path, *_: object) -> Path:
        made.append(folder)
        (folder / "matches.db").write_bytes(b"of %d" % len(made))
        return folder / "matches.db"

    monkeypatch.setattr(colmap, "build_database", describe)
    found = []
    for turn, (frames, ratio) in enumerate([([0, 9], 0.8), ([0, 9], 0.8), ([0, 9], 0.7), ([0, 8], 0.8)]):
        (folder := tmp_path / str(turn)).mkdir()
        with cached_reconstructions(cache):
            database = colmap.build_database(folder, clip, np.array(frames), everywhere, FeatureSettings(ratio=ratio))
        found.append(database.read_bytes())
    assert found == [b"of 1", b"of 1", b"of 2", b"of 3"]


def test_what_is_derived_is_computed_once_from_the_same_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    clip, calls = as_clip(demo_scene(64, 48)), list[tuple[Any, ...]]()

    def effect(*given: Any, free_lens: bool) -> int:
        calls.append((*given, free_lens))
        return len(calls)

    monkeypatch.setattr(colmap, "camera_effect", effect)
    found, cache = [], Cache()
    for numbers, free_lens in (([0.0, 9.0], True), ([0.0, 9.0], True), ([0.0, 9.0], False), ([0.0, 8.0], True)):
        with cached_reconstructions(cache):
            found.append(colmap.camera_effect(clip, np.array(numbers), free_lens=free_lens))  # type: ignore[arg-type]
    assert found == [1, 1, 2, 3] and len(calls) == 3


def test_everything_is_the_real_one_again_afterwards() -> None:
    real = two_reconstructions.reconstruct, colmap.camera_effect
    with pytest.raises(RuntimeError), cached_reconstructions(Cache()):
        assert two_reconstructions.reconstruct is not real[0] and colmap.camera_effect is not real[1]
        raise RuntimeError
    assert (two_reconstructions.reconstruct, colmap.camera_effect) == real


def _recorded(calls: list[tuple[Any, ...]]) -> Callable[..., None]:
    """Writes an empty file in place of a database."""

    def write(*start: Any) -> None:
        calls.append(start)
        start[1].touch()

    return write
