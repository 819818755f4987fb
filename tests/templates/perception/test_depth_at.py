"""Depth in millimetres at a pixel that two numbers name."""

import re
from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Scale
from spatial_engine.dataset.question_line import question_of
from spatial_engine.export.spatialtree import right_response
from spatial_engine.scoring import official
from spatial_engine.scoring.official.row import row
from templates.generate import answers_to
from templates.perception.depth_queries import DepthAt, NamedPixels
from tests.templates import worlds

TEMPLATE = DepthAt()
METRIC = worlds.with_path({**worlds.signals(), "depth": worlds.slope()}, scale=worlds.METRIC)


def test_the_numbers_name_the_pixel_whose_depth_is_asked() -> None:
    found = worlds.drafts(worlds.ask(TEMPLATE, METRIC))
    assert len(found) == 20
    for draft in found:
        x, y = map(int, re.search(r"\[(\d+), (\d+)\]", draft.prompt).groups())  # type: ignore[union-attr]
        line = int(np.floor(y / 1000 * 48))  # of 48 lines of depth, 2 m to 6 m
        assert worlds.written(draft) == pytest.approx(1000 * (2 + 4 * line / 47), abs=45)
        assert 0 <= x <= 1000 and draft.media[0].marks == ()  # type: ignore[union-attr]
        assert draft.traps["metres"] == pytest.approx(worlds.written(draft) / 1000, abs=0.01)


def test_right_answers_get_the_full_official_score_and_mistakes_do_not() -> None:
    draft = worlds.drafts(worlds.ask(TEMPLATE, METRIC))[0]
    entry = {"id": "0" * 16, "kind": "photo", "path": "images/0.png", "frames": [0]}
    question = replace(question_of(draft, (), worlds.clip()), media=[entry])
    record = row(question)
    assert isinstance(record, dict) and record["answer"] == str(question.answer) and question.unit == "mm"
    scores = [
        official.process_results(record, [text])["SpaTreeBench"]["score"]
        for text in (right_response(record), str(question.evidence["traps"]["metres"]))
    ]
    assert scores == [1.0, 0.0]


def test_exchanged_numbers_lead_to_another_depth() -> None:
    facts = NamedPixels(frame=np.array([0]), a_px=np.array([[127.5, 383.5]]), size=np.array([[640, 480]]))
    measured = TEMPLATE.measure(facts, worlds.scene(METRIC))
    (exchanged,), answer = measured.traps["x and y exchanged"], TEMPLATE.answer("numeric", facts, measured)
    assert TEMPLATE.phrase("numeric", facts.to_json()[0], answer, None).values == {"x": 200, "y": 800}
    assert exchanged == pytest.approx(1000 * (2 + 4 * 9 / 47), abs=1)


def test_depth_needs_metres_and_a_smooth_surface() -> None:
    assert worlds.reasons(worlds.ask(TEMPLATE, {**METRIC, **worlds.signals()})) == {"scale is not metric"}
    vague = worlds.with_path(METRIC, scale=Scale(kind="metric", relative_sigma=0.2, source="model"))
    assert worlds.reasons(worlds.ask(TEMPLATE, vague)) == {"σ too large for the tolerance"}
    edge = worlds.slope()
    edge.z[:, :, 32:] *= 2
    facts = NamedPixels(frame=np.array([0]), a_px=np.array([[319.5, 239.5]]), size=np.array([[640, 480]]))
    found = TEMPLATE.measure(facts, worlds.scene({**METRIC, "depth": edge}))
    assert found.why.tolist() == ["depth changes between neighbouring pixels"]
    assert answers_to(TEMPLATE, "numeric", facts, found).why.tolist() == found.why.tolist()
