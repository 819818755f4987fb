"""Yes and no, objects, points, orders and plans."""

import time
from collections.abc import Callable
from typing import Any

import json_repair
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.reading import (
    Reading,
    Unreadable,
    conclusion,
    read_choice,
    read_number,
    read_object,
    read_order,
    read_plan,
    read_point,
    read_yes_no,
)
from spatial_engine.scoring.reading.json_object import objects

NAMES = ("roll", "pitch", "vfov")
RIGHT = {"roll": 2.5, "pitch": -10.0, "vfov": 60.0}


def value(reading: Reading | Unreadable) -> Any:
    return reading.value if isinstance(reading, Reading) else reading.reason


@pytest.mark.parametrize(
    ("response", "kept"),
    [
        ("B", "B"),
        ("<think>A</think>B", "B"),
        ("<THINKING>A</THINKING> B", "B"),
        ("A</think>B", "B"),
        ("B <think>A", "B"),
        ("<think>A", ""),
        ("<think>a <think> b</think> c</think>B", "B"),
        ("[THINK]A[/THINK]B", "B"),
        ("B<|im_end|>", "B"),
        ("B\u200b", "B"),
    ],
)
def test_conclusion(response: str, kept: str) -> None:
    assert conclusion(response) == kept


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ("Yes", "yes"),
        ("No.", "no"),
        ("**No**, it is static.", "no"),
        ("Yes, I know.", "yes"),
        ("Yes, it cannot be seen.", "yes"),
        ("Yes. Nothing else.", "yes"),
        ("Yes - the knob", "yes"),
        ("Absolutely yes! Nobody else", "yes"),
        ("I say yes now", "yes"),
        ("nope", "no"),
        ("No\nYes", "yes"),
        ("no yes", "yes"),
        ("No. Wait, yes.", "yes"),
        ("There is no obstacle, so yes.", "yes"),
        ("It is no. No other answer fits.", "no"),
        ("It is yes. None of the other options is correct.", "yes"),
        ("It does not.", "no"),
        ("It doesn't.", "no"),
        ("It does.", "yes"),
        ("**That is correct.**", "yes"),
        ("Incorrect.", "no"),
        ("<answer>It does not.</answer>", "no"),
        ("Answer: that is not correct.", "no"),
        ("It does?", "nothing found"),
        ("I do not", "nothing found"),
        ("It does not say.", "nothing found"),
        ("It does not matter, I cannot tell.", "refused"),
        ("No answer fits.", "refused"),
        ("No other answer fits.", "nothing found"),
        ("Ja", "nothing found"),
        ("Nein.", "nothing found"),
        ("The answer is yes; there is no doubt.", "yes"),
        ("<answer>No</answer>", "no"),
        ("<answer>No, it does not move.</answer>", "no"),
        ("\\boxed{\\text{No}}", "no"),
        ("<think>no obstacles</think> yes", "yes"),
        ('{"answer": "yes"}', "yes"),
        ("Answer: **Yes**", "yes"),
        ("ＹＥＳ", "yes"),
        ("是", "yes"),
        ("否", "no"),
        ("True", "yes"),
        ("Yes or no? No.", "no"),
        ("yes or no", "ambiguous"),
        ("Yes/No", "ambiguous"),
        ("unknown", "refused"),
        ("I do not know", "refused"),
        ("No idea.", "refused"),
        ("No, I cannot determine that.", "refused"),
        ("No image was given.", "refused"),
        ("another", "nothing found"),
        ("The eyes are visible", "nothing found"),
        ("There is no obstacle.", "nothing found"),
        ("", "empty"),
    ],
)
def test_yes_no(response: str, said: str) -> None:
    assert value(read_yes_no(response)) == said


