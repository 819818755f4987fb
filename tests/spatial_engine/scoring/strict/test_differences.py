"""Every difference that docs/scoring.md lists is one, and as large as it says."""

import importlib.util
from pathlib import Path

import spatial_engine
from spatial_engine.scoring import official, strict
from spatial_engine.scoring.published import spatialtree_paper

_SPEC = importlib.util.spec_from_file_location("differences", Path(__file__).with_name("differences.py"))
assert _SPEC and _SPEC.loader
differences = importlib.util.module_from_spec(_SPEC)
__import__("sys").modules["differences"] = differences  # dataclasses look their module up
_SPEC.loader.exec_module(differences)

DOCS = Path(spatial_engine.__file__).parents[1] / "docs" / "scoring.md"


def scores() -> list[tuple[float, float]]:
    return [
        (
            float(getattr(official, row.metric)(row.response, row.answer, row.extra, unsafe=True)["score"]),
            getattr(strict, row.metric)(row.response, row.answer, row.extra)["score"],
        )
        for row in differences.DIFFERENCES
    ]


def test_every_row_is_a_difference() -> None:
    same = [row.what for row, (a, b) in zip(differences.DIFFERENCES, scores(), strict=True) if abs(a - b) < 1e-6]
    assert not same


def test_the_documented_table_is_what_both_give() -> None:
    assert differences.table(scores()) in DOCS.read_text(encoding="utf-8")


def test_the_documented_table_of_plans_is_what_all_three_give() -> None:
    scores = [
        tuple(
            float(getattr(module, row.metric)(row.response, row.answer, row.extra, **options)["score"])
            for module, options in ((official, {"unsafe": True}), (strict, {}), (spatialtree_paper, {}))
        )
        for row in differences.PLANS
    ]
    assert differences.plan_table(scores) in DOCS.read_text(encoding="utf-8")
