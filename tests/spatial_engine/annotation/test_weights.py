"""Weights come once, whole and pinned, from a server on this machine or from a hub of our own making."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from experts.checkpoints.weight_files import WeightFile, Weights, read_lock
from experts.checkpoints.weights import WEIGHTS, located
from experts.expert import SetupProblem
from spatial_engine.annotation import weights
from spatial_engine.errors import UsageError
from tests.spatial_engine.file_server import Served, serving

FILES = {"config.json": b"{}", "deep/model.pt": bytes(range(256)) * 512}
SUMS = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
TOY = Weights(
    name="toy", source="https://example.org/", revision="v1", licence="CC-BY-4.0", commercial_ok=True,
    files=tuple(WeightFile(name=name, sha256=None, bytes=None) for name in FILES),
)  # fmt: skip


@pytest.fixture
def server() -> Iterator[Served]:
    with serving(dict(FILES)) as served:
        yield served


@pytest.fixture
def toy(server: Served, monkeypatch: pytest.MonkeyPatch) -> Weights:
    row = replace(TOY, source=server.url)
    monkeypatch.setitem(WEIGHTS, "toy", row)
    return row


def test_fetched_files_are_pinned(toy: Weights, tmp_path: Path) -> None:
    said: list[str] = []
    folder = weights.fetch(toy, str(tmp_path), say=said.append)
    assert located("toy", str(tmp_path)) == folder == tmp_path / "toy"
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    assert read_lock(folder).sha256 == SUMS
    assert read_lock(folder).revision == "v1"
    assert "CC-BY-4.0" in said[0]
    assert not (folder / ".part").exists()


def test_what_is_here_is_not_fetched_again(toy: Weights, server: Served, tmp_path: Path) -> None:
    weights.fetch(toy, str(tmp_path))
    (tmp_path / "toy" / "config.json").unlink()
    weights.fetch(toy, str(tmp_path))
    assert len(server.ranges) == 3, "two files, then one"
    weights.fetch(toy, str(tmp_path))
    assert len(server.ranges) == 3


def test_it_goes_on_where_it_stopped(toy: Weights, server: Served, tmp_path: Path) -> None:
    server.breaks_after = 1000
    with pytest.raises(SetupProblem, match="cannot be fetched") as caught:
        weights.fetch(toy, str(tmp_path))
    assert "goes on where it stopped" in caught.value.remedy
    with pytest.raises(SetupProblem, match="not here"):
        located("toy", str(tmp_path))
    server.breaks_after = None
    weights.fetch(toy, str(tmp_path))
    assert server.ranges[-1] == "bytes=1000-"
    assert located("toy", str(tmp_path))


def test_what_was_complete_is_not_sent_again(toy: Weights, server: Served, tmp_path: Path) -> None:
    part = tmp_path / "toy" / ".part" / "deep" / "model.pt"
    part.parent.mkdir(parents=True)
    part.write_bytes(FILES["deep/model.pt"])
    weights.fetch(toy, str(tmp_path))
    assert located("toy", str(tmp_path))


def test_another_file_than_the_published_one_is_refused(toy: Weights, tmp_path: Path) -> None:
    row = replace(toy, files=(toy.files[0], replace(toy.files[1], sha256="0" * 64)))
    with pytest.raises(SetupProblem, match="instead of 0000"):
        weights.fetch(row, str(tmp_path))
    assert not (tmp_path / "toy" / "deep" / "model.pt").exists()


def test_another_file_than_the_first_fetched_one_is_refused(toy: Weights, server: Served, tmp_path: Path) -> None:
    weights.fetch(toy, str(tmp_path))
    (tmp_path / "toy" / "config.json").unlink()
    server.files["config.json"] = b'{"exec": 1}'
    with pytest.raises(SetupProblem, match=f"instead of {SUMS['config.json']}") as caught:
        weights.fetch(toy, str(tmp_path))
    assert "weights.lock.json" in caught.value.remedy


def test_a_new_revision_replaces_what_only_the_lock_knew(toy: Weights, server: Served, tmp_path: Path) -> None:
    weights.fetch(toy, str(tmp_path))
    server.files["config.json"] = b'{"new": 1}'
    newer = replace(toy, revision="v2")
    WEIGHTS["toy"] = newer
    with pytest.raises(SetupProblem, match="of revision v1 instead of v2"):
        located("toy", str(tmp_path))
    weights.fetch(newer, str(tmp_path))
    assert (located("toy", str(tmp_path)) / "config.json").read_bytes() == b'{"new": 1}'


def test_no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with serving({}) as gone:
        pass
    with pytest.raises(SetupProblem, match="cannot be fetched from") as caught:
        weights.fetch(replace(TOY, source=gone.url), str(tmp_path))
    monkeypatch.setitem(WEIGHTS, "toy", TOY)
    assert f"copy the files to {tmp_path / 'toy'}" in caught.value.remedy
    assert "weights verify --pin toy" in caught.value.remedy


def test_copied_files_are_pinned_by_the_user_s_word(toy: Weights, tmp_path: Path) -> None:
    for name, content in FILES.items():
        (tmp_path / "toy" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "toy" / name).write_bytes(content)
    with pytest.raises(SetupProblem, match="no sha256 is pinned"):
        weights.verify(toy, str(tmp_path))
    weights.verify(toy, str(tmp_path), pin=True)
    assert located("toy", str(tmp_path))
    (tmp_path / "toy" / "config.json").write_bytes(b"{ }")
    with pytest.raises(SetupProblem, match="was altered"):
        weights.verify(toy, str(tmp_path), pin=True)


def test_verify_reads_every_byte(toy: Weights, tmp_path: Path) -> None:
    folder = weights.fetch(toy, str(tmp_path))
    located("toy", str(tmp_path))
    remembered = json.loads((folder / ".hashed.json").read_text())
    path = folder / "deep" / "model.pt"
    path.write_bytes(bytes(len(FILES["deep/model.pt"])))
    size, time_ns = remembered["deep/model.pt"][:2]
    os.utime(path, ns=(time_ns, time_ns))
    assert path.stat().st_size == size
    assert located("toy", str(tmp_path)), "looks the same"
    with pytest.raises(SetupProblem, match="was altered"):
        weights.verify(toy, str(tmp_path))


def test_noncommercial_weights_need_a_word(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="may not be used commercially") as caught:
        weights.fetch(WEIGHTS["cotracker3-offline"], str(tmp_path))
    assert "--experts tapir" in caught.value.remedy


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, object]:
    """A stand-in for huggingface_hub: one repository, at commit "c0ffee", and what was asked of it."""
    asked: dict[str, object] = {}

    def download(repo_id: str, filename: str, *, revision: str | None, local_dir: Path) -> str:
        asked[filename] = (repo_id, revision)
        (Path(local_dir) / filename).parent.mkdir(parents=True, exist_ok=True)
        (Path(local_dir) / filename).write_bytes(FILES[filename])
        return str(Path(local_dir) / filename)

    module = ModuleType("huggingface_hub")
    module.hf_hub_download = download  # type: ignore[attr-defined]
    module.HfApi = lambda: SimpleNamespace(model_info=lambda _: SimpleNamespace(sha="c0ffee"))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return asked


def test_a_repository_without_a_pin_is_pinned_at_first(hub: dict[str, object], tmp_path: Path) -> None:
    row = replace(TOY, source="huggingface:owner/toy", revision=None)
    folder = weights.fetch(row, str(tmp_path))
    assert hub == dict.fromkeys(FILES, ("owner/toy", "c0ffee"))
    assert read_lock(folder).revision == "c0ffee"


def test_a_pinned_revision_is_asked_for(hub: dict[str, object], tmp_path: Path) -> None:
    weights.fetch(replace(TOY, source="huggingface:owner/toy", revision="f00d"), str(tmp_path))
    assert hub["config.json"] == ("owner/toy", "f00d")


def test_without_the_hub_s_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(SetupProblem, match="huggingface_hub is not installed") as caught:
        weights.fetch(replace(TOY, source="huggingface:owner/toy"), str(tmp_path))
    assert caught.value.remedy == 'pip install -e ".[experts]"'


def test_names() -> None:
    assert [row.name for row in weights.named(["da3-base", "da3-base"])] == ["da3-base"]
    with pytest.raises(UsageError, match="neither weights nor an expert"):
        weights.named(["da3-huge"])
