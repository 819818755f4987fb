import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from spatial_engine.dataset.writing import write_dataset
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.item import dataset_digest, item_hashes
from spatial_engine.evaluation.runs import finished_runs
from spatial_engine.report import report
from spatial_engine.report.cards import sample
from spatial_engine.report.evaluation import is_evaluation
from spatial_engine.report.evaluation.charts import window_scores
from spatial_engine.report.evaluation.run_summary import run_summary, slug
from spatial_engine.report.evaluation.tables import correlations
from tests.spatial_engine.drafts import NASTY, clip, clip_questions
from tests.spatial_engine.evaluation.fake_runs import MODELS, write_evaluation, write_run
from tests.spatial_engine.report.pages_in_a_browser import Links, needs_chromium, opened

ODD = "<b>gum</b> & 'tree' \"72b\" 影片"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    clips = [clip_questions(f"{k:016x}", 3) for k in (1, 2, 3)]
    return write_dataset(tmp_path_factory.mktemp("asked") / "d", clips, lambda id: clip(id, NASTY), seed=0)


@pytest.fixture(scope="module")
def made(dataset, tmp_path_factory):
    out = write_evaluation(tmp_path_factory.mktemp("evaluation") / "out", dataset, {**MODELS, ODD: 0.6})
    return out, report(out)


def text(page: Path) -> str:
    return unescape(page.read_text(encoding="utf-8"))


def data(page: Path):
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.S)
    return json.loads(found)


def test_nothing_is_fetched_and_every_link_leads_somewhere(made):
    out, first = made
    assert first == out / "report" / "index.html" and is_evaluation(out)
    found = sorted(first.parent.rglob("*.html"))
    assert len(found) == 1 + len(MODELS) + 1 + 2
    for page in found:
        plain = page.read_text(encoding="utf-8")
        links = Links()
        links.feed(plain)
        assert not re.search(r"https?://|@import|url\(", plain), page
        assert plain.count("</script>") == plain.count("<script")
        assert links.tags.isdisjoint({"b>gum", "iframe", "object", "base", "form"})
        for evil in ("<img src=x", "<script>alert", "<b>gum", "<!-- "):
            assert evil not in plain, (page, evil)
        for link in links.found:
            target = link.split("#")[0]
            assert target in ("", "data:,") or (page.parent / target).is_file(), (page, link)


def test_the_leaderboard_says_what_the_results_say(made):
    out, first = made
    page = text(first)
    board = page[page.index('id="leaderboard"') : page.index("What was asked")]
    names = re.findall(r'<td class="name" data-v="(.*?)"><span', board)
    runs = {run.name: run_summary(run, {}) for run in finished_runs(out)}
    models = [name for name in names if name not in ("oracle", "random")]
    assert names[-2:] == ["oracle", "random"] and board.count(">baseline<") == 2
    assert models == sorted(models, key=lambda name: -runs[name].score)
    for name in names:
        assert f"<strong>{100 * runs[name].score:.1f}</strong>" in board
    assert 'class="tag good">best<' in board and "too few clips to tell" in board
    assert "the smallest p of a test over 3 clips, corrected for the number of pairs, is 1" in page
    assert "douglas/fir:72b" in board  # the model's own name, where the folder's cannot be


def test_the_tree_is_whole_and_grey_where_nothing_was_asked(made):
    page = made[1].read_text(encoding="utf-8")
    (tree,) = re.findall(r'<table class="tree".*?</table>', page, re.S)[:1]
    asked = 5
    assert tree.count("<td") == 4 + 11 + 27 and tree.count("<tr>") == 27
    assert tree.count(">not asked<") == 27 - asked and len(re.findall(r'class="depth\d none"', tree)) > 27 - asked
    for depth in (0, 1, 2):
        assert sum(map(int, re.findall(rf'class="depth{depth} .*?rowspan="(\d+)"', tree))) == 27
    assert f"<b>{asked}<small" in page and f"Not asked: {27 - asked} abilities" in page


def test_every_picture_has_words(made):
    for picture in re.findall(r"<svg[^>]*>", made[1].read_text(encoding="utf-8")):
        assert "aria-hidden" in picture or re.search(r'role="img" aria-label="[^"]{20,}"', picture), picture


def test_comparison_is_written_beside_the_runs(made):
    found = json.loads((made[0] / "comparison.json").read_text())
    assert len(found) == 8 * 7 / 2
    assert {"a", "b", "difference", "interval", "p", "p_holm", "facts"} <= set(found[0])


def test_answers_show_question_response_and_right_answer(made, dataset):
    first = made[1]
    entries = data(first.parent / "answers" / f"{slug('elm-thinking')}.html")["cards"]
    questions = {question.id: question for question in dataset.questions}
    assert len(entries) == sum(len(q.options) if q.format == "choice" else 1 for q in questions.values())
    for entry in entries:
        question = questions[entry["id"]]
        shown = entry["question"]
        if question.format == "choice":
            letters = "ABCD"
            assert shown["options"][letters.index(shown["answer"])] == question.options[letters.index(question.answer)]
        if entry["status"] == "answered":
            assert (entry["answer"]["prediction"] == shown["answer"]) == (entry["outcome"] == "right")
        assert len(entry["answer"]["others"]) == 7 and all(
            (first.parent / medium["path"]).is_file() for medium in shown["media"]
        )
    assert any("onerror" in (entry["answer"]["response"] or "") for entry in entries)


def test_a_page_is_cut_by_chance(made):
    out, _ = made
    run = next(run for run in finished_runs(out) if run.name == "elm-thinking")
    items, _ = run.scores()
    chosen = sample(items, limit=40)
    assert {*map(id_of, chosen.shown)} == {*map(id_of, sample(items[::-1], limit=40).shown)}
    assert len(chosen.shown) == 40 and chosen.total == len(items)
    assert {item.ability for item in chosen.shown} == {item.ability for item in items}
    assert {item.status for item in chosen.shown} == {item.status for item in items}
    wrong = sum(item.score < 1 for item in chosen.shown) / 40
    assert wrong > sum(item.score < 1 for item in items) / len(items)


