import json
import re
from dataclasses import replace

import pytest
from PIL import Image

from spatial_engine.dataset import writing as dataset_module
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.writing import UNREADABLE, write_dataset
from spatial_engine.errors import SpatialEngineError, UsageError
from templates.asked import ClipQuestions
from templates.media import Photo
from templates.question import Phrasing
from tests.spatial_engine.drafts import NASTY, Closer, clip, clip_questions, closer, tables, tilt

IDS = [f"{k:016x}" for k in (1, 2, 3)]
COUNT = 2


def write(path, ids=IDS, seed=0, open_clip=clip, **changes):
    return write_dataset(path, [clip_questions(id, COUNT) for id in ids], open_clip, seed=seed, **changes)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return write(tmp_path_factory.mktemp("dataset") / "d")


def test_equal_inputs_give_equal_bytes_in_any_order(tmp_path):
    first, second = write(tmp_path / "a"), write(tmp_path / "b", ids=IDS[::-1])
    assert (first.path / "questions.jsonl").read_bytes() == (second.path / "questions.jsonl").read_bytes()
    assert (first.path / "audit.json").read_bytes() == (second.path / "audit.json").read_bytes()
    other = write(tmp_path / "c", seed=1)
    assert (first.path / "questions.jsonl").read_bytes() != (other.path / "questions.jsonl").read_bytes()


def test_every_picture_is_there_once_and_as_large_as_stated(dataset):
    entries = {entry["path"]: entry for question in dataset.questions for entry in question.media}
    assert {f"media/{file.name}" for file in (dataset.path / "media").iterdir()} == set(entries)
    for path, entry in entries.items():
        with Image.open(dataset.path / path) as picture:
            assert list(picture.size) == entry["size_px"]
        assert entry["id"] in path


def test_a_choice_says_its_letter(dataset):
    for question in dataset.questions:
        if question.template == "range_ratio" and question.format == "choice":
            assert question.options["AB".index(question.answer)] == f"Point {question.value}"
            assert question.margin == 4.5 and question.sigma is None and question.tolerance is None
        if question.template == "path_map":
            options = {entry["id"]: entry for entry in question.media if entry.get("option")}
            assert set(options) == set(question.options) and len(question.options) == 4
            right = options[question.options["ABCD".index(question.answer)]]
            assert right["polylines"][0] == question.value


def test_numbers_have_sigma_and_tolerance_of_their_shape(dataset):
    found = {(q.template, q.format): q for q in dataset.questions}
    ratio, tilt, point = (
        found[key] for key in (("range_ratio", "numeric"), ("camera_tilt", "json"), ("same_point", "point"))
    )
    assert (ratio.answer, ratio.value, ratio.sigma, ratio.tolerance) == (1.54, 1.537, 0.03, 0.23)
    assert tilt.answer.keys() == tilt.value.keys() == tilt.sigma.keys() == tilt.tolerance.keys()
    assert tilt.scorer_params == {"period": 360.0}
    assert (point.sigma, point.tolerance) == (0.7, 8.0)


def test_formats_of_one_fact_share_its_id(dataset):
    pairs = {}
    for question in dataset.questions:
        if question.template == "range_ratio":
            pairs.setdefault(question.fact_id, set()).add(question.format)
    assert {"choice", "numeric"} in pairs.values()
    assert len({question.id for question in dataset.questions}) == dataset.audit["questions"]


def test_users_names_stand_nowhere(tmp_path):
    dataset = write(tmp_path / "d", ids=IDS[:1], open_clip=lambda id: clip(id, name=NASTY))
    for file in dataset.path.rglob("*"):
        assert "onerror" not in file.name
        if file.suffix in (".jsonl", ".json", ".md"):
            assert "onerror" not in file.read_text(encoding="utf-8")


def test_an_empty_data_set_still_says_why(tmp_path):
    nothing = ClipQuestions(clip_id=IDS[0], asked=(), refusals=clip_questions(IDS[0]).refusals)
    dataset = write_dataset(tmp_path / "d", [nothing], clip, seed=0)
    assert list(Dataset.open(dataset.path).questions) == []
    assert dataset.audit["questions"] == 0 and dataset.audit["clips"] == 1
    assert dataset.audit["refused"]["L1/Motion/Ego"] == {"camera path: too little <b>parallax</b>": 1}
    assert "no questions could be asked" in (dataset.path / "README.md").read_text().lower()


