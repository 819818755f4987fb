import pytest

from spatial_engine.dataset.dataset import Dataset
from tests.spatial_engine.adjudication.sessions import make_dataset


@pytest.fixture(scope="session")
def dataset_path(tmp_path_factory):
    """Of a dataset that no test changes."""
    return make_dataset(tmp_path_factory.mktemp("adjudication") / "d").path


@pytest.fixture
def dataset(dataset_path):
    return Dataset.open(dataset_path)
