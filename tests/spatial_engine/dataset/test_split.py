"""Nothing that belongs together is divided; near-duplicate pictures are found; what may not be sold is left out."""

from collections.abc import Mapping
from dataclasses import replace

import cv2
import numpy as np
import pytest

from spatial_engine.atomic_file import read_json, write_json
from spatial_engine.dataset.audit import audit
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.lines import write_questions
from spatial_engine.dataset.part import commercial
from spatial_engine.dataset.split import split
from spatial_engine.errors import UsageError
from spatial_engine.export import export
from spatial_engine.leaks.near_duplicates import similar_pairs, thumbnails
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.report import report
from spatial_engine.trust.audit_leaks import audit_leaks
from tests.spatial_engine.leaks.asked import all_fair, question, scenes_of


def texture(seed: int) -> np.ndarray:
    grain = np.random.default_rng(seed).uniform(0, 255, (6, 8, 3)).astype(np.float32)
    return cv2.resize(grain, (320, 240), interpolation=cv2.INTER_CUBIC).clip(0, 255).astype(np.uint8)


def written(folder, questions, pictures: Mapping[str, np.ndarray], scenes=None, splits=None) -> Dataset:
    (folder / "media").mkdir(parents=True)
    for path, picture in pictures.items():
        cv2.imwrite(str(folder / path), picture)
    write_questions(folder, questions)
    (folder / "README.md").write_text("---\nlicense: other\nconfigs: []\n---\n# x\n", encoding="utf-8")
    scenes = scenes or scenes_of(questions)
    write_json(
        folder / "audit.json",
        audit(QuestionTable.of(questions), refused={}, dropped={}, scenes=scenes, seed=0, settings={}, splits=splits),
    )
    return Dataset.open(folder)


def three_a_clip(clips: int):
    """Questions, and a picture of its own for each clip."""
    questions = []
    for n in range(3 * clips):
        clip = f"{n // 3:016x}"
        medium = {"id": clip, "kind": "frames", "path": f"media/{clip}.jpg", "frames": [4], "marks": []}
        answer = ("yes", "no")[n % 2]
        questions.append(question(n, clip, "yes_no", answer, f"Does it move ({n})?", media=[medium]))
    return questions, {f"media/{n:016x}.jpg": texture(n) for n in range(clips)}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """20 clips; 0 and 1 are of one scene, 2 and 3 share a fact, 4 and 5 look the same (coded anew, brighter)."""
    questions, pictures = three_a_clip(20)
    questions[9] = replace(questions[9], fact_id=questions[6].fact_id)
    brighter = (texture(4) * 0.9 + 20).astype(np.uint8)
    pictures[f"media/{5:016x}.jpg"] = cv2.resize(cv2.resize(brighter, (200, 150)), (320, 240))
    scenes = {f"{n:016x}": f"scene {max(n, 1)}" for n in range(20)}
    sides = {"train": [f"{n:016x}" for n in range(20) if n not in (1, 3, 5)], "test": [f"{n:016x}" for n in (1, 3, 5)]}
    return written(tmp_path_factory.mktemp("planted") / "d", questions, pictures, scenes, sides)


def test_content_in_two_splits_is_reported(planted):
    found = audit_leaks(planted.path)
    assert list(found["across_splits"]["scenes"]["first"]) == ["scene 1"]
    assert found["across_splits"]["facts"]["count"] == 1 and found["across_splits"]["photos"]["count"] == 0
    looked = found["similar_photos"]
    assert looked["photos"] == 20 and looked["clip_pairs"] == looked["clip_pairs_across_splits"] == 1
    assert looked["first"][0]["clips"] == [f"{4:016x}", f"{5:016x}"]
    # three questions of each of both clips, half of them "yes": 1 · 2 + 2 · 1 pairs have one answer
    assert looked["question_pairs_across_splits"] == 4
    assert planted.audit["leaks"] == found
    assert audit_leaks(planted.path) == found


def test_split_keeps_together_what_belongs_together(planted, tmp_path):
    done = split(planted, tmp_path / "out", seed=3)
    side = {q.clip: name for name, part in done.parts.items() for q in part.questions}
    assert done.groups == 17 and len(side) == 20
    for a, b in ((0, 1), (2, 3), (4, 5)):
        assert side[f"{a:016x}"] == side[f"{b:016x}"]
    assert sum(done.questions.values()) == 60 and 39 <= done.questions["train"] <= 45
    for part in done.parts.values():
        record = part.audit
        assert record["questions"] == len(list(part.questions)) and set(record["splits"]) == {record["part"]["name"]}
        assert all((part.path / medium["path"]).is_file() for q in part.questions for medium in q.media)
        found = audit_leaks(part.path)
        assert found["across_splits"]["scenes"]["count"] == found["similar_photos"]["clip_pairs_across_splits"] == 0
    lines = sorted(line for part in done.parts.values() for line in part.questions.__iter__() and
                   (part.path / "questions.jsonl").read_text().splitlines())  # fmt: skip
    assert lines == sorted((planted.path / "questions.jsonl").read_text().splitlines())