@pytest.mark.parametrize(
    "response",
    [
        '{"roll": 2.5, "pitch": -10, "vfov": 60}',
        '```json\n{"roll": 2.5, "pitch": -10, "vfov": 60,}\n```',
        "{'roll': 2.5, 'pitch': -10, 'vfov': 60}",
        "{roll: 2.5, pitch: -10, vfov: 60}",
        '{"Roll": "2.5°", "Pitch": "-10 degrees", "VFOV": +60}',
        '{"roll_deg": 2.5, "pitch_deg": -10.0, "vfov_deg": 60.0}',
        '{"answer": {"roll": [2.5], "pitch": -10, "vfov": 60}}',
        '{"roll"：2.5, "pitch"：-10, "vfov"：60}',
        '{"roll": 1, "pitch": 2, "vfov": 3} No: {"roll": 2.5, "pitch": -10, "vfov": 60}',
        '<think>{"roll": 9, "pitch": 9, "vfov": 9}</think>{"roll": 2.5, "pitch": -10, "vfov": 60}',
        '{"roll": 2.5, // a note\n"pitch": -10, "vfov": 60}',
        "roll: 2.5, pitch: -10, vfov: 60",
        "roll is 2.5, pitch is −10 and vfov is 60",
        "controll: 7, roll: 2.5, pitch: -10, vfov: 60",
        "- **Roll**: 2.5°\n- **Pitch**: −10°\n- **Vertical field of view**: 60°",
        "| roll | 2.5 |\n| pitch | -10 |\n| vfov | 60 |",
        "roll: 2.5" + "0" * 60 + ", pitch: -10, vfov: 60",
        '{"roll": "2.5' + "0" * 60 + '", "pitch": -10, "vfov": 60}',
    ],
)
def test_object(response: str) -> None:
    assert value(read_object(response, NAMES)) == RIGHT


@pytest.mark.parametrize(
    "response",
    ["[2.5, -10, 60]", '{"roll": 2.5, "pitch": -10}', '{"roll": NaN, "pitch": -10, "vfov": 60}',
     '{"roll": true, "pitch": -10, "vfov": 60}', '{"roll": null, "pitch": -10, "vfov": 60}', "42",
     '{"roll": 1e400, "pitch": -10, "vfov": 60}', '{"roll": 1' + "0" * 5000 + ', "pitch": -10, "vfov": 60}'],
)  # fmt: skip
def test_no_object(response: str) -> None:
    assert value(read_object(response, NAMES)) == "nothing found"


@pytest.mark.parametrize(
    ("written", "roll"),
    [("−2.5", -2.5), ("+2.5", 2.5), (".5", 0.5), ("2.", 2.0), ("2 500", 2500.0), ("2,500", 2500.0), ("1,5", 1.5),
     ("~2.5", 2.5), ("2.5°", 2.5), ("2.5 degrees", 2.5), ("2.5 // a note\n", 2.5), ("2.5 or 3", None), ("3-4", None),
     ("1.5.2", None), ("NaN", None), ("?", None), ("<number>", None), ("9" * 5000, None)],
)  # fmt: skip
def test_values_that_are_no_json_are_read_whole_or_not_at_all(written: str, roll: float | None) -> None:
    """Where a value stands without quotes: json_repair alone makes 2.5 of "−2.5", 2 of "2 500", 2.5 of "2.5 or 3"."""
    found = read_object(f'{{"roll": {written}, "pitch": 1}}', ["roll", "pitch"])
    assert value(found) == ("nothing found" if roll is None else {"roll": roll, "pitch": 1.0})


def test_counts_that_are_no_numbers_are_no_plan() -> None:
    assert value(read_plan('{"actions": ["W", "D"], "step_nums": [1+2]}')) == "nothing found"
    assert value(read_plan('{"actions": ["W" "D"], "step_nums": [1, 2]}'))["step_nums"] == [1, 2]


def test_what_the_library_trips_over_is_no_object() -> None:
    text = "{'```json(,```json}"
    with pytest.raises(AssertionError):  # of json_repair; as soon as it no longer does, find another text
        json_repair.loads(text, skip_json_loads=True)
    assert list(objects(text)) == []


def test_units_in_an_object_are_converted() -> None:
    assert value(read_object('{"roll": "0.5 rad"}', ["roll"], unit="deg"))["roll"] == pytest.approx(28.6478898)


