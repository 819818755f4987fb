"""Chains of thought: what they are made of, that they end in the answer, and that they do not give it away."""

from dataclasses import replace

import pytest

from spatial_engine.dataset.question_line import question_of
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.baselines import oracle_text
from spatial_engine.language.reasoning import _mistakes, amount_of, chain, check_choice, states_answer
from templates.asked import ClipQuestions
from templates.generate import ask_clip, ask_puzzles
from templates.question import BY_PEOPLE, Question
from templates.registry import create_templates
from templates.settings import AskSettings
from tests.spatial_engine.language.chain_reader import faults

TEMPLATES = create_templates()
QUICK = ("paper_fold", "stack_count", "stack_view", "stands_or_falls", "turned_shape")


def drafted(asked: ClipQuestions, clip) -> list[Question]:
    """The questions without their pictures, options in their first order."""
    drafts = [draft for one in asked.asked for draft in one.drafts()]
    return [question_of(draft, range(len(draft.options)), clip) for draft in drafts]


@pytest.fixture(scope="module")
def puzzles() -> list[Question]:
    """Those that are drawn in no time."""
    return drafted(ask_puzzles([TEMPLATES[name] for name in QUICK], 2, seed=0), None)


def a_question(**changes) -> Question:
    fields = {
        "id": "0" * 16,
        "ability": "L1/Geometry/Distance",
        "template": "range_ratio",
        "format": "choice",
        "instructions": "",
        "prompt": "Which point is closer to the camera?",
        "options": ["Point 1", "Point 2"],
        "answer": "A",
        "value": "1",
        "unit": "",
        "sigma": None,
        "tolerance": None,
        "margin": 8.04,
        "scorer": "label",
        "scorer_params": {},
        "media": [{"id": "a", "kind": "frames", "path": "media/a.jpg"}],
        "fact": {"frame": 0, "a_px": [120.0, 230.4], "b_px": [253.3, 230.0]},
        "fact_id": "f",
        "evidence": {"ranges": [1.215, 2.68], "length_unit": "m", "traps": {"the lower one in the picture": "B"}},
        "clip": "c",
        "seed": 0,
        "provenance": [],
        "licence": {},
    }
    return Question(**{**fields, **changes})


def test_a_full_chain_observes_identifies_computes_verifies_and_concludes() -> None:
    assert chain(a_question()) == (
        "Point 1 is marked at [120, 230] in the photo, point 2 at [253, 230]. "
        "What counts is how far each lies from the camera in a straight line, not how high it lies in the picture. "
        "Point 1 is about 1.22 m from the camera, point 2 about 2.68 m. "
        'A typical mistake ("the lower one in the picture") would give option B instead. '
        "The first distance is the smaller one. So the answer is A: Point 1."
    )


def test_a_short_chain_computes_and_concludes() -> None:
    said = chain(a_question(), "short")
    assert said.startswith("Point 1 is about 1.22 m from the camera, point 2 about 2.68 m.") and "mistake" not in said
    assert chain(a_question(), "none") == ""


@pytest.mark.parametrize(
    ("ability", "choice", "amount"),
    [
        ("L1/Geometry/Distance", "auto", "none"),
        ("L2/Memory/Cognitive Map", "auto", "short"),
        ("L3/Sequential Planning/Route", "auto", "full"),
        ("L4/Goal-Driven Execution/Robotic Arm", "auto", "full"),
        ("L1/Geometry/Distance", "all", "full"),
        ("L4/Goal-Driven Execution/Robotic Arm", "none", "none"),
    ],
)
def test_how_much_depends_on_level_and_choice(ability: str, choice: str, amount: str) -> None:
    assert amount_of(a_question(ability=ability), choice) == amount


def test_counts_have_no_chain_by_default() -> None:
    count = a_question(ability="L2/Memory/Memory Retrieval", scorer="count", format="numeric", options=[], answer=3)
    assert amount_of(count, "auto") == "none" and amount_of(count, "all") == "full"
    in_words = a_question(ability="L2/Memory/Memory Retrieval", template="how_many", options=["One", "Two"])
    assert amount_of(in_words, "auto") == "none"


def test_what_people_wrote_has_none() -> None:
    assert amount_of(a_question(template=BY_PEOPLE), "all") == "none"


def test_another_choice_names_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="'some'"):
        check_choice("some")


def test_what_a_record_lacks_is_left_out() -> None:
    old = a_question(evidence={"range_ratio": 2.2})
    assert (
        "None" not in chain(old) and "Measured: range ratio 2.2." in chain(old) and chain(old).endswith("A: Point 1.")
    )


def test_a_template_that_is_not_installed_has_a_chain_by_default() -> None:
    theirs = a_question(template="theirs", evidence={"gap_m": 0.25, "traps": {}, "p_right": 1.0})
    assert chain(theirs) == (
        "Look at the photo. Measured: gap m 0.25. The nearest other answer is 8.0 standard deviations away. "
        "So the answer is A: Point 1."
    )


@pytest.mark.parametrize(
    ("changes", "text", "states"),
    [
        ({}, "Point 1 is the one.", True),
        ({}, "Point 1 is nearer than point 2.", False),
        ({"options": ["a" * 16, "b" * 16], "media": [{"id": "a" * 16, "option": True}]}, "It is option A.", True),
        ({"format": "yes_no", "options": [], "answer": "no"}, "No, it is not.", True),
        ({"format": "yes_no", "options": [], "answer": "no"}, "Nothing is in the way.", False),
        ({"format": "numeric", "options": [], "answer": 2.0}, "Twice 1.0 m is 2.0 m.", True),
        ({"format": "numeric", "options": [], "answer": 2.0}, "Point 2 is 4.1 m away.", False),
        ({"format": "order", "options": [], "answer": [2, 1, 3]}, "First comes 2, then 1, then 3.", True),
        ({"format": "order", "options": [], "answer": [2, 1, 3]}, "They are 2.0, 1.5 and 3.0 m away.", False),
    ],
)
def test_what_gives_the_answer_away(changes: dict, text: str, states: bool) -> None:
    assert states_answer(a_question(**changes), text) is states


