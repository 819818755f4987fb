import json
import shutil
from dataclasses import replace

import pytest

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.lines import write_questions
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.report import report
from spatial_engine.report.gallery import FILTERS, SHARD
from tests.spatial_engine.drafts import NASTY, clip, clip_questions
from tests.spatial_engine.report.pages_in_a_browser import needs_chromium, opened, when_drawn


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A dataset of more questions than two scripts hold; the prompts are hostile."""
    folder = tmp_path_factory.mktemp("gallery") / "d"
    some = write_dataset(folder, [clip_questions("a" * 16, 3), clip_questions("b" * 16, 3)], clip, seed=0)
    questions = list(some.questions)
    copies = (
        replace(q, id=f"{n:08}{q.id[:8]}", prompt=f"{NASTY} {n}. {q.prompt}") for n in range(14) for q in questions
    )
    write_questions(folder, copies)
    return Dataset.open(folder)


@pytest.fixture(scope="module")
def page(many):
    return report(many).parent / "gallery.html"


def value(script, variable):
    """What a script gives a variable."""
    text = script.read_text(encoding="utf-8")
    assert text.startswith(f"{variable} = ") and text.endswith(";\n") and text.count("\n") == 1
    return json.loads(text.removeprefix(f"{variable} = ").removesuffix(";\n"))


def shards(page):
    folder = page.parent / "questions"
    return [value(folder / f"{k:05}.js", f"SHARDS[{k}]") for k in range(len(list(folder.iterdir())) - 1)]


def test_scripts_hold_every_question_and_say_once_what_they_share(many, page):
    questions, found = list(many.questions), shards(page)
    assert len(questions) > 2 * SHARD and [len(one["cards"]) for one in found[:-1]] == [SHARD] * (len(found) - 1)
    cards = [card for one in found for card in one["cards"]]
    assert [card["id"] for card in cards] == [question.id for question in questions]
    assert all(len(one["shared"]) < 20 for one in found)
    whole = [card["question"] | one["shared"][card["shared"]] for one in found for card in one["cards"]]
    for card, question in zip(whole, questions, strict=True):
        for name in ("prompt", "instructions", "options", "answer", "sigma", "provenance", "licence", "evidence"):
            assert card[name] == json.loads(json.dumps(getattr(question, name))), name
    assert sum(bool(card["reasoning"]) for card in whole) > len(whole) / 2


def test_the_index_says_what_each_question_is(many, page):
    index = value(page.parent / "questions" / "index.js", "const INDEX")
    split_of = {clip: name for name, clips in many.audit["splits"].items() for clip in clips}
    assert index["size"] == SHARD and list(index["filters"]) == list(FILTERS)
    for number, question in enumerate(many.questions):
        said = {name: found["values"][found["codes"][number]] for name, found in index["filters"].items()}
        expected = {name: getattr(question, name) for name in ("ability", "template", "format", "clip")}
        assert said == {**expected, "split": split_of[question.clip]}


def test_the_page_itself_stays_small(page):
    assert page.stat().st_size < 60_000


@needs_chromium
def test_pages_are_turned_and_scripts_are_read_on_demand(many, page, tmp_path):
    total = len(list(many.questions))
    last = -(-total // 24)
    shutil.copytree(many.path, tmp_path / "d")
    copy = tmp_path / "d" / "report" / "gallery.html"
    for number in range(1, len(shards(page)) - 1):  # neither the first nor the last page needs these
        (copy.parent / "questions" / f"{number:05}.js").unlink()
    when_drawn(
        copy, f"document.getElementById('page').value = {last}; document.getElementById('next').disabled || turnBy(0)"
    )
    dom, console = opened(copy.as_uri(), tmp_path / "p")
    assert console == [] and f"{total} questions</span>" in dom and f'<span id="pages">{last}</span>' in dom
    assert dom.count('<article class="card q') == total - 24 * (last - 1)
    assert "<img src=x" not in dom and "&lt;img src=x onerror=alert(1)&gt;" in dom
    when_drawn(copy, "turn(12)")
    dom, console = opened(copy.as_uri(), tmp_path / "p")
    assert "questions/00001.js cannot be read" in dom


@needs_chromium
def test_filters_choose_among_all_questions(many, page, tmp_path):
    wanted = [q for q in many.questions if q.format == "yes_no" and q.clip == "b" * 16]
    dom, console = opened(f"{page.as_uri()}#format=yes_no&clip={'b' * 16}", tmp_path)
    assert console == [] and f"{len(wanted)} questions</span>" in dom and wanted
    assert dom.count('<article class="card q') == min(24, len(wanted))