@pytest.mark.parametrize(
    ("response", "xy"),
    [
        ("[100, 50]", [100, 50]),
        ("(100, 50)", [100, 50]),
        ("100, 50", [100, 50]),
        ("100 50", [100, 50]),
        ('{"x": 100, "y": 50}', [100, 50]),
        ('[{"point_2d": [100, 50], "label": "A"}]', [100, 50]),
        ('{"bbox_2d": [90, 40, 110, 60]}', [100, 50]),
        ("<|box_start|>(90,40),(110,60)<|box_end|>", [100, 50]),
        ('<point x="38.37" y="36.81" alt="cup">cup</point>', [0.3837 * 639, 0.3681 * 479]),
        ('<point x="100" y="50" alt="A">', [639, 239.5]),
        ('<point x="101" y="50">', [101, 50]),
        ('<points x1="50" y1="0.5" alt="cups">cups</points>', [319.5, 0.005 * 479]),
        ('<points x1="10" y1="20" x2="30" y2="40" alt="cups">cups</points>', "ambiguous"),
        ('<answer><point x="50" y="50">it</point></answer>', [319.5, 239.5]),
        ("<point>100 50</point>", [100, 50]),
        ("x = 100 pixels, y = 50 pixels", [100, 50]),
        ("y: 50, x: 100", [100, 50]),
        ("<answer>[100, 50]</answer>", [100, 50]),
        ("\\boxed{(100, 50)}", [100, 50]),
        ("It was at [1, 2] in photo 1.\n\n[100, 50]", [100, 50]),
        ("The point appears at approximately [100, 50].", [100, 50]),
        ("[100, 50] rather than (1, 1).", [100, 50]),
        ("[100, 50] in a 640, 480 image", [100, 50]),
        ("0.5, 0.25", [319.5, 119.75]),
        ("[.5, .25]", [319.5, 119.75]),
        ("(50%, 25%)", [319.5, 119.75]),
        ("[800, 250]", [511.2, 119.75]),
        ("[500, 250] (on a scale of 0 to 1000)", [319.5, 119.75]),
        ("[1, 1]", [1, 1]),
        ("<answer>[310.10000000000002, 221.2]</answer>", [310.1, 221.2]),
        ("[310.1" + "0" * 39 + ", 221.2]", [310.1, 221.2]),
        ("[0.50000000000000011, 0.25]", [319.5, 119.75]),
        ("x: 1e99999, y: 1", "nothing found"),
        ("[" + "9" * 400 + ", 1]", "nothing found"),
        ("[1." + "0" * 5000 + ", 1]", "nothing found"),
        ("[NaN, 1]", "nothing found"),
        ("[1.2.3, 4]", "nothing found"),
        ("[50, 60], [70, 80]", "ambiguous"),
        ("<answer>[50, 60], [70, 80]</answer>", "ambiguous"),
        ("I cannot find it.", "refused"),
        ("[]", "nothing found"),
        ("42", "nothing found"),
    ],
)
def test_point(response: str, xy: Any) -> None:
    assert value(read_point(response, 640, 480)) == (xy if isinstance(xy, str) else pytest.approx(xy))


@pytest.mark.parametrize(
    ("response", "order"),
    [
        ("[3, 2, 5, 4]", [3, 2, 5, 4]),
        ("3, 2, 5, 4", [3, 2, 5, 4]),
        ("3 2 5 4", [3, 2, 5, 4]),
        ("3-2-5-4", [3, 2, 5, 4]),
        ("3254", [3, 2, 5, 4]),
        ("photo 3 -> photo 2 -> photo 5 -> photo 4", [3, 2, 5, 4]),
        ("First photo 3, then photo 2, then photo 5, and finally photo 4.", [3, 2, 5, 4]),
        ("1, 3, 2, 5, 4", [3, 2, 5, 4]),
        ('{"order": [3, 2, 5, 4]}', [3, 2, 5, 4]),
        ("1. Photo 3\n2. Photo 2\n3. Photo 5\n4. Photo 4", [3, 2, 5, 4]),
        ("First: photo 3\nSecond: photo 2\nThird: photo 5\nFourth: photo 4", [3, 2, 5, 4]),
        ("C, B, E, D", [3, 2, 5, 4]),
        ("three, two, five, four", [3, 2, 5, 4]),
        ("Given are 2, 3, 4, 5. The order is 3, 2, 5, 4.", [3, 2, 5, 4]),
        ("<answer>[3, 2, 5, 4]</answer>", [3, 2, 5, 4]),
        ("[2, 3, 4, 5] or [3, 2, 5, 4]", "ambiguous"),
        ("3, 2, 5", "nothing found"),
        ("3, 3, 5, 4", "nothing found"),
        ("I cannot tell.", "refused"),
    ],
)
def test_order(response: str, order: Any) -> None:
    assert value(read_order(response, 4)) == order


PLAN = {"actions": ["Truck Left", "Dolly In"], "step_nums": [2, 4]}


