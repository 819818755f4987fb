"""A dataset is reworded, resumed, replayed and limited by a budget; servers lie, fail and babble."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import spatial_engine as se
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.lines import write_questions
from spatial_engine.dataset.rephrase import UNASKED, Rephrased, plan, rephrase
from spatial_engine.errors import SetupError, UsageError
from spatial_engine.evaluation.fake_model import Behaviour
from spatial_engine.evaluation.fake_server import FakeServer
from spatial_engine.language.settling import OTHER_READING
from tests.spatial_engine.evaluation.chat_server import Does, patient, quick_retries, serving, small_dataset

PROMPTS = {
    ("range_ratio", "numeric"): "How many times as far from the camera as point 1 is point 2?",
    ("path_map", "choice"): "Which map shows the camera's path from above?",
}
OPTIONS = se.RephraseOptions(model="fake")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Three clips with five questions each; two of the five in the words of their templates."""
    found = small_dataset(tmp_path_factory.mktemp("rephrase"), count=3)
    write_questions(
        found.path,
        [replace(one, prompt=PROMPTS.get((one.template, one.format), one.prompt)) for one in list(found.questions)],
    )
    return found


def asked(dataset: Dataset, out: Path, behaviour: Behaviour = "rephraser", **how: Any) -> tuple[Rephrased, int]:
    """The result, and the number of requests that reached the server."""
    with FakeServer(dataset, behaviour) as fake:
        done = rephrase(dataset, out, how.pop("options", OPTIONS), patient(fake.base_url), **how)
        return done, sum(fake.counts.values())


def test_prompts_are_reworded_and_nothing_else(dataset: Dataset, tmp_path: Path) -> None:
    done, requests = asked(dataset, tmp_path / "out")
    before, after = list(dataset.questions), list(done.dataset.questions)
    assert done.kept == done.chosen == len(before) and requests == done.requests <= 2 * len(before)
    for old, new in zip(before, after, strict=True):
        assert old.prompt in new.prompt != old.prompt
        assert new.extra["rephrased"] == {"from": old.prompt, "language": "en", "model": "fake", "reader": "fake"}
        assert replace(new, prompt=old.prompt, extra={}) == replace(old, extra={})
        assert all((done.dataset.path / file).is_file() for file in new.files)
    assert f"{len(before)} of {len(before)} prompts are reworded" in (done.dataset.path / "README.md").read_text()
    assert done.dataset.audit["refused"] == dataset.audit["refused"]


def test_a_reworded_set_is_reworded_from_the_original(dataset: Dataset, tmp_path: Path) -> None:
    first, _ = asked(dataset, tmp_path / "first")
    second, _ = asked(first.dataset, tmp_path / "second", options=replace(OPTIONS, seed=1))
    originals = [one.prompt for one in dataset.questions]
    assert [one.extra["rephrased"]["from"] for one in second.dataset.questions] == originals


def test_a_liar_and_a_babbler_change_nothing(dataset: Dataset, tmp_path: Path) -> None:
    for behaviour in ("liar", "babbler"):
        done, _ = asked(dataset, tmp_path / behaviour, behaviour)
        assert done.kept == 0 and sum(done.unused.values()) == done.chosen
        assert [one.prompt for one in done.dataset.questions] == [one.prompt for one in dataset.questions]
        record = done.dataset.audit["rephrased"]
        assert record["unused"] == done.unused and len(record["examples"]) <= 20
        assert f"0 of {done.chosen} prompts" in (done.dataset.path / "README.md").read_text()


def test_a_second_reading_that_finds_another_question_rejects(dataset: Dataset, tmp_path: Path) -> None:
    def says(_: int, request: dict[str, Any]) -> Does:
        text = request["messages"][-1]["content"][0]["text"]
        if "<reworded>" in text:
            return Does(text="0")
        return Does(text=json.dumps({"prompt": "Tell me: " + text.split("<question>\n")[1].split("\n</question>")[0]}))

    with serving(says) as (url, _):
        done = rephrase(dataset, tmp_path / "out", OPTIONS, patient(url))
    assert done.unused == {OTHER_READING: done.chosen}


def test_resuming_and_replaying_pay_for_nothing_twice(dataset: Dataset, tmp_path: Path) -> None:
    done, requests = asked(dataset, tmp_path / "out")
    files = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    again, repeated = asked(dataset, tmp_path / "out")
    assert requests > 0 == repeated == again.requests
    replayed = rephrase(dataset, tmp_path / "out", OPTIONS, replay=True)
    assert replayed.kept == done.kept
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == files
    with pytest.raises(UsageError, match="lacks"):
        rephrase(dataset, tmp_path / "out", replace(OPTIONS, seed=5, wordings=99), replay=True)