def test_parts_hard_link_the_media_of_the_whole(planted, tmp_path):
    for part in split(planted, tmp_path / "parts").parts.values():
        for medium in (part.path / "media").iterdir():
            assert medium.samefile(planted.path / "media" / medium.name)


def test_equal_seeds_split_equally(planted, tmp_path):
    a, b, c = (split(planted, tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    for name in a.parts:
        for file in ("questions.jsonl", "audit.json", "README.md"):
            assert (a.parts[name].path / file).read_bytes() == (b.parts[name].path / file).read_bytes()
    assert [q.id for q in a.parts["test"].questions] != [q.id for q in c.parts["test"].questions]
    split(planted, tmp_path / "a", seed=2)  # replaces datasets, and nothing else
    (tmp_path / "d" / "train").mkdir(parents=True)
    (tmp_path / "d" / "train" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not a dataset"):
        split(planted, tmp_path / "d")


@pytest.mark.parametrize("shares", [{}, {"train": 0.0}, {"train": -1.0, "test": 2.0}, {"train": float("nan")}])
def test_invalid_shares_are_refused(planted, tmp_path, shares):
    with pytest.raises(UsageError, match="invalid shares"):
        split(planted, tmp_path / "out", shares=shares)


def test_not_into_itself(planted):
    with pytest.raises(UsageError, match="lies inside it"):
        split(planted, planted.path / "parts")


@pytest.mark.parametrize("clips", [0, 1])
def test_too_few_to_be_split(tmp_path, clips):
    dataset = written(tmp_path / "d", *three_a_clip(clips))
    done = split(dataset, tmp_path / "out")
    assert sum(done.questions.values()) == 3 * clips and len(done.parts) == clips
    assert audit_leaks(dataset.path)["found"] == []
    assert report(dataset, tmp_path / "report").is_file()


def test_licences_that_forbid_commercial_use():
    base = question(0, "c", "yes_no", "yes", "?")
    licences = [
        {"footage": "CC-BY-4.0", "commercial_ok": True},
        {"footage": "CC-BY-NC-4.0", "commercial_ok": True},
        {"footage": "CC-BY-4.0", "commercial_ok": False},
        {"footage": "unknown", "commercial_ok": True},
        {"footage": None, "commercial_ok": True},
        {},
        {"footage": "Non-Commercial use only", "commercial_ok": True},
        {"footage": "ours, by the lance corporal", "commercial_ok": True},
    ]
    kept, left_out = commercial(replace(base, licence=licence) for licence in licences)
    assert [q.licence["footage"] for q in kept] == ["CC-BY-4.0", "ours, by the lance corporal"]
    assert list(left_out.values()) == [2, 2, 2] and sum(left_out.values()) == 6


def test_commercial_use_in_splits_and_exports(tmp_path):
    questions, pictures = three_a_clip(6)
    barred = {"footage": "CC-BY-NC-4.0", "signals": ["MIT"], "commercial_ok": True}
    questions = [replace(q, licence=barred) if n < 6 else q for n, q in enumerate(questions)]
    dataset = written(tmp_path / "d", questions, pictures)
    done = split(dataset, tmp_path / "out", commercial_ok=True)
    assert sum(done.questions.values()) == 12 and list(done.left_out.values()) == [6]
    out = export(dataset, tmp_path / "export", to="sharegpt", commercial_ok=True)
    said = read_json(out / "export_report.json")
    assert said["rows"] == 12 and said["left_out"] == {"licence of the footage forbids commercial use": 6}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "export", "out"]
    assert read_json(export(dataset, tmp_path / "export", to="sharegpt") / "export_report.json")["rows"] == 18


def test_pictures_that_are_damaged_or_uniform_are_counted(tmp_path):
    for name, picture in (("a.png", texture(1)), ("b.png", np.full((240, 320, 3), 90, np.uint8))):
        cv2.imwrite(str(tmp_path / name), picture)
    (tmp_path / "c.png").write_bytes(b"no picture")
    (tmp_path / "d.png").write_bytes(b"")
    found = thumbnails(tmp_path, ["a.png", "b.png", "c.png", "d.png", "e.png"])
    assert (found.paths, found.uniform, found.unreadable) == (("a.png",), 1, 3)
    assert len(similar_pairs(found)) == 0


def test_the_report_shows_leaks_and_old_data_sets(tmp_path, planted):
    audit_leaks(planted.path)
    text = report(planted, tmp_path / "r").read_text()
    assert "What can be answered without the pictures" in text and "1 scenes in more than one split" in text
    questions = all_fair(0, 12)
    old = written(tmp_path / "d", [replace(q, media=[]) for q in questions], {})
    record = {k: v for k, v in old.audit.items() if k not in ("leaks", "scenes")}
    write_json(old.path / "audit.json", record)
    assert 'id="leaks"' not in report(old, tmp_path / "s").read_text()
    assert audit_leaks(old.path)["found"] == [] and old.audit["scenes"]
