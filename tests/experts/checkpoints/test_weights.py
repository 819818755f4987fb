"""Checkpoints are verified, and errors name the cause and the remedy."""

import hashlib
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

import experts.checkpoints.weights as weights
from experts.checkpoints.weight_files import Lock, WeightFile, Weights, write_lock
from experts.checkpoints.weights import WEIGHTS, identity, located, offline
from experts.expert import SetupProblem

BYTES = {"config.json": b"{}", "deep/model.pt": b"tensors" * 100}
SUMS = {name: hashlib.sha256(content).hexdigest() for name, content in BYTES.items()}


@pytest.fixture
def checkpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The complete folder of "toy". The lock pins its small file, the table its big one."""
    row = Weights(
        name="toy", source="https://example.org/", revision="v1", licence="Apache-2.0", commercial_ok=True,
        files=(
            WeightFile(name="config.json", sha256=None, bytes=None),
            WeightFile(name="deep/model.pt", sha256=SUMS["deep/model.pt"], bytes=700),
        ),
    )  # fmt: skip
    monkeypatch.setitem(WEIGHTS, "toy", row)
    for name, content in BYTES.items():
        (tmp_path / "toy" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "toy" / name).write_bytes(content)
    write_lock(tmp_path / "toy", Lock(revision="v1", sha256={"config.json": SUMS["config.json"]}))
    return tmp_path / "toy"


def problem(folder: Path) -> SetupProblem:
    with pytest.raises(SetupProblem) as caught:
        located("toy", str(folder.parent))
    return caught.value


def test_complete_checkpoints_are_located(checkpoint: Path) -> None:
    assert located("toy", str(checkpoint.parent)) == checkpoint


def test_missing_files_are_reported(checkpoint: Path) -> None:
    (checkpoint / "deep" / "model.pt").unlink()
    found = problem(checkpoint)
    assert "weights toy are not here" in found.cause
    assert found.remedy == f"spatial-engine weights fetch toy --weights-dir {checkpoint.parent}"


def test_truncated_files_are_reported(checkpoint: Path) -> None:
    (checkpoint / "deep" / "model.pt").write_bytes(BYTES["deep/model.pt"][:100])
    assert "100 bytes instead of 700" in problem(checkpoint).cause


@pytest.mark.parametrize("name", BYTES)
def test_altered_files_are_reported(checkpoint: Path, name: str) -> None:
    located("toy", str(checkpoint.parent))  # even if it was complete before
    path, content = checkpoint / name, bytearray(BYTES[name])
    content[0] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(0, 12345))
    found = problem(checkpoint)
    assert "was altered" in found.cause
    assert "weights fetch toy" in found.remedy


def test_files_of_another_revision_are_reported(checkpoint: Path) -> None:
    write_lock(checkpoint, Lock(revision="v0", sha256=SUMS))
    assert "of revision v0 instead of v1" in problem(checkpoint).cause


def test_files_without_a_pinned_hash_are_reported(checkpoint: Path) -> None:
    (checkpoint / "weights.lock.json").unlink()
    found = problem(checkpoint)
    assert "no sha256 is pinned" in found.cause
    assert "weights verify --pin toy" in found.remedy


def test_a_damaged_lock_pins_nothing(checkpoint: Path) -> None:
    (checkpoint / "weights.lock.json").write_text("{")
    assert "no sha256 is pinned" in problem(checkpoint).cause


def test_files_are_hashed_once(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    located("toy", str(checkpoint.parent))
    monkeypatch.setattr("experts.checkpoints.weight_files.sha256", lambda path: pytest.fail(f"read {path} again"))
    located("toy", str(checkpoint.parent))


def test_the_identity_depends_on_bytes_and_not_on_the_folder(checkpoint: Path, tmp_path: Path) -> None:
    here = identity(("toy",), str(checkpoint.parent))
    checkpoint.parent.joinpath("elsewhere").mkdir()
    checkpoint.rename(tmp_path / "elsewhere" / "toy")
    assert identity(("toy",), str(tmp_path / "elsewhere")) == here
    write_lock(tmp_path / "elsewhere" / "toy", Lock(revision="v1", sha256={"config.json": "0" * 64}))
    assert identity(("toy",), str(tmp_path / "elsewhere")) != here


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPATIAL_ENGINE_WEIGHTS", str(tmp_path))
    assert weights.folder_of("da3-base") == tmp_path / "da3-base"
    monkeypatch.delenv("SPATIAL_ENGINE_WEIGHTS")
    monkeypatch.setenv("HOME", "/home/you")
    assert weights.folder_of("da3-base") == Path("/home/you/.cache/spatial-engine/weights/da3-base")


@pytest.mark.parametrize("row", WEIGHTS.values(), ids=WEIGHTS)
def test_every_row_of_the_table_is_valid(row: Weights) -> None:
    assert row.commercial_ok == (not row.instead), "weights without commercial use name a substitute"
    assert row.source.startswith("huggingface:") or (row.source.startswith("https://") and row.source.endswith("/"))
    assert row.files
    for file in row.files:
        assert not Path(file.name).is_absolute() and ".." not in Path(file.name).parts
        assert Path(file.name).suffix in (".json", ".txt", ".safetensors", ".pt", ".pth", ".tar"), "no bare pickle"
        assert file.sha256 is None or (len(file.sha256) == 64 and int(file.sha256, 16))
    assert row.revision is None or not row.source.startswith("huggingface:") or len(row.revision) == 40


def test_substitutes_are_permissive_experts() -> None:
    from experts.registry import EXPERTS

    for row in WEIGHTS.values():
        name, _, variant = row.instead.partition(":")
        if name in EXPERTS.targets():
            expert = EXPERTS.load(name)
            assert (expert(variant=variant) if variant else expert()).commercial_ok, row.name


def test_loading_is_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = ModuleType("huggingface_hub.constants")
    hub.HF_HUB_OFFLINE = False  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub.constants", hub)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    with pytest.raises(KeyError), offline():
        assert os.environ["HF_HUB_OFFLINE"] == "1"
        assert hub.HF_HUB_OFFLINE is True
        raise KeyError
    assert os.environ["HF_HUB_OFFLINE"] == "0"
    assert hub.HF_HUB_OFFLINE is False
