"""Free text: claims, the judge that checks them, and the report apart."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spatial_engine.atomic_file import read_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation import baselines
from spatial_engine.evaluation.claims import claim_prompt
from spatial_engine.evaluation.fake_model import FakeModel
from spatial_engine.evaluation.judge import Judge
from spatial_engine.evaluation.score import score
from spatial_engine.progress import Silent
from spatial_engine.report import report
from spatial_engine.scoring import own
from spatial_engine.scoring.official.row import row
from spatial_engine.scoring.reward import reward
from templates.answers import RIGHT, UNDECIDED, WRONG, Count, Text
from templates.answers.answer import stacked
from templates.answers.registry import format_of, recorded_answer
from templates.answers.score import Unscored
from templates.answers.text import NEEDS_JUDGE
from tests.spatial_engine.evaluation.chat_server import Does, patient, serving
from tests.templates.answers import by_hand

CLAIMS = ("The camera moves forward.", "The camera turns to the left.")
SAID = "It goes straight ahead."


def walk(*claims: str, margin: float = 5.0) -> Text:
    return Text(text="It moves forward and pans left.", claims="\n".join(claims or CLAIMS), margin=margin)


def test_p_right_is_that_of_a_label() -> None:
    samples = np.random.default_rng(0).normal(size=200_000)
    assert walk(margin=1.0).p_right() == pytest.approx(np.mean(samples < 1.0), abs=3e-3)


def test_the_same_claims_are_right_whatever_the_words() -> None:
    other = replace(walk(), text="Forward, then left.")
    assert walk().right(other) == RIGHT and walk().right(walk(CLAIMS[0])) == WRONG
    assert walk().right(walk(margin=1.0)) == UNDECIDED


def test_its_line_is_read_back_and_audited() -> None:
    question = by_hand.asked(walk(), "text")
    recorded = recorded_answer(question)
    assert recorded == walk() and format_of("text").claims(question) == list(CLAIMS)
    assert format_of("text").stated(question, recorded).right(walk()) == RIGHT


def test_a_stack_gives_the_results_of_each() -> None:
    some = [walk(), walk(CLAIMS[0], margin=1.0)]
    whole = stacked(some)
    assert [whole.row(k) for k in range(2)] == some
    np.testing.assert_array_equal(whole.p_right(), [one.p_right() for one in some])


def test_without_a_judge_it_is_not_scored() -> None:
    question = by_hand.asked(walk(), "text")
    unscored = Unscored(reason=NEEDS_JUDGE)
    assert own.score(question, SAID) == own.score(question, baselines.oracle_text(question)) == unscored
    assert own.score(question, " ").value == 0.0
    assert reward([f"<answer>{SAID}</answer>"], question=[question.to_json()]) == [0.0]
    assert own.score(replace(question, scorer_params={}), SAID) == Unscored(reason="no claims for a judge to check")


def test_the_score_is_the_share_of_claims() -> None:
    question = by_hand.asked(walk(), "text")
    found = own.score_read(question, {"text": SAID, "claims": [True, False]})
    assert found.value == 0.5 and found.detail["claims"] == dict(zip(CLAIMS, (True, False), strict=True))


def test_the_benchmark_has_it_judged() -> None:
    found = row(by_hand.asked(walk(), "text"))
    assert not isinstance(found, Unscored) and "gpteval" in found["extra_info"]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Two free texts and a count."""
    questions = [by_hand.asked(walk(), "text", prompt=f"What does camera {n} do?", number=n) for n in range(2)]
    return by_hand.dataset(tmp_path / "dataset", [*questions, by_hand.asked(Count(value=4.0), "numeric", number=2)])