def test_a_budget_ends_midway_and_a_larger_one_goes_on(dataset: Dataset, tmp_path: Path) -> None:
    full = plan(dataset, tmp_path / "out", OPTIONS)
    prices = {"price_in": 1e4, "price_out": 1e4}
    whole = se.Spending(**prices).amount(full.remaining.input_tokens, full.remaining.output_tokens)
    assert whole is not None
    part, first = asked(dataset, tmp_path / "out", spending=se.Spending(**prices, budget=whole / 3))
    assert 0 < part.kept < part.chosen and part.amount is not None and part.amount <= whole / 3
    assert part.unused == {UNASKED: part.chosen - part.kept}
    rest, second = asked(dataset, tmp_path / "out", spending=se.Spending(**prices, budget=whole))
    assert rest.kept == rest.chosen and 0 < first + second <= 2 * full.rewordings
    nothing, none = asked(dataset, tmp_path / "none", spending=se.Spending(**prices, budget=0.0))
    assert nothing.kept == none == 0


def test_the_plan_asks_nothing_and_knows_the_cache(dataset: Dataset, tmp_path: Path) -> None:
    before = plan(dataset, tmp_path / "out", OPTIONS)
    assert before.remaining.requests == 2 * before.rewordings > 0 and not [*tmp_path.iterdir()]
    asked(dataset, tmp_path / "out")
    assert plan(dataset, tmp_path / "out", OPTIONS).remaining.requests == 0


def test_failures_and_time_outs_keep_the_prompt_and_are_asked_again(dataset: Dataset, tmp_path: Path) -> None:
    with quick_retries(), serving(lambda number, _: Does(status=500) if number % 2 else Does(wait_s=0.3)) as (url, _):
        done = rephrase(dataset, tmp_path / "out", OPTIONS, patient(url, timeout=0.1, max_retries=0))
    assert done.failed == done.chosen and "no reply in time" in done.unused
    assert [one.prompt for one in done.dataset.questions] == [one.prompt for one in dataset.questions]
    again, requests = asked(dataset, tmp_path / "out")
    assert again.kept == again.chosen and requests > 0


def test_a_server_that_accepts_nothing_writes_nothing(dataset: Dataset, tmp_path: Path) -> None:
    with serving(lambda *_: Does(status=401)) as (url, _), pytest.raises(SetupError, match="401"):
        rephrase(dataset, tmp_path / "out", OPTIONS, patient(url))
    assert not (tmp_path / "out").exists()


def test_without_a_model_templates_say_it_otherwise(dataset: Dataset, tmp_path: Path) -> None:
    done = rephrase(dataset, tmp_path / "out")
    known = [one for one in dataset.questions if (one.template, one.format) in PROMPTS]
    rest = done.chosen - len(known)
    assert done.kept == len(known) and done.unused == {"its template has no other wording of it": rest}
    changed = [one for one in done.dataset.questions if "rephrased" in one.extra]
    assert len({one.prompt for one in changed}) > 2 and all(one.prompt not in PROMPTS.values() for one in changed)


def test_languages_are_shared_out_and_named(dataset: Dataset, tmp_path: Path) -> None:
    german = "Wie viele Male so weit von der Kamera wie Punkt 1 ist der Punkt 2?"

    def says(_: int, request: dict[str, Any]) -> Does:
        text = request["messages"][-1]["content"][0]["text"]
        if "<reworded>" in text:
            return Does(
                text=next(line[0] for line in text.splitlines() if line.endswith(PROMPTS["range_ratio", "numeric"]))
            )
        return Does(text=json.dumps({"prompt": german}))

    options = replace(OPTIONS, language=("de", "en"))
    only = Dataset(Path(shutil.copytree(dataset.path, tmp_path / "only")))
    write_questions(only.path, [one for one in dataset.questions if one.template == "range_ratio"])
    with serving(says) as (url, _):
        done = rephrase(only, tmp_path / "out", options, patient(url))
    said = {one.extra["rephrased"]["language"] for one in done.dataset.questions if "rephrased" in one.extra}
    assert said <= {"de"} and done.kept + sum(done.unused.values()) == done.chosen
    assert set(done.unused) <= {"the rewording is in another language"}
    if done.kept:
        assert "language: [en, de]" in (done.dataset.path / "README.md").read_text()


def test_a_limit_draws_some(dataset: Dataset, tmp_path: Path) -> None:
    done = rephrase(dataset, tmp_path / "out", se.RephraseOptions(limit=4))
    assert done.chosen == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"language": ("fr",), "model": "m"}, "allowed: de, en, zh"),
        ({"language": ("de",)}, "no model is named"),
        ({"reader": "m"}, "no model is named"),
        ({"wordings": 0}, "--wordings 0"),
    ],
)
def test_wrong_options(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        se.RephraseOptions(**options)


def test_a_budget_needs_prices() -> None:
    with pytest.raises(UsageError, match="--budget without prices"):
        se.Spending(budget=3.0)


def test_the_data_set_itself_is_never_written_to(dataset: Dataset) -> None:
    with pytest.raises(UsageError, match="the dataset itself"):
        rephrase(dataset, dataset.path)


def test_no_server(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no server is named"):
        rephrase(dataset, tmp_path / "out", OPTIONS)
