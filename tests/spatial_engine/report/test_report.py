import re
import shutil
from html import unescape

import pytest

from experts.signals import NoEstimate
from spatial_engine.dataset.audit import set_truth
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.errors import UsageError
from spatial_engine.report import report
from tests.spatial_engine.drafts import NASTY, clip, clip_questions
from tests.spatial_engine.measured_store import measured_store
from tests.spatial_engine.report.pages_in_a_browser import Links, needs_chromium, opened


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    store = measured_store(folder)
    dataset = write_dataset(folder / "dataset", [clip_questions("a" * 16, 3)], lambda id: clip(id, NASTY), seed=0)
    set_truth(dataset.path, {"right": 30, "wrong": 0, "undecidable": 4}, [{"fact_id": "<b>x</b>"}], "the renderer")
    return dataset, report(dataset, folder / "report", store=store)


def pages(first):
    return sorted(first.parent.rglob("*.html"))


def test_nothing_is_fetched_and_every_link_leads_somewhere(made):
    assert len(pages(made[1])) == 4
    for page in pages(made[1]):
        text = page.read_text(encoding="utf-8")
        links = Links()
        links.feed(text)
        assert not re.search(r"https?://|@import|url\(", text), page
        for link in links.found:
            target = link.split("#")[0]
            assert target in ("", "data:,") or (page.parent / target).is_file(), (page, link)


def test_users_names_are_shown_and_never_run(made):
    for page in pages(made[1]):
        text = page.read_text(encoding="utf-8")
        links = Links()
        links.feed(text)
        assert links.tags.isdisjoint({"u", "iframe", "object", "base", "form"})
        assert text.count("</script>") == text.count("<script")
        for evil in ("<img src=x", "<script>boom", "<b>x</b>", "<u>broken", "<b>parallax", "<i>no</i>"):
            assert evil not in text, (page, evil)
        assert not any("onerror" in part for part in page.relative_to(made[1].parent).parts)
    clip_text = (made[1].parent / "clips" / f"{'a' * 16}.html").read_text(encoding="utf-8")
    assert NASTY in unescape(clip_text)


def test_the_overview_says_what_the_audit_says(made):
    text = unescape(made[1].read_text(encoding="utf-8"))
    audit = made[0].audit
    assert f"<b>{audit['questions']}</b><span>questions" in text
    assert text.count('class="leaf none"') == 27 - len(audit["abilities"]) and text.count('<a class="leaf"') == 5
    assert "too close to call" in text and "<b>parallax</b>" in text
    assert "facts wrong by ground truth; 30 right, 4 that it does not decide" in text
    assert "<u>broken</u>.mp4" in text and "it is empty" in text


def test_clip_pages_show_signals_and_reasons(made):
    fine, bare = (
        unescape((made[1].parent / "clips" / f"{letter * 16}.html").read_text(encoding="utf-8")) for letter in "ab"
    )
    assert "dots are static points" in fine and "static-points" in fine
    assert "From above" in fine and "From the side" in fine and "Levelled by gravity" in fine
    assert fine.count("horizon in frame") == 8 and "moves in the world" in fine
    assert "the camera travels, 24 of 24 frames registered" in fine
    assert "rotation only: <i>no</i> parallax" in bare and "Try: walk & record" in bare
    assert "ValueError: <script>boom</script>" in bare and "From above" not in bare


def test_dots_are_explained_only_where_they_are_drawn(tmp_path):
    store = measured_store(tmp_path, sparse_points=NoEstimate(reason="too few matches"))
    report(write_dataset(tmp_path / "d", [], clip, seed=0), tmp_path / "r", store=store)
    text = (tmp_path / "r" / "clips" / f"{'a' * 16}.html").read_text(encoding="utf-8")
    assert "From above" in text and "static points" not in text


def test_pictures_are_loaded_when_they_are_needed(made):
    pictures = re.findall(r"<img [^>]*>", made[1].read_text(encoding="utf-8"))
    assert pictures and all('loading="lazy"' in picture for picture in pictures)


def test_without_a_store_there_are_no_clip_pages(made):
    first = report(made[0])
    assert first == made[0].path / "report" / "index.html"
    assert not list((first.parent / "clips").iterdir())
    assert NASTY not in unescape((first.parent / "gallery.html").read_text(encoding="utf-8"))


def test_a_report_inside_its_data_set_shows_the_pictures_there(made):
    first = report(made[0])
    assert not (first.parent / "media").exists()
    pictures = re.findall(r'<img src="([^"]*)"', first.read_text(encoding="utf-8"))
    assert pictures and all((first.parent / picture).is_file() for picture in pictures)
    assert '"root": "../"' in (first.parent / "gallery.html").read_text(encoding="utf-8")


def test_a_missing_video_costs_its_pictures_only(tmp_path):
    store = measured_store(tmp_path)
    shutil.rmtree(tmp_path / "fine")
    dataset = write_dataset(tmp_path / "d", [], clip, seed=0)
    report(dataset, tmp_path / "r", store=store)
    text = (tmp_path / "r" / "clips" / f"{'a' * 16}.html").read_text(encoding="utf-8")
    assert text.count("cannot be read any more") == 8 and "From above" in text


def test_an_empty_data_set_has_a_report(tmp_path):
    dataset = write_dataset(tmp_path / "d", [], clip, seed=0)
    assert "No question could be made" in report(dataset).read_text(encoding="utf-8")


def test_only_reports_are_replaced(made, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("mine")
    with pytest.raises(UsageError, match="not a report"):
        report(made[0], tmp_path / "site")
    assert (tmp_path / "site" / "index.html").read_text() == "mine"
    with pytest.raises(UsageError, match="not a dataset"):
        report(tmp_path)


@needs_chromium
def test_opens_from_disk_in_a_browser(made, tmp_path):
    dom, console = opened(f"{(made[1].parent / 'gallery.html').as_uri()}#ability=L2/Memory/Cognitive%20Map", tmp_path)
    assert console == []
    shown = made[0].audit["abilities"]["L2/Memory/Cognitive Map"]["questions"]
    assert dom.count('<article class="card q') == shown
    assert f"{shown} questions</span>" in dom
    assert dom.count('<li class="right">') == shown and "<img src=x" not in dom.replace("&lt;", "")


@needs_chromium
def test_the_clip_page_opens_without_complaint(made, tmp_path):
    dom, console = opened((made[1].parent / "clips" / f"{'a' * 16}.html").as_uri(), tmp_path)
    assert console == [] and "From above" in dom
