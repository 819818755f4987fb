"""What the trainers get: exports of a rendered clip and of drafted questions, and a tiny model with random weights.

`make accept-training` runs these tests in an environment that holds TRL and this package."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import spatial_engine as se
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.writing import write_dataset
from tests.spatial_engine.drafts import NASTY, clip, clip_questions

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", WANDB_MODE="disabled", OMP_NUM_THREADS="1")
_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips all tests of this folder if TRL is missing."""
    if find_spec("trl") is None:
        for item in items:
            if _HERE in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="TRL is not installed: run make accept-training"))


@pytest.fixture(scope="session")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Questions of every format in hostile words, with one, several and no pictures, all in the split train."""
    folder = tmp_path_factory.mktemp("accept") / "drafted"
    return write_dataset(folder, [clip_questions(count=2)], lambda id: clip(id, NASTY), seed=0)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.accept_training.tiny_model import write_tiny_model

    return write_tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session", params=["none", "all"])
def exports(request: pytest.FixtureRequest, drafted: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an export for each trainer, without and with reasoning."""
    root = tmp_path_factory.mktemp(f"reasoning_{request.param}")
    for form in ("trl", "sharegpt", "llava", "llava-1.5"):
        se.export(drafted, root / form, to=form, reasoning=request.param)
    return root


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tiny networks do not become faster with more threads, and tests share the machine."""
    if find_spec("torch") is not None:
        import torch

        torch.set_num_threads(1)
    yield