@pytest.mark.parametrize(
    "response",
    [
        '{"actions": ["Truck Left", "Dolly In"], "step_nums": [2, 4]}',
        '```json\n{"actions": ["A", "W"], "step_nums": ["2", 4.0]}\n```',
        "{'actions': ('truck_left', 'dolly in'), 'step_nums': (2, 4)}",
        '{"actions": [], "step_nums": []} No: {"actions": ["A", "W"], "step_nums": [2, 4]}',
        '<think>{"actions": ["S"], "step_nums": [9]}</think>{"actions": ["A", "W"], "step_nums": [2, 4]}',
        '{"plan": [{"action": "Truck Left", "steps": 2}, {"action": "Dolly In", "steps": 4}]}',
        '{"Truck Left": 2, "Dolly In": 4}',
        "Truck Left 2, Dolly In 4",
        "Truck Left: 2 steps\nDolly In: 4 steps",
        "2 x Truck Left and 4 x Dolly In",
        "Truck Left 2.0, Dolly In 4.00000000000000000",
    ],
)
def test_plan(response: str) -> None:
    assert value(read_plan(response)) == PLAN


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ('{"actions": ["A"]}', "nothing found"),
        ('{"actions": ["A", "W"], "step_nums": [1]}', "nothing found"),
        ('{"actions": ["A"], "step_nums": [NaN]}', "nothing found"),
        ('{"actions": ["A"], "step_nums": [true]}', "nothing found"),
        ('{"actions": [["A"]], "step_nums": [1]}', "nothing found"),
        ("{}", "nothing found"),
        ("Truck Left 2000, Dolly In 4", "nothing found"),
        ("2000 x Truck Left, 4 x Dolly In", "nothing found"),
        ("I cannot plan that, I am unable to see.", "refused"),
        ("", "empty"),
    ],
)
def test_no_plan(response: str, reason: str) -> None:
    assert value(read_plan(response)) == reason


def test_unknown_actions_stay_as_they_stand() -> None:
    assert value(read_plan('{"actions": ["fly"], "step_nums": [1]}')) == {"actions": ["fly"], "step_nums": [1]}


READERS: dict[str, Callable[[str], Reading | Unreadable]] = {
    "choice": lambda text: read_choice(text, ("chair", "table", "desk", "sofa")),
    "yes_no": read_yes_no,
    "number": lambda text: read_number(text, "m"),
    "object": lambda text: read_object(text, NAMES),
    "point": lambda text: read_point(text, 640, 480),
    "order": lambda text: read_order(text, 4),
    "plan": read_plan,
}
PIECES = (
    "A ", "(", "[", "{", '{"a":', "[[", "1,", "1 ", "-1 ", "(1,2)", "1e9", "9", "the answer is ", "not ", "wait, ",
    "\\boxed{", "<answer>", "<think>", "</think>", "<answer>A</answer>", "**", '"', "x=1 ", "roll: ", "yes ", "B\n",
    "Truck Left ", "\x00", "\ud800", "½", "hundred", "one and ", "I think ", "A, ", "1/", "a.", " ", "\n", "{a:1,",
    ".5", "1.1e", "[1.", "<point x=", "~~a", "Q:\n", "A: 1,",
)  # fmt: skip


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_hostile_replies_are_read_in_time(reader: Callable[[str], Reading | Unreadable]) -> None:
    started = time.process_time()
    for piece in PIECES:
        reader(piece * (3_000 // len(piece)))
    assert time.process_time() - started < 5


def test_ten_megabytes_are_read_in_time() -> None:
    started = time.process_time()
    assert value(read_choice("so " * 3_500_000 + "\nB", ("a thing", "a place"))) == "B"
    assert value(read_number("<think>" + "1 " * 5_000_000 + "</think>5")) == 5.0
    assert value(read_object("{" * 3_000_000, NAMES)) == "nothing found"
    assert time.process_time() - started < 6


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_only_thought_is_no_answer(reader: Callable[[str], Reading | Unreadable]) -> None:
    thought = '<think>Yes. The answer is B: 5, [1, 2], [1, 2, 3, 4], {"roll": 1, "pitch": 2, "vfov": 3}'
    assert isinstance(reader(thought), Unreadable)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_any_text_is_borne(reader: Callable[[str], Reading | Unreadable], text: str) -> None:
    assert isinstance(reader(text), Reading | Unreadable)


@settings(max_examples=60, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
                        st.sampled_from(["roll", "pitch", "vfov", "actions", "step_nums", "x", "y", "answer"]),
                        inner, max_size=4), max_leaves=20))  # fmt: skip
def test_any_json_is_borne(found: Any) -> None:
    import json

    text = json.dumps(found)
    for reader in READERS.values():
        assert isinstance(reader(text), Reading | Unreadable)
