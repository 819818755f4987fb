import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from spatial_engine.report.chart import SERIES, SOFT, chart


def drawn(words: str = "scores of two models") -> str:
    with chart(300, 200) as figure:
        axes = figure.axes(title="a & b")
        figure.tell(axes.plot([0, 1], [1, 2], color=SERIES[1], marker="o"), "<b>gum</b>", series=1, hidden=True)
        axes.plot([0, 1], [2, 1], color=SOFT)
        return figure.svg(words)


def test_colours_are_those_of_the_page():
    svg = drawn()
    assert "var(--m1)" in svg and "var(--soft)" in svg and "var(--line)" in svg
    assert set(re.findall(r"#[0-9a-f]{6}", svg)) == set()


def test_parts_have_descriptions_and_are_hidden_by_series():
    svg = drawn()
    assert '<g data-of="1" style="display:none"><title>&lt;b&gt;gum&lt;/b&gt;</title>' in svg
    assert ElementTree.fromstring(svg).tag == "svg"


def test_words_are_escaped_and_nothing_is_fetched():
    svg = drawn('"><script>')
    assert "<script" not in svg and 'role="img" aria-label="&quot;&gt;' in svg and "a &amp; b" in svg
    assert not re.search(r"https?://|url\(|font-family| id=\"(?!m[0-9a-f]{10}\")", svg)


def test_equal_charts_are_equal_bytes():
    assert drawn() == drawn()


def test_everything_is_inside_the_drawing():
    numbers = re.findall(r'<text [^>]*x="([-\d.]+)" y="([-\d.]+)"', drawn())
    assert numbers and all(0 <= float(x) <= 300 and 0 <= float(y) <= 200 for x, y in numbers)


@pytest.mark.parametrize("module", ["spatial_engine.report", "spatial_engine.trust.reliability_chart"])
def test_matplotlib_is_loaded_only_to_draw(module):
    code = f"import {module}, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
