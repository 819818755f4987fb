import gc
import json
import tarfile

import pytest

from spatial_engine.dataset.question_line import plain
from spatial_engine.dataset.shards import write_shards
from spatial_engine.errors import UsageError
from spatial_engine.export import export
from spatial_engine.export.webdataset import Sample


@pytest.fixture(scope="module")
def exported(every_format, tmp_path_factory):
    return export(every_format, tmp_path_factory.mktemp("wds") / "out", to="webdataset")


def contents(path):
    with tarfile.open(path) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar.getmembers()}


def test_every_question_and_picture_comes_back(exported, every_format):
    files = {name: content for path in (exported / "data").iterdir() for name, content in contents(path).items()}
    for question in every_format.questions:
        record = json.loads(files.pop(f"{question.id}.json"))
        fields = plain(question.to_json()) | {"hints": []}
        assert {name: record[name] for name in fields if name in record} == {
            n: fields[n] for n in fields if n in record
        }
        assert record["prompt"] == question.prompt and record["reply"].startswith("<answer>")
        for name, medium in zip(record["files"], question.media, strict=True):
            assert files.pop(f"{question.id}.{name}") == (every_format.path / medium["path"]).read_bytes()
    assert files == {}


def test_splits_and_card(exported, every_format):
    card = (exported / "README.md").read_text(encoding="utf-8")
    report = json.loads((exported / "export_report.json").read_text())
    names = {path.name for path in (exported / "data").iterdir()}
    assert names and all(name.endswith("-00000-of-00001.tar") for name in names)
    assert all(f'path: "data/{name.partition("-")[0]}-*.tar"' in card for name in names)
    assert report["rows"] == every_format.audit["questions"] == sum(report["licences"].values())


def test_equal_data_sets_give_equal_bytes(exported, every_format, tmp_path):
    again = export(every_format, tmp_path / "again", to="webdataset")
    for path in (exported / "data").iterdir():
        assert path.read_bytes() == (again / "data" / path.name).read_bytes()


def test_large_splits_become_several_files(exported, every_format, tmp_path, monkeypatch):
    monkeypatch.setattr(Sample, "size", 400_000)
    several = export(every_format, tmp_path / "several", to="webdataset", shard_mb=1)
    for one in (exported / "data").iterdir():
        split, whole = one.name.partition("-")[0], contents(one)
        parts = sorted((several / "data").glob(f"{split}-*"))
        samples = len({name.partition(".")[0] for name in whole})
        assert [part.name for part in parts] == [
            f"{split}-{number:05}-of-{-(-samples // 2):05}.tar" for number in range(-(-samples // 2))
        ]
        assert {name: content for part in parts for name, content in contents(part).items()} == whole


def test_shards_hold_what_fits_and_one_row_at_least(tmp_path):
    def write(path, rows):
        path.write_text(" ".join(map(str, rows)))
        return len(path.read_text().split())

    rows = [300_000, 700_000, 1, 2_000_000, 999_999, 1]
    assert write_shards(tmp_path, "a", "txt", iter(rows), size=lambda row: row, shard_mb=1, write=write) == len(rows)
    found = {path.name: path.read_text() for path in sorted(tmp_path.iterdir())}
    assert found == {
        "a-00000-of-00004.txt": "300000 700000",
        "a-00001-of-00004.txt": "1",
        "a-00002-of-00004.txt": "2000000",
        "a-00003-of-00004.txt": "999999 1",
    }


def test_forms_without_shards_say_so(every_format, tmp_path):
    with pytest.raises(UsageError, match="llava has no shards") as caught:
        export(every_format, tmp_path / "out", to="llava", shard_mb=5)
    assert "hf, webdataset" in caught.value.remedy
    with pytest.raises(UsageError, match="--shard-mb 0"):
        export(every_format, tmp_path / "out", to="hf", shard_mb=0)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it leaves files open
def test_webdataset_reads_it(exported, every_format):
    wds = pytest.importorskip("webdataset", reason="webdataset is not installed: pip install webdataset")
    paths = [str(path) for path in sorted((exported / "data").iterdir())]
    samples = list(wds.WebDataset(paths, shardshuffle=False).decode("pil"))
    gc.collect()
    assert len(samples) == every_format.audit["questions"]
    sizes = {question.id: [medium["size_px"] for medium in question.media] for question in every_format.questions}
    for sample in samples:
        assert [list(sample[name].size) for name in sample["json"]["files"]] == sizes[sample["__key__"]]
