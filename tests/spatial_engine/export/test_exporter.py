import json
from pathlib import Path

import pytest

from spatial_engine.dataset.writing import write_dataset
from spatial_engine.errors import UsageError
from spatial_engine.export import EXPORTERS, export
from tests.spatial_engine.drafts import clip, clip_questions

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("export") / "d", [clip_questions(count=1)], clip, seed=0)


def test_unknown_forms_list_the_known_ones(dataset, tmp_path):
    with pytest.raises(UsageError, match="there is: spatialtree"):
        export(dataset, tmp_path / "out", to="mystery")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["hf", "llava", "spatialtree", "vlmevalkit"])
def test_forms_without_system_messages_name_those_with_them(dataset, tmp_path, form):
    with pytest.raises(UsageError, match=f"{form} has no system messages") as refused:
        export(dataset, tmp_path / "out", to=form, system_prompt=True)
    assert refused.value.remedy.endswith("to one of: lmms-eval, trl, sharegpt")
    assert not (tmp_path / "out").exists()


def test_every_registered_form_loads():
    assert set(EXPORTERS.load_all()) >= {"spatialtree", "lmms-eval", "vlmevalkit", "hf", "trl", "llava", "sharegpt"}


def test_the_command_line_and_the_page_name_every_form():
    command = (ROOT / "spatial_engine" / "cli" / "export.py").read_text(encoding="utf-8")
    assert f"Whose format: {', '.join(EXPORTERS.builtin)}." in command
    page = (ROOT / "docs" / "exports.md").read_text(encoding="utf-8")
    assert all(f"`{form}`" in page for form in EXPORTERS.builtin)


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


@pytest.mark.parametrize("form", EXPORTERS.builtin)
def test_an_empty_data_set_gives_an_empty_export(tmp_path, form):
    dataset = write_dataset(tmp_path / "d", [], clip, seed=0)
    out = export(dataset, tmp_path / "out", to=form)
    assert json.loads((out / "export_report.json").read_text())["rows"] == 0


@pytest.mark.parametrize("form", EXPORTERS.builtin)
def test_the_report_names_every_file_and_nothing_else_is_written(dataset, tmp_path, form):
    out = export(dataset, tmp_path / "out", to=form)
    report = json.loads((out / "export_report.json").read_text())
    assert sorted(report["files"]) == sorted(path.name for path in out.iterdir())
    assert report["rows"] + sum(report["left_out"].values()) == dataset.audit["questions"]
    assert not report["splits"] or sum(report["splits"].values()) == report["rows"]
    export(dataset, out, to=form)


@pytest.mark.parametrize("form", EXPORTERS.builtin)
def test_equal_data_sets_give_equal_bytes(dataset, tmp_path, form):
    def written(folder):
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    assert written(export(dataset, tmp_path / "a", to=form)) == written(export(dataset, tmp_path / "b", to=form))


def test_a_folder_that_is_no_data_set(tmp_path):
    with pytest.raises(UsageError, match="not a dataset"):
        export(tmp_path, tmp_path / "out", to="spatialtree")


@pytest.mark.parametrize("form", ["lmms-eval", "spatialtree", "vlmevalkit"])
def test_forms_that_evaluate_hold_no_reasoning(dataset, tmp_path, form):
    with pytest.raises(UsageError, match=f"{form} has no reasoning") as refused:
        export(dataset, tmp_path / "out", to=form, reasoning="all")
    those = "hf, webdataset, trl, llava, llava-1.5, sharegpt"
    assert refused.value.remedy == f"leave out --reasoning, or export to one of: {those}"


def test_unknown_reasoning_is_refused(dataset, tmp_path):
    with pytest.raises(UsageError, match="'some'"):
        export(dataset, tmp_path / "out", to="llava", reasoning="some")