def test_no_empty_data_set_replaces_questions_unasked(tmp_path):
    before = (write(tmp_path / "d").path / "questions.jsonl").read_bytes()
    refused = [ClipQuestions(clip_id=IDS[0], asked=(), refusals=clip_questions(IDS[0]).refusals)]
    says = "most often: too close to call.*keeps its questions"
    with pytest.raises(SpatialEngineError, match=says) as caught:
        write_dataset(tmp_path / "d", refused, clip, seed=0)
    assert "--allow-empty" in caught.value.remedy
    assert (tmp_path / "d" / "questions.jsonl").read_bytes() == before
    assert write_dataset(tmp_path / "d", refused, clip, seed=0, allow_empty=True).audit["questions"] == 0
    assert write_dataset(tmp_path / "d", [], clip, seed=0).audit["clips"] == 0, "nothing is lost"


def test_no_clips_at_all(tmp_path):
    assert write_dataset(tmp_path / "d", [], clip, seed=0).audit["clips"] == 0


def test_replaces_its_own_and_keeps_what_users_put_there(tmp_path):
    dataset = write(tmp_path / "d", ids=IDS[:2])
    (dataset.path / "responses.jsonl").write_text("mine")
    stale = dataset.path / "media" / "stale.jpg"
    stale.write_text("")
    write(dataset.path, ids=IDS[:1])
    assert {question.clip for question in dataset.questions} == set(IDS[:1])
    assert (dataset.path / "responses.jsonl").read_text() == "mine"
    assert not stale.exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]


def test_leaves_other_folders_alone(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "holiday.jpg").write_text("mine")
    with pytest.raises(UsageError, match="not a dataset"):
        write(tmp_path / "photos")
    assert [file.name for file in (tmp_path / "photos").iterdir()] == ["holiday.jpg"]
    with pytest.raises(UsageError, match="not a dataset"):
        Dataset.open(tmp_path / "photos")
    (tmp_path / "empty").mkdir()
    assert write(tmp_path / "empty").audit["questions"] > 0


def test_another_format_version_is_neither_read_nor_replaced(tmp_path):
    dataset = write(tmp_path / "d", ids=IDS[:1])
    (dataset.path / "audit.json").write_text(json.dumps(dataset.audit | {"format_version": 999}))
    for use in (Dataset.open, write):
        with pytest.raises(UsageError, match="999") as caught:
            use(dataset.path)
        assert "spatial-engine generate STORE -o NEW_DATASET" in caught.value.remedy


def test_a_data_set_without_questions_is_damaged(tmp_path):
    dataset = write(tmp_path / "d", ids=IDS[:1])
    (dataset.path / "questions.jsonl").unlink()
    with pytest.raises(UsageError, match=r"questions\.jsonl is missing") as caught:
        Dataset.open(dataset.path)
    assert "spatial-engine generate STORE -o NEW_DATASET" in caught.value.remedy


def test_a_fault_leaves_the_old_data_set(tmp_path, monkeypatch):
    dataset = write(tmp_path / "d", ids=IDS[:1])
    before = (dataset.path / "questions.jsonl").read_bytes()
    monkeypatch.setattr(dataset_module, "write_card", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(dataset.path)
    assert (dataset.path / "questions.jsonl").read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]


def test_footage_that_is_gone_costs_no_earlier_data_set(tmp_path):
    def gone(id):
        raise FileNotFoundError(id)

    before = (write(tmp_path / "d").path / "questions.jsonl").read_bytes()
    with pytest.raises(SpatialEngineError, match=UNREADABLE) as caught:
        write(tmp_path / "d", open_clip=gone)
    assert caught.value.exit_code == 1
    with pytest.raises(SpatialEngineError, match=UNREADABLE):
        write(tmp_path / "d", open_clip=lambda id: clip(id, broken_from=0))
    assert (tmp_path / "d" / "questions.jsonl").read_bytes() == before


def test_a_clip_that_can_no_longer_be_read_costs_only_itself(tmp_path):
    def open_clip(id):
        if id == IDS[0]:
            raise FileNotFoundError(id)
        return clip(id, broken_from=5 if id == IDS[1] else None)

    dataset = write(tmp_path / "d", open_clip=open_clip)
    assert {question.clip for question in dataset.questions} == {IDS[2]}
    lost = sum(reasons.get(UNREADABLE, 0) for reasons in dataset.audit["dropped"].values())
    assert lost == 2 * len(clip_questions(count=COUNT))
    letters = dataset.audit["letters"]["4"]
    assert max(letters.values()) - min(letters.get(letter, 0) for letter in "ABCD") <= 1
    assert {f"media/{f.name}" for f in (dataset.path / "media").iterdir()} == {
        entry["path"] for question in dataset.questions for entry in question.media
    }