def test_a_measured_number_that_equals_the_answer_is_not_said_before_it() -> None:
    twice = a_question(
        format="numeric",
        options=[],
        answer=2.0,
        value=2.0,
        sigma=0.1,
        evidence={"ranges": [1.0, 2.0], "length_unit": "m"},
    )
    assert "2.00" not in chain(twice) and chain(twice).endswith("So the answer is 2.0.")


def test_a_long_answer_is_left_to_its_tags() -> None:
    plan = {"actions": ["Truck Left", "Pedestal Up", "Dolly In"] * 20, "step_nums": [3] * 60}
    assert "Truck" not in chain(a_question(format="plan", options=[], answer=plan, value={}))


@pytest.mark.parametrize("amount", ["short", "full"])
def test_puzzles_are_reasoned_without_fault(puzzles, amount: str) -> None:
    assert {question.template for question in puzzles} == {*QUICK}
    for question in puzzles:
        thought = chain(question, amount)
        assert len(thought) >= 60 and "{" not in thought, question.template
        assert not faults(question, f"<think>{thought}</think>{oracle_text(question)}"), question.template


def test_the_reader_finds_what_is_wrong(puzzles) -> None:
    question = next(q for q in puzzles if q.template == "stack_count" and q.format == "numeric")
    thought, answer = chain(question), oracle_text(question)
    wrong = f"<answer>{question.answer + 1}</answer>"
    early = f"The stack has {question.answer} cubes. {thought}"
    assert faults(question, f"<think>{thought}</think>{wrong}") == [
        "ends in another answer",
        "concludes another answer",
    ]
    assert faults(question, f"<think>{early}</think>{answer}") == ["states the answer before the last third"]
    assert faults(question, f"<think>It weighs 7.31 kg. {thought}</think>{answer}") == ["7.31 is in no record"]
    other = thought.replace(f"is {question.answer}.", f"is {question.answer + 1}.")
    assert "concludes another answer" in faults(question, f"<think>{other}</think>{answer}")
    assert faults(question, thought) == ["not in the form <think>…</think><answer>…</answer>"]


@pytest.mark.long(sample=True)
def test_puzzles_by_the_thousand() -> None:
    questions = drafted(ask_puzzles([*TEMPLATES.values()], 80, seed=1), None)
    assert len(questions) > 1000 and not faulty(questions)


@pytest.mark.long
def test_ten_thousand_chains_about_every_leaf() -> None:
    """0 end in another answer, 0 state it before the last third, every number is in the record; and every template
    computes something."""
    from examples.every_leaf.__main__ import footage
    from templates.reasoning import reasoning_of

    templates, count, found = [*TEMPLATES.values()], 0, []
    mute = {name for name, template in TEMPLATES.items() if template.needs}
    for clip, signals in footage():
        questions = drafted(ask_clip(clip, signals, templates, AskSettings(facts_per_template=8), 0), clip)
        found += faulty(questions)
        count += 2 * len(questions)
        mute -= {q.template for q in questions if reasoning_of(type(TEMPLATES[q.template])).of(q)["compute"]}
    assert count >= 10_000 and not found and not mute


def faulty(questions: list[Question]) -> list[tuple[str, str, list[str]]]:
    """Template, format and faults of all chains that have any, short and full."""
    replies = [
        (q, f"<think>{chain(q, amount)}</think>{oracle_text(q)}") for q in questions for amount in ("short", "full")
    ]
    read = [(question.template, question.format, faults(question, reply)) for question, reply in replies]
    return [one for one in read if one[2]]


def test_options_that_turn_with_circular_evaluation_keep_their_chain() -> None:
    """A chain belongs to the letters of its question."""
    turned = replace(
        a_question(), options=["Point 2", "Point 1"], answer="B", evidence={**a_question().evidence, "traps": {}}
    )
    assert chain(turned).endswith("So the answer is B: Point 1.")


def test_a_number_within_the_tolerance_is_no_mistake() -> None:
    corner = {"template": "corner_angle", "format": "numeric", "answer": 92.0, "value": 92.0, "options": []}
    near, far = (
        a_question(**corner, tolerance=10.0, evidence={"traps": {"measured in the photo": value}})
        for value in (88.3, 70)
    )
    assert not [*_mistakes(near)] and [*_mistakes(far)] == [
        'A typical mistake ("measured in the photo") would give 70 instead.'
    ]


def test_an_angle_within_the_tolerance_by_way_of_its_period_is_no_mistake() -> None:
    azimuth = {"format": "numeric", "options": [], "answer": 175.0, "value": 175.0, "tolerance": 15.0}
    around, line = ({"evidence": {"traps": {"mirrored": value}}} for value in (-178.0, -3.0))
    for mistaken, period, counts in ((around, 360.0, 0), (line, 360.0, 1), (line, 180.0, 0), (around, None, 1)):
        params = {} if period is None else {"period": period}
        assert len([*_mistakes(a_question(**azimuth, **mistaken, scorer_params=params))]) == counts