@pytest.fixture
def answers(dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A text, an empty reply, a number."""
    monkeypatch.setattr("spatial_engine.evaluation.score.write_baselines", lambda *_, **__: None)
    texts = (f"<think>Left.</think><answer>{SAID}</answer>", "", "<answer>4</answer>")
    rows = [json.dumps({"id": q.id, "text": text}) for q, text in zip(dataset.questions, texts, strict=True)]
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(rows))
    return path


def says(number: int, request: dict) -> Does:
    return Does(text="Yes." if CLAIMS[0] in json.dumps(request) else "The reply does not say so: no")


def test_each_claim_is_asked_once_and_reported_apart(dataset: Dataset, answers: Path, tmp_path: Path) -> None:
    with serving(says) as (url, requests):
        judge = Judge(model="judge", server=patient(url))
        for _ in range(2):
            run = score(dataset, answers, tmp_path / "out", judge=judge)
            assert len(requests) == 2, "once"
        other = Judge(model="other judge", server=patient(url))
        score(dataset, answers, tmp_path / "out", judge=other)
        assert len(requests) == 4, "another judge judges anew"
    found = read_json(run / "result.json")
    assert found["judged"]["score"] == 0.25 and found["judged"]["items"] == 2 and found["judged"]["unjudged"] == 0
    assert found["overall"]["score"] == 1.0 and found["overall"]["items"] == 1
    assert len((run / "scores.jsonl").read_text().splitlines()) == 1
    first, empty = map(json.loads, (run / "claims.jsonl").read_text().splitlines())
    assert (first["score"], first["how"], first["official"]) == (0.5, "judge", None)
    assert (empty["score"], empty["status"]) == (0.0, "unreadable")
    question = next(dataset.questions)
    prompts = {request["messages"][0]["content"][0]["text"] for request in requests}
    assert prompts == {claim_prompt(question, SAID, claim) for claim in CLAIMS}
    assert "Left." not in json.dumps(requests[0]), "the judge sees no reasoning"


def test_the_pages_show_it_apart(dataset: Dataset, answers: Path, tmp_path: Path) -> None:
    with serving(says) as (url, _):
        run = score(dataset, answers, tmp_path / "out", judge=Judge(model="judge", server=patient(url)))
    for kept in (True, False):
        page = report(tmp_path / "out")
        overview = re.sub(r"<[^>]*>", " ", page.read_text(encoding="utf-8").partition('id="judged"')[2])
        assert (
            overview.split()[:20]
            == f"> Free text, scored by a judge Run Score 95 % Answers Without a verdict {run.name} 25.0 – 2 0".split()
        )
        (card_page,) = (page.parent / "answers").glob("*.html")
        shown = re.search(r'id="data">(.*?)</script>', card_page.read_text(encoding="utf-8"), re.DOTALL)
        assert shown is not None
        cards = json.loads(shown[1])["cards"]
        assert [card["format"] for card in cards] == ["numeric", "text", "text"]
        assert cards[1]["outcome"] == "partly" and CLAIMS[0] in cards[1]["answer"]["detail"]["claims"]
        if kept:
            (run / "result.json").unlink()  # made anew from the scores


def test_verdicts_come_from_the_cache(dataset: Dataset, answers: Path, tmp_path: Path) -> None:
    with serving(says) as (url, requests):
        judge = Judge(model="judge", server=patient(url))
        first = score(dataset, answers, tmp_path / "out", judge=judge, cache=tmp_path / "cache")
    again = score(dataset, answers, tmp_path / "out2", judge=judge, cache=tmp_path / "cache", replay=True)
    assert len(requests) == 2
    assert (again / "claims.jsonl").read_bytes() == (first / "claims.jsonl").read_bytes()


@pytest.mark.parametrize("reply", ["", "perhaps"])
def test_an_unreadable_verdict_leaves_the_text_unscored(
    dataset: Dataset, answers: Path, tmp_path: Path, reply: str
) -> None:
    with serving(lambda number, request: Does(text=reply)) as (url, requests):
        for count in (2, 4):  # asked again
            run = score(dataset, answers, tmp_path / "out", judge=Judge(model="judge", server=patient(url)))
            assert len(requests) == count
    assert read_json(run / "result.json")["judged"]["unjudged"] == 1


def test_the_fake_model_judges_claims_by_their_words(dataset: Dataset) -> None:
    model, question = FakeModel(dataset, "oracle"), next(dataset.questions)
    said = {}
    for claim in ("It moves forward.", "It moves back."):
        message = {"role": "user", "content": claim_prompt(question, str(question.answer), claim)}
        said[claim] = model.completion({"messages": [message]})[0]["choices"][0]["message"]["content"]
    assert said == {"It moves forward.": "yes", "It moves back.": "no"}


def test_without_a_judge_the_run_says_what_is_missing(dataset: Dataset, answers: Path, tmp_path: Path) -> None:
    said: list[str] = []

    class Listening(Silent):
        def say(self, text: str) -> None:
            said.append(text)

    run = score(dataset, answers, tmp_path / "out", progress=Listening())
    assert f"1 question not scored: {NEEDS_JUDGE}" in said
    assert read_json(run / "result.json")["overall"]["score"] == 1.0


def test_the_judge_reads_instructions_and_prompt() -> None:
    question = by_hand.asked(walk(), "text", prompt="What does it do?", instructions="One camera took the photos.")
    assert "One camera took the photos.\nWhat does it do?" in claim_prompt(question, SAID, CLAIMS[0])
