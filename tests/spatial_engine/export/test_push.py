import shutil
import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import pytest

from spatial_engine.atomic_file import write_json
from spatial_engine.cli.main import main
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.lines import write_questions
from spatial_engine.errors import SetupError, SpatialEngineError, UsageError
from spatial_engine.export import export
from spatial_engine.export.push import push
from spatial_engine.report import report


@pytest.fixture
def hub(monkeypatch):
    """A Hub that notes what it is asked, and refuses where `refuses` says why."""

    class HfHubHTTPError(Exception):
        pass

    hub = SimpleNamespace(calls=[], refuses="")

    class HfApi:
        def create_repo(self, **given):
            hub.calls.append(("create", given))
            if hub.refuses:
                raise HfHubHTTPError(f"{hub.refuses}\nmore")

        def upload_folder(self, **given):
            hub.calls.append(("upload", given))

    package, errors = ModuleType("huggingface_hub"), ModuleType("huggingface_hub.errors")
    package.HfApi, errors.HfHubHTTPError = HfApi, HfHubHTTPError
    monkeypatch.setitem(sys.modules, "huggingface_hub", package)
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)
    return hub


def with_licences(dataset, folder, *licences):
    """A copy whose questions have these licences of their footage in turn."""
    shutil.copytree(dataset.path, folder)
    questions = list(Dataset(folder).questions)
    changed = [
        replace(question, licence={**question.licence, "footage": licences[number % len(licences)]})
        for number, question in enumerate(questions)
    ]
    write_questions(folder, changed)
    return Dataset(folder)


@pytest.fixture
def free(every_format, tmp_path):
    return with_licences(every_format, tmp_path / "data", "CC-BY-4.0", "MIT")


def test_what_we_wrote_is_uploaded_and_nothing_else(free, hub):
    (free.path / "token.txt").write_text("the user's own")
    upload = push(free.path, "me/data")
    (_, created), (_, sent) = hub.calls
    assert created == {"repo_id": "me/data", "repo_type": "dataset", "private": True, "exist_ok": True}
    assert sent["folder_path"] == str(free.path) and sent["repo_id"] == "me/data"
    media = {f"media/{path.name}" for path in (free.path / "media").iterdir()}
    assert set(sent["allow_patterns"]) == {"questions.jsonl", "provenance.jsonl", "audit.json", "README.md"} | media
    assert upload.done and set(upload.licences) == {"CC-BY-4.0", "MIT"}


def test_a_dry_run_says_all_of_it_and_uploads_nothing(free, hub, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["push", str(free.path), "--to-hub", "me/data", "--dry-run", "--public"])
    said = capsys.readouterr().out
    assert exit.value.code == 0 and hub.calls == []
    assert "would upload: " in said and "datasets/me/data (public)" in said and "card: README.md, license: " in said
    size = sum(path.stat().st_size for path in free.path.rglob("*") if path.is_file())
    assert f"{size / 1e6:.1f} MB" in said or f"{size / 1e3:.1f} kB" in said
    assert "footage: MIT: " in said and "MAY NOT" not in said


@pytest.mark.parametrize(
    "licence", ["unknown", "", "CC-BY-ND-4.0", "CC BY-NC-ND 4.0", "All rights reserved", "cc-by-noderivs"]
)
def test_what_may_not_be_published_is_not(every_format, tmp_path, hub, licence, capsys):
    dataset = with_licences(every_format, tmp_path / "data", "CC0-1.0", licence)
    with pytest.raises(UsageError, match="may not be published") as caught:
        push(dataset.path, "me/data")
    assert "--allow-licence" in caught.value.remedy and hub.calls == []
    with pytest.raises(SystemExit) as exit:
        main(["push", str(dataset.path), "--to-hub", "me/data", "--dry-run"])
    assert exit.value.code == 2 and "MAY NOT BE PUBLISHED" in capsys.readouterr().out
    assert push(dataset.path, "me/data", allow_licence=[licence]).done


def test_the_pages_of_a_data_set_go_with_it(free, hub, capsys):
    report(free)
    (free.path / "report" / "notes.txt").write_text("the user's own")
    sent = push(free.path, "me/data", dry_run=True)
    pages = {path for path in sent.files if path.startswith("report/")}
    assert {"report/index.html", "report/gallery.html", "report/questions/00000.js"} <= pages
    assert "report/notes.txt" not in pages and not any("/media/" in path for path in pages)
    assert "pages: report/gallery.html" in sent.in_words()


def licensed(dataset, folder, licence):
    """A copy whose footage has one licence, in its audit too."""
    copy = with_licences(dataset, folder, licence)
    audit = copy.audit
    audit["licences"]["footage"] = {licence: audit["questions"]}
    write_json(folder / "audit.json", audit)
    return copy


@pytest.mark.parametrize("to", ["hf", "webdataset", "llava"])
def test_exports_know_their_licences(every_format, tmp_path, hub, to):
    upload = push(export(licensed(every_format, tmp_path / "data", "CC-BY-4.0"), tmp_path / "out", to=to), "me/data")
    assert upload.licences == {"CC-BY-4.0": every_format.audit["questions"]} and "export_report.json" in upload.files
    assert any(path.startswith(("data/", "images/")) for path in upload.files)
    assert (upload.card_licence is None) == (to == "llava")


def test_an_export_of_footage_without_licence_is_refused(every_format, tmp_path, hub):
    with pytest.raises(UsageError, match=r"unknown \(\d+ records\)"):
        push(export(licensed(every_format, tmp_path / "data", "unknown"), tmp_path / "out", to="hf"), "me/data")


@pytest.mark.parametrize("name", ["data", "a/b/c", "me/", "me/da ta", "../x", "me/dätä"])
def test_names_that_the_hub_does_not_have(free, name):
    with pytest.raises(UsageError, match="--to-hub"):
        push(free.path, name, dry_run=True)


def test_what_the_hub_refuses_is_one_line(free, hub):
    hub.refuses = "401 no token"
    with pytest.raises(SpatialEngineError, match="the Hub did not take me/data: 401 no token") as caught:
        push(free.path, "me/data")
    assert "HF_TOKEN" in caught.value.remedy and "more" not in caught.value.cause


def test_without_the_package_only_a_dry_run_works(free, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert not push(free.path, "me/data", dry_run=True).done
    with pytest.raises(SetupError, match="huggingface_hub, which is not installed"):
        push(free.path, "me/data")


def test_other_folders_are_refused(tmp_path):
    with pytest.raises(UsageError):
        push(tmp_path, "me/data", dry_run=True)


def test_ones_own_storage_takes_what_may_not_be_published(every_format, tmp_path, hub):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: pip install '.[cloud]'")
    dataset = licensed(every_format, tmp_path / "data", "unknown")
    url = f"file://{tmp_path / 'bucket' / 'set'}"
    assert not push(dataset.path, to=url, dry_run=True).done and not (tmp_path / "bucket").exists()
    for target in (url, "memory://bucket/set"):
        upload = push(dataset.path, to=target)
        assert upload.done and not upload.barred and upload.target == target
    memory = fsspec.filesystem("memory")
    for name in upload.files:
        content = (dataset.path / name).read_bytes()
        assert (tmp_path / "bucket" / "set" / name).read_bytes() == content == memory.cat(f"/bucket/set/{name}")
    assert len(list(Dataset.open(tmp_path / "bucket" / "set").questions)) == every_format.audit["questions"]
    assert hub.calls == []


def test_one_target_is_named(free):
    for targets in ({}, {"to_hub": "me/data", "to": "memory://x"}):
        with pytest.raises(UsageError, match="one target"):
            push(free.path, **targets)
