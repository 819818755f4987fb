"""What reads `media` takes every kind: prompts, requests, reports, adjudication, exports, leaks."""

import json
from dataclasses import replace

import pytest

import spatial_engine as se
from spatial_engine.adjudication import showing
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.evaluation import protocol
from spatial_engine.evaluation.fake_model import Recogniser, asked
from spatial_engine.evaluation.named_media import named_media
from spatial_engine.evaluation.score_responses import time_span_shown
from spatial_engine.export import export
from spatial_engine.language.chat import estimate
from spatial_engine.language.chat.request import Request
from spatial_engine.leaks.near_duplicates import near_duplicates
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.report import report
from spatial_engine.scoring.official.row import row
from tests.spatial_engine.drafts import clip, clip_questions, film, puzzle, tables


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    some = replace(clip_questions(count=1), asked=tables(*(make(n) for make in (film, puzzle) for n in range(4))))
    return write_dataset(tmp_path_factory.mktemp("kinds") / "kinds", [some], clip, seed=1)


@pytest.fixture(scope="module")
def questions(dataset):
    by_template = {question.template: question for question in dataset.questions}
    return by_template["film"], by_template["puzzle"]


def test_each_medium_has_the_name_of_its_kind(questions):
    names = [[name for name, _ in named_media(question)] for question in questions]
    assert names == [["video"], ["photo 1", "map", "drawing"]]
    film_twice = replace(questions[0], media=[*questions[0].media, *questions[0].media])
    assert [name for name, _ in named_media(film_twice)] == ["video 1", "video 2"]


def test_requests_hold_videos_and_the_fake_model_knows_them(dataset, questions):
    for question in questions:
        parts = [p if isinstance(p, str) else dataset.path / p["path"] for p in protocol.prompt(question).parts]
        request = Request(model="m", parts=tuple(parts))
        (message,) = request.messages()
        kinds = {part["type"] for part in message["content"]} - {"text"}
        assert kinds == ({"video_url"} if question.template == "film" else {"image_url"})
        (found,) = Recogniser(dataset).find(asked([message]))
        assert found.id == question.id and found.answer == question.answer
        frames = 8 if question.template == "film" else 1
        size = question.media[0]["size_px"]
        assert estimate.picture_tokens(request)[0] == frames * size[0] * size[1] / estimate.PIXELS_PER_TOKEN


def test_a_video_spans_its_time(questions):
    assert time_span_shown(questions[0]) == (pytest.approx(35 / 30), 35)


def test_the_official_row_of_a_video_names_the_frames_of_its_file(questions):
    made = row(questions[0])
    assert made["image"] == [] and made["video"] == [f"images/{questions[0].media[0]['id']}.mp4"]
    assert made["video_info"] == [{"frame_index": list(range(8))}]
    both = replace(questions[0], media=[*questions[0].media, *questions[1].media])
    assert "not both" in row(both).reason


@pytest.mark.parametrize("form", ["hf", "spatialtree", "llava", "sharegpt"])
def test_exports_hold_the_video_files(dataset, form, tmp_path):
    out = export(dataset, tmp_path / "out", to=form)
    wanted = {medium["path"].split("/")[1] for q in dataset.questions for medium in q.media if q.template == "film"}
    assert wanted == {file.name for file in out.rglob("*.mp4")}


def test_trainers_get_a_token_and_a_file_for_each_video(dataset, tmp_path):
    rows = {}
    for form in ("llava", "sharegpt"):
        (split,) = [f for f in export(dataset, tmp_path / form, to=form).glob("*.json") if f.stem in ("train", "test")]
        rows[form] = {row["id"]: row for row in json.loads(split.read_text())}
    for question in dataset.questions:
        llava, other = rows["llava"][question.id], rows["sharegpt"][question.id]
        videos = question.template == "film"
        text = other["messages"][0]["content"]
        assert text.count("<video>") == len(other["videos"]) == videos
        assert text.count("<image>") == len(other["images"]) == (0 if videos else 7)
        assert ("video" in llava) == videos and ("image" in llava) != videos
        assert llava["conversations"][0]["value"].count("<image>") == (1 if videos else 7)


@pytest.mark.parametrize("form", ["lmms-eval", "vlmevalkit"])
def test_forms_without_videos_leave_them_out_and_say_so(dataset, form, tmp_path):
    found = json.loads((export(dataset, tmp_path / "out", to=form) / "export_report.json").read_text())
    assert found["left_out"] == {"this form holds no videos": sum(q.template == "film" for q in dataset.questions)}
    assert found["rows"] == sum(q.template == "puzzle" for q in dataset.questions)


def test_the_report_shows_every_file(dataset, tmp_path):
    page = report(dataset, out=tmp_path / "report")
    files = {file.name for file in (page.parent / "media").iterdir()}
    assert files == {file.name for file in (dataset.path / "media").iterdir()}
    assert '"kind":"video"' in (page.parent / "questions" / "00000.js").read_text()


def test_adjudication_serves_videos(dataset, questions):
    file = showing.picture_file(dataset.path, questions[0], 0)
    assert showing.PICTURES[file.suffix] == "video/mp4"
    assert [p["kind"] for p in showing.shown(questions[1])["pictures"]] == ["frames", "drawing", "sheet"]


def test_questions_about_different_videos_or_boxes_are_no_near_duplicates(questions):
    for question, key, value in (
        (questions[0], "path", "media/other.mp4"),
        (questions[1], "marks", [{**questions[1].media[0]["marks"][0], "points_px": [[10.0, 10.0], [120.0, 120.0]]}]),
    ):
        first, *rest = question.media
        other = replace(question, id="other", media=[{**first, key: value}, *rest])
        same = replace(question, id="same")
        assert near_duplicates(QuestionTable.of([question, other, same]), lambda path: {path}).tolist() == [[0, 2]]


def test_the_audit_reads_every_kind(dataset):
    assert se.Dataset.open(dataset.path).audit["leaks"]["near_duplicates"]["pairs"] == 0
