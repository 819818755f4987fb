from dataclasses import replace

import pytest

from spatial_engine.dataset.writing import write_dataset
from spatial_engine.report import report
from spatial_engine.report.cards import question_card, tolerance_in_words
from tests.spatial_engine.drafts import clip, clip_questions
from tests.spatial_engine.evaluation.drafted import said_once
from tests.spatial_engine.report.pages_in_a_browser import needs_chromium, opened, when_drawn


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("cards") / "d", [clip_questions("a" * 16, 3)], clip, seed=0)


def first(dataset, **wanted):
    return next(q for q in dataset.questions if all(getattr(q, name) == value for name, value in wanted.items()))


def test_cards_state_the_tolerance_of_the_answer(dataset):
    tilt = first(dataset, format="json")
    held = replace(tilt, tolerance=dict.fromkeys(tilt.value, 5.0))
    words = ", ".join(f"{name} ±5°" for name in tilt.value)
    assert tolerance_in_words(held) == words == question_card(held)["question"]["within"]
    assert tolerance_in_words(replace(first(dataset, format="point"), tolerance=16.0)) == "within 16 pixels"
    number = first(dataset, format="numeric")
    assert tolerance_in_words(replace(number, tolerance=0.12, unit="")) == "±0.12"
    assert tolerance_in_words(first(dataset, format="choice")) == ""


def test_cards_say_instructions_and_prompt(dataset):
    for question in dataset.questions:
        assert said_once(question, question_card(question)["question"]["text"])
    assert any(question.instructions for question in dataset.questions)


@needs_chromium
def test_a_press_enlarges_and_marked_photos_are_wide(dataset, tmp_path):
    page = report(dataset, tmp_path / "r").parent / "gallery.html"
    when_drawn(page, "document.querySelector('figure.marked img').click()")
    dom, console = opened(f"{page.as_uri()}#format=choice", tmp_path / "profile")
    zoom = dom[dom.index('<dialog id="zoom"') :]
    assert console == [] and zoom.startswith('<dialog id="zoom" open') and "/r/media/" in zoom[:300]
    marked = {
        medium["path"] for q in dataset.questions if q.format == "choice" for medium in q.media if medium.get("marks")
    }
    assert marked and dom.count('<figure class="marked">') >= len(marked)


@needs_chromium
def test_times_of_photos_are_shown_with_the_answer(dataset, tmp_path):
    page = report(dataset, tmp_path / "r").parent / "gallery.html"
    read = "document.querySelector('.card figcaption').innerText"
    script = (
        f"const before = {read}; document.querySelector('.reveal').click(); document.title = `${{before}}|${{{read}}}`;"
    )
    when_drawn(page, script)
    dom, console = opened(page.as_uri(), tmp_path / "profile")
    before, after = dom[dom.index("<title>") + 7 : dom.index("</title>")].split("|")
    assert console == [] and before == "photo 1" and after.startswith("photo 1 · ") and after.endswith(" s")
