import pytest

from tests.spatial_engine.trust.known_room import opened, write_labels, write_room


@pytest.fixture(scope="session")
def room(tmp_path_factory):
    """A rendered sequence on disk."""
    return write_room(tmp_path_factory.mktemp("known") / "room")


@pytest.fixture(scope="session")
def labels(room, tmp_path_factory):
    """A dataset about it. Copy before changing."""
    return write_labels(opened(room), tmp_path_factory.mktemp("labels") / "dataset")
