"""Reasoning as templates declare it: which steps, by label and format, and what fills them."""

from pathlib import Path

import pytest

from templates.reasoning import STEPS, Reasoning, enumerated, reasoning_of
from templates.registry import TEMPLATES
from templates.wording import WordingError, wordings
from tests.spatial_engine.language.test_reasoning import a_question
from tests.templates.test_wording import GOOD, module, written

CLASSES = TEMPLATES.load_all()


def said(steps: dict, **changes) -> str:
    """The sentences of all steps."""
    read = {step: {"": (text,)} if isinstance(text, str) else text for step, text in steps.items()}
    filled = Reasoning(steps=read).of(a_question(**changes))
    return " ".join(" ".join(filled[step]) for step in STEPS if filled[step])


@pytest.mark.parametrize("name", CLASSES)
def test_every_template_observes_identifies_and_computes(name: str) -> None:
    declared = reasoning_of(CLASSES[name])
    assert {"observe", "identify", "compute"} <= declared.steps.keys()
    assert declared.formats.keys() <= {*CLASSES[name].formats}
    for steps in (declared.steps, *declared.formats.values()):
        for text in (text for by_label in steps.values() for texts in by_label.values() for text in texts):
            assert (text[0].isupper() or text[0] == "{") and text[-1] in ".?" and text == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "evidence", "filled"),
    [
        ("It is {d:.1f} m away.", {"d": 2.34}, "It is 2.3 m away."),
        ("It is {d} m away.", {"d": 2.345678}, "It is 2.346 m away."),
        ("{name} is there.", {"name": "a lamp"}, "A lamp is there."),
        ("They are {d:.1f} m away.", {"d": [1.0, 2.0, 3.25]}, "They are 1.0, 2.0 and 3.2 m away."),
        ("They are {d:.1f} m away.", {"d": [1.0, 2.0, None]}, "They are 1.0 and 2.0 m away."),
        ("It is at {d:[.0f]}.", {"d": [1.4, 2.6]}, "It is at [1, 3]."),
        ("They are at {d:.0f}.", {"d": [[1.4, 2.6], [0, 1]]}, "They are at [1, 3] and [0, 1]."),
        ("The second is {d[1]:.1f} m away.", {"d": [1.0, 2.0]}, "The second is 2.0 m away."),
        ("It is {d[name]}.", {"d": {"name": "a lamp"}}, "It is a lamp."),
        ("It is {d:.0f} up.", {"d": -0.2}, "It is 0 up."),
        ("First {d:lines}.", {"d": "reach\ntake"}, "First reach; take."),
        ("They are {by_option[d]:.1f} long.", {"d": [1.0, 2.0]}, "They are A 2.0, B 1.0 long."),
    ],
)
def test_placeholders_are_parts_of_the_record(text: str, evidence: dict, filled: str) -> None:
    params = {"option_values": ["2", "1"]}
    assert said({"compute": text}, evidence=evidence, scorer_params=params) == filled


@pytest.mark.parametrize("value", [None, "", [], float("nan"), [None, None]])
def test_a_sentence_about_what_is_not_known_is_left_out(value: object) -> None:
    assert said({"observe": "Look.", "compute": "It is {d:.1f}."}, evidence={"d": value}) == "Look."


@pytest.mark.parametrize(
    "text", ["It is {other}.", "It is {d[4]}.", "It is {d[name]}.", "It is {d.real}.", "It is {d:.1f}."]
)
def test_a_sentence_that_the_record_does_not_fit_is_left_out(text: str) -> None:
    assert said({"compute": text}, evidence={"d": "far"}) == ""


def test_evidence_comes_before_fact_and_fact_before_the_rest() -> None:
    steps = {"compute": "{a} {b} {margin}."}
    assert said(steps, evidence={"a": 1}, fact={"a": 2, "b": 3}, margin=4.0) == "1 3 4."


def test_the_right_label_chooses() -> None:
    steps = {"conclude": {"1": ("One.",), "other": ("Another.",)}}
    assert said(steps) == "One." and said(steps, value="2") == "Another."
    assert said({"conclude": {"yes": ("So it is.",)}}, value=[0.1], answer="no") == ""


def test_a_format_replaces_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = module(tmp_path, "reasons", monkeypatch)
    table = (
        "[reasoning]\nobserve = 'Look.'\ncompute = ['Add.', 'Divide.']\n[reasoning.numeric]\ncompute = 'Multiply.'\n"
    )
    written(tmp_path, f"{GOOD}\n{table}", "reasons")
    declared = reasoning_of(kind)
    assert [*wordings(kind)] == ["numeric", "yes_no.floor"]
    assert declared.of(a_question())["compute"] == ["Add.", "Divide."]
    filled = declared.of(a_question(format="numeric", options=[], answer=2.0))
    assert (filled["observe"], filled["compute"]) == (["Look."], ["Multiply."])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("reasoning = 'Look.'", "must be a table of the steps observe, identify"),
        ("[reasoning]\nlook = 'Look.'", "unknown key 'look'; allowed: observe"),
        ("[reasoning.choice]\nlook = 'Look.'", "unknown key 'choice'; allowed: observe"),
        ("[reasoning]\nobserve = 1", "a step is a sentence"),
        ("[reasoning]\nobserve = ['']", "a step is a sentence"),
        ("[reasoning]\nobserve = {left = 1}", "a step is a sentence"),
        ("[reasoning]\nobserve = 'Look at {a.'", "write {{ for a brace"),
    ],
)
def test_errors_name_the_file_and_what_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, message: str
) -> None:
    kind = module(tmp_path, f"wrong{abs(hash(table))}", monkeypatch)
    path = written(tmp_path, f"{table}\n{GOOD}" if table.startswith("reasoning") else f"{GOOD}\n{table}", kind.name)
    with pytest.raises(WordingError) as raised:
        reasoning_of(kind)
    assert str(path) in str(raised.value) and message in str(raised.value)


def test_a_template_without_a_file_declares_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reasoning_of(module(tmp_path, "mute", monkeypatch)) == Reasoning()


def test_words_are_enumerated() -> None:
    assert [enumerated(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