class Stumbling(Closer):
    """Cannot phrase or show its later facts."""

    version = "2"

    def phrase(self, format, fact, answer, offer):
        if fact["frame"] == 2:
            raise KeyError("c_px")
        return Phrasing(media=(Photo(frame=fact["frame"] if fact["frame"] < 5 else 10**6),))


def test_a_template_that_fails_on_a_question_costs_that_question(tmp_path):
    rows = [closer(n, right=n % 2, xy=(20.0 + 30 * n, 60.0), template=Stumbling()) for n in range(6)]
    asked = ClipQuestions(clip_id="c" * 16, asked=tables(*rows, *(tilt(n) for n in range(3))), refusals=())
    dataset = write_dataset(tmp_path / "d", [asked], clip, seed=0)
    assert dataset.audit["templates"] == {"camera_tilt": 3, "range_ratio": 4}
    assert set(dataset.audit["letters"]["2"].values()) == {2}
    reasons = dataset.audit["dropped"]["L1/Geometry/Distance"]
    assert sorted(reasons.values()) == [1, 1]
    phrased, shown = sorted(reasons)
    said = r"the template range_ratio of the package tests failed in phrase \(.*test_dataset.py:\d+\): KeyError: 'c_px'"
    assert re.search(said, phrased + shown)
    assert "a medium shows frame 1000000; allowed: 0 to" in phrased + shown


def test_unknown_keys_survive(dataset):
    from spatial_engine.dataset.question_line import from_line, to_line

    question = next(dataset.questions)
    line = to_line(replace(question, extra={"difficulty": [1, {"ä": None}]}))
    assert from_line(line).extra == {"difficulty": [1, {"ä": None}]}
    assert to_line(from_line(line)) == line


def test_a_damaged_line_names_its_number(tmp_path):
    dataset = write(tmp_path / "d", ids=IDS[:1])
    with (dataset.path / "questions.jsonl").open("a") as lines:
        lines.write('{"id": "x"}\n')
    with pytest.raises(UsageError, match=f"line {dataset.audit['questions'] + 1} .* has no origin None"):
        list(dataset.questions)


def test_a_line_that_lacks_a_key_names_its_number(tmp_path):
    dataset = write(tmp_path / "d", ids=IDS[:1])
    file = dataset.path / "questions.jsonl"
    first, *others = file.read_text(encoding="utf-8").splitlines(keepends=True)
    record = json.loads(first)
    file.write_text("".join([json.dumps({"origin": record["origin"]}) + "\n", *others]), encoding="utf-8")
    with pytest.raises(UsageError, match=r"line 1 .* lacks ability"):
        list(dataset.questions)
    file.write_text("".join(["[1]\n", *others]), encoding="utf-8")
    with pytest.raises(UsageError, match=r"line 1 .* is not an object"):
        list(dataset.questions)
    (dataset.path / "provenance.jsonl").unlink()
    with pytest.raises(UsageError, match=r"provenance\.jsonl is missing"):
        list(dataset.questions)


def test_what_questions_share_stands_once(dataset):
    """Instructions, provenance and licence are read back into every question."""
    shared = [json.loads(line) for line in (dataset.path / "provenance.jsonl").read_text("utf-8").splitlines()]
    lines = (dataset.path / "questions.jsonl").read_text("utf-8").splitlines()
    questions = list(dataset.questions)
    assert len({entry["origin"] for entry in shared}) == len(shared) == len({q.instructions for q in questions}) == 4
    assert {json.loads(line)["origin"] for line in lines} == {entry["origin"] for entry in shared}
    for line, question in zip(lines, questions, strict=True):
        assert json.loads(line).keys().isdisjoint({"instructions", "provenance", "licence"})
        (entry,) = [entry for entry in shared if entry["origin"] == json.loads(line)["origin"]]
        assert (question.instructions, list(question.provenance), question.licence) == (
            entry["instructions"], entry["provenance"], entry["licence"],
        ) and not question.extra  # fmt: skip
