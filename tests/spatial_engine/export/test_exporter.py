import json

import pytest

from spatial_engine.dataset import write_dataset
from spatial_engine.errors import UsageError
from spatial_engine.export import EXPORTERS, export
from tests.spatial_engine.drafts import clip, clip_questions


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("export") / "d", [clip_questions(count=1)], clip, seed=0)


def test_unknown_forms_list_the_known_ones(dataset, tmp_path):
    with pytest.raises(UsageError, match="there is: spatialtree"):
        export(dataset, tmp_path / "out", to="mystery")
    assert not (tmp_path / "out").exists()


def test_every_registered_form_loads():
    assert set(EXPORTERS.load_all()) >= {"spatialtree"}


def test_replaces_an_export_and_nothing_else(dataset, tmp_path):
    out = export(dataset.path, tmp_path / "out", to="spatialtree")
    first = (out / "test.jsonl").read_bytes()
    (out / "mine.txt").write_text("mine")
    (out / "images" / "stale.jpg").write_text("")
    export(dataset, out, to="spatialtree")
    assert (out / "test.jsonl").read_bytes() == first
    assert (out / "mine.txt").read_text() == "mine" and not (out / "images" / "stale.jpg").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "photo.jpg").write_text("mine")
    with pytest.raises(UsageError, match="not an export"):
        export(dataset, tmp_path / "other", to="spatialtree")


def test_an_empty_data_set_gives_an_empty_export(tmp_path):
    dataset = write_dataset(tmp_path / "d", [], clip, seed=0)
    out = export(dataset, tmp_path / "out", to="spatialtree")
    assert (out / "test.jsonl").read_bytes() == b""
    assert json.loads((out / "export_report.json").read_text())["rows"] == 0


def test_a_folder_that_is_no_data_set(tmp_path):
    with pytest.raises(UsageError, match="not a data set"):
        export(tmp_path, tmp_path / "out", to="spatialtree")
