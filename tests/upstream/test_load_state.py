"""Weight files are read as tensors by torch and safetensors; code in them is never run."""

import pickle
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-experts")

from experts.checkpoints.weights import load_state  # noqa: E402
from experts.expert import SetupProblem  # noqa: E402

STATE = {"a.weight": torch.arange(6.0).reshape(2, 3), "b": torch.ones(2, dtype=torch.float16)}


class CodeInPickle:
    """Runs code if it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("code in a weight file was run",)


def same(loaded: dict[str, Any]) -> bool:
    return loaded.keys() == STATE.keys() and all(torch.equal(loaded[name], STATE[name]) for name in STATE)


def test_safetensors(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file(STATE, tmp_path / "model.safetensors")
    assert same(load_state(tmp_path / "model.safetensors"))


@pytest.mark.parametrize("name", ["model.pt", "geocalib-pinhole.tar"])
def test_torch_files(tmp_path: Path, name: str) -> None:
    torch.save({"model": STATE, "epoch": 3}, tmp_path / name)
    assert same(load_state(tmp_path / name)["model"])


def test_old_torch_files(tmp_path: Path) -> None:
    torch.save(STATE, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    assert same(load_state(tmp_path / "old.pth"))


def test_code_is_not_run(tmp_path: Path) -> None:
    torch.save({"model": STATE, "extra": CodeInPickle()}, tmp_path / "model.pt")
    with pytest.raises(SetupProblem, match="holds more than tensors") as caught:
        load_state(tmp_path / "model.pt")
    assert "not loaded" in caught.value.remedy
    (tmp_path / "bare.pt").write_bytes(pickle.dumps(CodeInPickle()))
    with pytest.raises(SetupProblem, match="holds more than tensors"):
        load_state(tmp_path / "bare.pt")


@pytest.mark.parametrize("name", ["model.pt", "model.safetensors"])
def test_other_files_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"<html>not found</html>" * 10)
    with pytest.raises(SetupProblem, match="is not a weight file"):
        load_state(tmp_path / name)


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    torch.save(STATE, tmp_path / "model.pt")
    whole = (tmp_path / "model.pt").read_bytes()
    (tmp_path / "model.pt").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SetupProblem, match="is not a weight file"):
        load_state(tmp_path / "model.pt")


def test_huggingface_hub_respects_the_offline_mode() -> None:
    hub = pytest.importorskip("huggingface_hub")
    from experts.checkpoints.weights import offline

    with offline(), pytest.raises(Exception, match=r"(?i)offline"):
        hub.HfApi().model_info("owner/name")