def id_of(item):
    return item.id, item.rotation


def test_one_run_without_baselines(dataset, tmp_path):
    write_run(tmp_path / "out", "alone", dataset.questions, skill=0.5, dataset=dataset.path)
    page = text(report(tmp_path / "out", tmp_path / "site"))
    assert "Correlations need at least three models" in page and "there is one model" in page
    assert 'class="tag good">best<' in page and 'id="pairs"' not in page
    assert (tmp_path / "site" / "answers").is_dir() and not (tmp_path / "out" / "report").exists()


def test_twelve_runs_and_only_baselines(dataset, tmp_path):
    for number in range(12):
        write_run(
            tmp_path / "many", f"model {number}", dataset.questions, skill=0.3 + number / 20, dataset=dataset.path
        )
    page = report(tmp_path / "many").read_text(encoding="utf-8")
    assert page.count('<table class="tree"') == 12 and page.count('data-ink="11"') == 2
    write_run(tmp_path / "few", "random", dataset.questions, skill=0.3, baseline=True, dataset=dataset.path)
    assert "Only baselines so far" in report(tmp_path / "few").read_text(encoding="utf-8")


def test_runs_that_are_not_there_yet(dataset, tmp_path):
    out = tmp_path / "out"
    path = write_run(out, "killed", dataset.questions, skill=0.5, dataset=dataset.path)
    whole = (path / "scores.jsonl").read_bytes()
    (path / "scores.jsonl").write_bytes(whole[: len(whole) // 2])
    write_run(out, "begun", [], skill=0.5, dataset=dataset.path)
    (out / "odd").mkdir()
    (out / "odd" / "run.json").write_text("[]")
    page = text(report(out))
    assert "Without scores: <code>begun</code>, <code>odd</code>" in page
    assert "<code>killed</code>: 1 line of its scores could not be read" in page
    (path / "scores.jsonl").unlink()
    assert "No run has scores yet" in text(report(out))


def test_a_data_set_that_moved_or_changed(dataset, tmp_path):
    asked = tmp_path / "d"
    shutil.copytree(dataset.path, asked)
    digest = dataset_digest(item_hashes(dataset))
    run = write_run(tmp_path / "out", "m", dataset.questions, skill=0.5, dataset=asked, dataset_digest=digest)
    assert "The dataset changed" not in text(report(tmp_path / "out"))
    lost = next((asked / "media").iterdir())
    lost.unlink()
    first = report(tmp_path / "out")
    assert "The dataset changed" in text(first)
    assert data(first.parent / "answers" / f"{slug('m')}.html")["missing"] == [f"media/{lost.name}"]
    shutil.rmtree(asked)
    page = report(tmp_path / "out").parent / "answers" / f"{slug('m')}.html"
    assert "The dataset is not where it was" in text(page)
    assert all(entry["question"] is None for entry in data(page)["cards"])
    assert run.is_dir()


def test_only_reports_are_replaced_and_data_sets_stay_data_sets(made, dataset, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("mine")
    with pytest.raises(UsageError, match="not a report"):
        report(made[0], tmp_path / "site")
    with pytest.raises(UsageError, match="not a dataset"):
        report(tmp_path)
    assert "What is asked" in text(report(dataset.path, tmp_path / "of the data"))
    write_run(tmp_path / "out", "m", dataset.questions, skill=0.5, dataset=dataset.path)
    before = {page.name: page.read_bytes() for page in report(tmp_path / "out").parent.rglob("*.html")}
    assert before == {page.name: page.read_bytes() for page in report(tmp_path / "out").parent.rglob("*.html")}


def test_figures_know_their_limits(made):
    runs = [run_summary(run, {}) for run in finished_runs(made[0])]
    models = [run for run in runs if not run.baseline]
    assert correlations(models[:2]) is None
    found = correlations(models)
    assert found.models == 6 and found.least == pytest.approx(0.811, abs=1e-3)  # tables of the correlation coefficient
    cells = [cell for row in found.rows for cell in row]
    assert len(cells) == len(found.leaves) * (len(found.leaves) - 1) / 2
    assert all(cell.r is None or cell.significant == (abs(cell.r) >= found.least) for cell in cells)
    drawn = window_scores(runs)
    assert drawn.unit == "s" and drawn.bins[0].label == "one moment"
    assert sum(bin.questions for bin in drawn.bins) + drawn.without == len(models[0].questions)
    assert window_scores([]) is None


def test_no_lone_surrogate_of_a_response_is_written(made):
    cards = [card for page in (made[1].parent / "answers").glob("*.html") for card in data(page)["cards"]]
    said = [card["answer"]["response"] or "" for card in cards]
    assert any("\ufffd" in text for text in said)
    assert all(text.encode("utf-8") or not text for text in said), "a lone surrogate has no bytes"


@needs_chromium
def test_opens_from_disk_in_a_browser(made, tmp_path):
    first = made[1]
    dom, console = opened(first.as_uri(), tmp_path / "p")
    assert console == [] and dom.count("<svg") > 2
    page = first.parent / "answers" / f"{slug('acorn-7b')}.html"
    dom, console = opened(page.as_uri(), tmp_path / "p")
    wrong = [entry for entry in data(page)["cards"] if entry["outcome"] == "wrong"]
    assert console == [] and f"{len(wrong)} answers</span>" in dom and dom.count('<article class="card q') == 24
    assert "<img src=x" not in dom.replace("&lt;", "") and '<!-- "q"' not in dom
