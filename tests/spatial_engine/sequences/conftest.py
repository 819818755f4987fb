"""One rendered set for all tests here."""

from pathlib import Path

import pytest

from tests.spatial_engine.sequences.rendered_set import write_set


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a sequence.yaml."""
    return write_set(tmp_path_factory.mktemp("walk"))
