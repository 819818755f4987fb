"""Every ordinary style of answer is read, no refusal is credited, and a reader never guesses."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.reading import Reading, Unreadable, read_choice

_SPEC = importlib.util.spec_from_file_location("styles", Path(__file__).with_name("styles.py"))
assert _SPEC and _SPEC.loader
styles = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(styles)

THINGS = styles.OPTION_SETS["things"]
LETTERS = "ABCD"


@pytest.mark.parametrize("options", styles.OPTION_SETS.values(), ids=styles.OPTION_SETS)
@pytest.mark.parametrize("corpus", ["STYLES", "HELD_OUT", "SECOND_HELD_OUT", "THIRD_HELD_OUT"])
def test_every_style_is_read(corpus: str, options: tuple[str, ...]) -> None:
    wrong = []
    for style in getattr(styles, corpus):
        for right, letter in (*enumerate(LETTERS),)[:: 1 if options is THINGS else 3]:
            reading = read_choice(styles.filled(style, options, right), options)
            if not isinstance(reading, Reading) or reading.value != letter:
                wrong.append((style, letter, reading))
    assert not wrong


@pytest.mark.parametrize("options", styles.OPTION_SETS.values(), ids=styles.OPTION_SETS)
@pytest.mark.parametrize(
    "corpus",
    [
        "REFUSALS",
        "HELD_OUT_REFUSALS",
        "SECOND_HELD_OUT_REFUSALS",
        "THIRD_HELD_OUT_REFUSALS",
    ],
)
def test_no_refusal_is_credited(corpus: str, options: tuple[str, ...]) -> None:
    credited = [text for text in getattr(styles, corpus) if isinstance(read_choice(text, options), Reading)]
    assert set(credited) <= {ANSWERED_ALL_THE_SAME}


ANSWERED_ALL_THE_SAME = '{"answer": "A", "alternative_answer": "B", "note": "cannot decide"}'
"""Called a refusal by who wrote it; its answer is A, and is read so."""


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        (ANSWERED_ALL_THE_SAME, "A"),
        ("The answer is A. The alternative answer is B.", "A"),
        ("It is B; no other option is correct.", "B"),
        ("The other options are wrong. A the answer.", "A"),
        ("**Q:** A or B?\n**A:** B", "B"),
        ("~~A~~ B", "B"),
        ("Let's go with option C.", "C"),
        ("Start with option A: too far. So it is B.", "B"),
        ("If I had to choose, B would be right.", "B"),
    ],
)
def test_the_option_that_is_meant(response: str, letter: str) -> None:
    reading = read_choice(response, THINGS)
    assert isinstance(reading, Reading) and reading.value == letter


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("I cannot determine the answer.", "refused"),
        ("The answer is B. Actually, no: I cannot determine it.", "refused"),
        ("The answer is A or C.", "ambiguous"),
        ("A. chair\nB. table", "ambiguous"),
        ("The answer is B. chair", "ambiguous"),
        ("Answer: E", "nothing found"),
        ("<think>The answer is B", "nothing found"),
        ("A big dog stands there.", "nothing found"),
        ("SOFAS", "nothing found"),
    ],
)
def test_the_reason_says_why(response: str, reason: str) -> None:
    assert read_choice(response, THINGS) == Unreadable(reason=reason)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("response", "how"), [("<answer>B</answer>", "tags"), ('{"answer": "B"}', "tags"), ("Answer: B", "rules")]
)
def test_how_it_was_found(response: str, how: str) -> None:
    assert read_choice(response, THINGS) == Reading(value="B", how=how)  # type: ignore[arg-type]


def test_an_option_that_sounds_like_a_refusal_is_an_option() -> None:
    options = ("left", "right", "cannot be determined", "none of the above")
    assert read_choice("It cannot be determined.", options) == Reading(value="C", how="rules")
    assert read_choice("None of the above.", options) == Reading(value="D", how="rules")


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("It can't be determined, as photo 2 does not reach that far.", "B"),
        ("So the answer is that it cannot be determined.", "B"),
        ("One might say that it cannot be determined, but the answer is Point 2.", "C"),
        ("It cannot be determined: photo 2 does not show it.", "B"),
    ],
)
def test_the_start_of_an_option_that_abstains_names_it(response: str, letter: str) -> None:
    options = ("Point 1", "It cannot be determined: photo 2 does not show it.", "Point 2")
    assert read_choice(response, options) == Reading(value=letter, how="rules")
    assert read_choice("I am sorry, I cannot help with that.", options) == Unreadable(reason="refused")


def test_yes_and_no_as_options() -> None:
    assert read_choice("yes i know it is in front of it", ("Yes", "No")) == Reading(value="A", how="rules")
    assert read_choice("no i do not think so", ("Yes", "No")) == Reading(value="B", how="rules")


def test_what_options_share_need_not_be_said() -> None:
    assert read_choice("3", styles.OPTION_SETS["points"]) == Reading(value="C", how="rules")
    assert read_choice("Point A in photo 1 is Point 3.", styles.OPTION_SETS["points"]) == Reading(
        value="C", how="rules"
    )


def test_words_in_an_option_do_not_name_a_shorter_one() -> None:
    assert read_choice("It is the wooden desk.", ("desk", "wooden desk")) == Reading(value="B", how="rules")


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(1, 9))
def test_any_text_gives_a_letter_of_the_options_or_a_reason(text: str, count: int) -> None:
    reading = read_choice(text, [f"option {place}" for place in range(count)])
    assert isinstance(reading, Unreadable) or reading.value in "ABCDEFGHI"[:count]


IN_WORDS = [style for style in (*styles.STYLES, *styles.HELD_OUT) if "{L}" not in style and "{l}" not in style]


@settings(deadline=None)
@given(st.permutations(range(4)), st.sampled_from(IN_WORDS), st.integers(0, 3))
def test_letters_follow_the_options(order: list[int], style: str, right: int) -> None:
    """The same reply in words means the same option wherever it stands."""
    options = [THINGS[place] for place in order]
    reading = read_choice(styles.filled(style, THINGS, right), options)
    assert isinstance(reading, Reading)
    assert options[LETTERS.index(str(reading.value))] == THINGS[right]


@settings(deadline=None)
@given(st.lists(st.text(max_size=20), max_size=30), st.text(max_size=40))
def test_any_options_are_borne(options: list[str], text: str) -> None:
    read_choice(text, options)
