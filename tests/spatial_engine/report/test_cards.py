from dataclasses import replace

import pytest

from spatial_engine.dataset.writing import write_dataset
from spatial_engine.report import report
from spatial_engine.report.cards import question_card, tolerance_words
from tests.spatial_engine.drafts import clip, clip_questions
from tests.spatial_engine.report.pages_in_a_browser import needs_chromium, opened


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("cards") / "d", [clip_questions("a" * 16, 3)], clip, seed=0)


def first(dataset, **wanted):
    return next(q for q in dataset.questions if all(getattr(q, name) == value for name, value in wanted.items()))


def test_tolerances_are_said_in_words(dataset):
    tilt = first(dataset, format="json")
    held = replace(tilt, tolerance={"pitch": 5.0, "roll": 5.0})
    assert tolerance_words(held) == "within 5° of pitch and roll"
    wide = replace(tilt, tolerance={"roll": 5.0, "pitch": 5.0, "vertical_fov": 6.0})
    assert tolerance_words(wide) == "within 5° of roll and pitch, 6° of vertical fov"
    assert tolerance_words(replace(tilt, tolerance=dict.fromkeys("abc", 0.5), unit="m")) == "within 0.5 m of a, b and c"
    assert tolerance_words(replace(first(dataset, format="point"), tolerance=16.0)) == "within 16 px"
    number = first(dataset, format="numeric")
    assert tolerance_words(replace(number, format="plan", tolerance=1.0, unit="steps")) == "within 1 step"
    assert tolerance_words(replace(number, tolerance=0.12)) == "within 0.12"
    assert tolerance_words(first(dataset, format="choice")) == ""
    assert question_card(held)["question"]["within"] == "within 5° of pitch and roll"


@needs_chromium
def test_a_press_enlarges_and_marked_photos_are_wide(dataset, tmp_path):
    page = report(dataset, tmp_path / "r").parent / "gallery.html"
    press = "<script>document.querySelector('figure.marked img').click()</script>"
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{press}</body>"), encoding="utf-8")
    dom, console = opened(f"{page.as_uri()}#format=choice", tmp_path / "profile")
    zoom = dom[dom.index('<dialog id="zoom"') :]
    assert console == [] and zoom.startswith('<dialog id="zoom" open') and "/r/media/" in zoom[:300]
    marked = {
        medium["path"] for q in dataset.questions if q.format == "choice" for medium in q.media if medium.get("marks")
    }
    assert marked and dom.count('<figure class="marked">') >= len(marked)
