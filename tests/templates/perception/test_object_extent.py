"""Height, width and volume of boxed objects: exact, in metres, of known sides alone."""

import re
from dataclasses import replace

import numpy as np
import pytest

from spatial_engine.dataset.question_line import question_of
from spatial_engine.export.spatialtree import right_response
from spatial_engine.scoring import official
from spatial_engine.scoring.official.row import row
from templates.perception.object_extent import ObjectSize, ObjectVolume
from templates.scene.objects import found_again
from tests.templates import worlds

METRIC = worlds.with_path(worlds.signals(), scale=worlds.METRIC)
SIZES = np.array([[0.4 + 0.2 * k, 0.3, 0.5] for k in (0, 3, 1, 5, 2, 4)])


def test_sizes_are_those_of_the_named_side() -> None:
    found, scene = worlds.ask(ObjectSize(), METRIC, facts=60), worlds.scene(METRIC)
    kinds = set()
    for asked in found.asked:
        objects = found_again(scene, asked.facts.object)
        for k, fact, draft in zip(objects, asked.facts.to_json(), asked.drafts(), strict=True):
            size_cm = 100 * (SIZES[k, 2] if fact["side"] == "height" else SIZES[k, :2].max())
            kinds.add((asked.format, fact["side"]))
            assert re.search("tall|height" if fact["side"] == "height" else "wide|width", draft.prompt)
            if asked.format == "numeric":
                assert worlds.written(draft) == pytest.approx(size_cm, abs=0.6)
                continue
            right = draft.options[worlds.written(draft)]
            assert right.value == (
                "30 to 60 cm" if size_cm < 60 else "60 to 120 cm" if size_cm < 120 else "over 120 cm"
            )
            assert not re.search("chair|table|lamp|sofa|picture", draft.prompt)
    assert kinds == {(format, side) for format in ("numeric", "choice") for side in ("height", "width")}


def test_right_answers_get_the_full_official_score() -> None:
    draft = next(d for d in worlds.drafts(worlds.ask(ObjectSize(), METRIC)) if d.format == "numeric")
    entry = {"id": "0" * 16, "kind": "photo", "path": "images/0.png", "frames": [0]}
    question = replace(question_of(draft, (), worlds.clip()), media=[entry])
    record = row(question)
    assert isinstance(record, dict) and question.unit == "cm"
    assert official.process_results(record, [right_response(record)])["SpaTreeBench"]["score"] == 1.0


def test_sizes_need_metres_and_are_refused_near_the_border_of_a_band() -> None:
    assert worlds.reasons(worlds.ask(ObjectSize(), worlds.signals())) == {"scale is not metric"}
    assert "the size is near a border" in worlds.reasons(worlds.ask(ObjectSize(), METRIC, facts=60))


@worlds.UNITS
def test_volumes_are_those_of_the_boxes(unit: float) -> None:
    signals = worlds.elsewhere(3, unit)
    found, scene = worlds.ask(ObjectVolume(), signals), worlds.scene(signals)
    assert {asked.format for asked in found.asked} == {"order", "choice"}
    for asked in found.asked:
        volume = np.column_stack([SIZES[found_again(scene, refs)].prod(axis=1) for refs in asked.facts.each])
        for each, draft in zip(volume, asked.drafts(), strict=True):
            ranked = (1 + np.argsort(each)[::-1]).tolist()
            written = worlds.written(draft)
            assert written == ranked if asked.format == "order" else draft.options[written].value == str(ranked[0])


@pytest.mark.parametrize("template", [ObjectSize(), ObjectVolume()])
@pytest.mark.parametrize(
    "change",
    [
        {"size_sigma": np.full((6, 3), 0.5)},
        {"size_sigma": np.full((6, 3), np.inf)},
        {"outlier_probability": np.full(6, 0.05)},
        {"size": None, "size_sigma": None},
    ],
)
def test_nothing_is_asked_of_doubtful_objects(template: ObjectSize | ObjectVolume, change: dict[str, object]) -> None:
    objects = replace(METRIC["objects"], **change)  # type: ignore[type-var]
    assert not len(worlds.ask(template, {**METRIC, "objects": objects}))
