"""A new answer type and its format in one file of an external package: from the gate to the reward."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib import invalidate_caches
from pathlib import Path

import numpy as np
import pytest

from spatial_engine.dataset.audit import audit
from spatial_engine.dataset.question_line import to_line
from spatial_engine.evaluation import baselines, protocol
from spatial_engine.export.lmms_eval import row
from spatial_engine.export.scorer_archive import write_scorer
from spatial_engine.leaks.near_duplicates import same_answers
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.report.cards import tolerance_in_words
from spatial_engine.scoring import own
from spatial_engine.scoring.official.row import row as official_row
from spatial_engine.scoring.reward import reward
from templates.answers.answers import Answers
from templates.answers.registry import answer_type, format_of, recorded_answer
from templates.answers.score import Unscored
from templates.truth import Claim
from tests.templates.answers import by_hand

CODE = '''
"""Boxes in a picture. Right: intersection over union of at least a half."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy.stats import norm

from templates.answers.answer import Answer, Recorded, Rows
from templates.answers.format import Format

SIDES = ("left", "top", "right", "bottom")


@dataclass(frozen=True, kw_only=True)
class Box(Answer):
    name = "crop"
    sides: Float[np.ndarray, "*n 4"]
    sigma_iou: Rows

    def p_within(self):
        return norm.cdf(0.5 / self.sigma_iou)

    @property
    def limits(self):
        return np.full((*np.shape(self.sigma_iou), 1), 0.5)

    def error(self, truth):
        both = np.concatenate([np.maximum(self.sides, truth.sides)[:2], np.minimum(self.sides, truth.sides)[2:]])
        area, own, true = (np.prod(np.maximum(b[2:] - b[:2], 0)) for b in (both, self.sides, truth.sides))
        return np.array([1 - area / (own + true - area)]), np.array([truth.sigma_iou])

    def to_json(self):
        value = dict(zip(SIDES, self.sides.tolist()))
        return Recorded(value=value, answer=value, sigma=self.sigma_iou, tolerance=0.5, unit="px")

    @classmethod
    def from_json(cls, question):
        return cls(sides=np.array([question.value[side] for side in SIDES]), sigma_iou=question.sigma)

    def predicted(self, value):
        if not isinstance(value, dict) or not all(isinstance(value.get(side), int | float) for side in SIDES):
            return None
        return replace(self, sides=np.array([float(value[side]) for side in SIDES]))


class BoxInPixels(Format):
    name = "crop"
    reader = "numbers"

    def form(self, question):
        return f"one JSON object with {', '.join(SIDES)} in pixels"
'''


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An installed package: a module and its entry points."""
    (tmp_path / "box_answers.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "box-1.dist-info").mkdir()
    (tmp_path / "box-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: box\nVersion: 1\n")
    (tmp_path / "box-1.dist-info" / "entry_points.txt").write_text(
        "[spatial_engine.answers]\ncrop = box_answers:Box\n[spatial_engine.formats]\ncrop = box_answers:BoxInPixels\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    invalidate_caches()
    yield answer_type("crop")(sides=np.array([40.0, 30.0, 140.0, 130.0]), sigma_iou=0.05)
    sys.modules.pop("box_answers", None)
    answer_type.cache_clear()
    format_of.cache_clear()


def asked(box):
    return by_hand.asked(box, "crop", prompt="Where is the chair?", template="where")


def moved(box, by: float) -> str:
    """The right answer, moved to the right by some pixels."""
    value = {side: v + by * (side in ("left", "right")) for side, v in box.to_json().value.items()}
    return f"<answer>{json.dumps(value)}</answer>"


def test_the_file_is_short() -> None:
    code = [line for line in CODE.split("class Box(Answer)")[1].splitlines() if line.strip()]
    assert len(code) <= 40


def test_the_gate_passes_it_where_sigma_is_small(box) -> None:
    both = type(box)(sides=np.stack([box.sides, box.sides]), sigma_iou=np.array([0.05, 0.4]))
    gated = Answers.of(both, np.array(["", ""])).gated(0.99)
    assert gated.why.tolist() == ["", "σ too large for the tolerance"]
    assert gated.row(0).to_json() == box.to_json()


def test_its_line_is_read_back_and_audited(box) -> None:
    question = asked(box)
    assert question.format == question.scorer == "crop" and question.answer == question.value
    recorded = recorded_answer(question)
    stated = format_of("crop").stated(question, recorded)
    claim = Claim(format="crop", fact=dict(question.fact), predictions=(recorded, stated))
    for by, verdict in ((0.0, True), (90.0, False), (33.3, None)):
        assert claim.right(type(box)(sides=box.sides + np.array([by, 0, by, 0]), sigma_iou=0.05)) is verdict


def test_it_is_asked_scored_and_rewarded(box) -> None:
    question = asked(box)
    assert "one JSON object with left" in protocol.prompt(question).parts[-1]
    scores = [own.score(question, moved(box, by)).value for by in (0.0, 10.0, 90.0)]
    assert scores == [1.0, 1.0, 0.0] and own.score(question, "left of the table").value == 0.0
    assert own.score(question, baselines.oracle_text(question)).value == 1.0
    earned = reward([moved(box, by) for by in (0.0, 45.0, 90.0)], question=[to_line(question)] * 3)
    assert earned[0] == 1.0 > 0.3 > earned[1] > earned[2] > 0


def test_it_passes_whatever_looks_at_a_data_set(box) -> None:
    question = asked(box)
    found = audit(
        QuestionTable.of([question] * 3), refused={}, dropped={}, scenes={question.clip: "s"}, seed=0, settings={}
    )
    assert found["formats"] == {"crop": 3} and found["answers"] == {} and found["baselines"]["random"] is None
    table = QuestionTable.of([question, question, replace(question, answer={})])
    assert same_answers(table, np.array([0, 0]), np.array([1, 2])).tolist() == [True, False]
    assert official_row(question) == Unscored(reason=f"no official metric for {question.ability} in the format crop")
    said = json.dumps(question.answer)
    assert own.holds(question, said, said) and not own.holds(question, "somewhere on the left", said)
    assert tolerance_in_words(question) == "" and baselines.first_option_text(question) == ""


def test_an_export_holds_it_and_the_code_that_scores_it(box, tmp_path: Path) -> None:
    question = asked(box)
    exported = row(replace(question, media=[]), tmp_path)
    assert exported["format"] == "crop" and exported["target"] == baselines.oracle_text(question)
    write_scorer(archive := tmp_path / "scorer.zip")
    (tmp_path / "line.json").write_text(to_line(question), encoding="utf-8")
    program = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "import json; from templates.question import Question; from spatial_engine.scoring import own\n"
        f"question = Question(**json.load(open({str(tmp_path / 'line.json')!r}, encoding='utf-8')))\n"
        f"assert {str(archive)!r} in own.__file__\n"
        f"print(own.score(question, {moved(box, 10.0)!r}).value)"
    )
    elsewhere = {"cwd": archive.anchor, "env": {}, "capture_output": True, "text": True, "check": True}
    done = subprocess.run([sys.executable, "-P", "-c", program], **elsewhere)
    assert done.stdout.strip() == "1.0"
