"""These tests run only if torch is installed, in the environment of the experts."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from experts.runtime.model_expert import import_torchvision

os.environ.setdefault("DA3_LOG_LEVEL", "ERROR")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
_HERE = Path(__file__).parent

if find_spec("torch") is not None:
    import_torchvision()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips all tests of this folder if torch is missing."""
    if find_spec("torch") is None:
        for item in items:
            if _HERE in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="torch is not installed: run make test-experts"))


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Small networks do not become faster with more threads, and tests share the machine."""
    if find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)
