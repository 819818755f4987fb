"""Numbers as people write them, in the unit asked for."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.reading import Reading, Unreadable, read_number


@pytest.mark.parametrize(
    ("response", "unit", "value"),
    [
        ("5", "", 5.0),
        ("5.", "", 5.0),
        (".5", "", 0.5),
        ("+1915", "", 1915.0),
        ("−5", "deg", -5.0),
        ("-0.5", "", -0.5),
        ("minus five", "", -5.0),
        ("1,234", "", 1234.0),
        ("1,000,000", "", 1e6),
        ("1 915", "", 1915.0),
        ("1.234,5", "", 1234.5),
        ("1,234.5", "", 1234.5),
        ("1915,5", "", 1915.5),
        ("0,234", "", 0.234),
        ("1.9e3", "", 1900.0),
        ("1.5 × 10^3", "", 1500.0),
        ("2·10⁻²", "", 0.02),
        ("½", "", 0.5),
        ("1½", "", 1.5),
        ("3/4", "", 0.75),
        ("50%", "", 0.5),
        ("twenty-one", "", 21.0),
        ("two point five", "", 2.5),
        ("a hundred and five", "", 105.0),
        ("one and a half meters", "m", 1.5),
        ("half a meter", "m", 0.5),
        ("2 times", "", 2.0),
        ("2x", "", 2.0),
        ("1,234 mm", "m", 1.234),
        ("about 1.9 meters", "cm", 190.0),
        ("5 ft 8 in", "m", 1.7272),
        ("5'8\"", "m", 1.7272),
        ("0.5 rad", "deg", math.degrees(0.5)),
        ("12.5^\\circ", "deg", 12.5),
        ("**12°**", "deg", 12.0),
        ("500 cm (5 m)", "m", 5.0),
        ("500 cm (5 m)", "", 500.0),
        ("2.5 m (8.2 ft)", "m", 2.5),
        ("1915±10", "", 1915.0),
        ("\\boxed{12.5\\text{ m}}", "m", 12.5),
        ("<answer>1,200</answer>", "", 1200.0),
        ("<think>3 or 4</think>5", "", 5.0),
        ('{"answer": 5.2}', "m", 5.2),
        ('{"value": 520, "unit": "cm"}', "m", 5.2),
        ("At coordinates [389, 180] depth = 1915", "", 1915.0),
        ("Image 1: 5", "", 5.0),
        ("1. First, look.\n2. Then measure.\n\n**2.5 m**", "m", 2.5),
        ("Point 1 is 2 m away and point 2 is 4 m away, so the ratio is 2.", "", 2.0),
        ("At 30 degrees, it is 2 m away.", "m", 2.0),
        ("The answer is 5 m. No wait, it is 6 m.", "m", 6.0),
        ("<answer>5</answer> Correction: 6", "", 6.0),
        ("I cannot measure exactly, but the answer is about 3 m.", "m", 3.0),
        ("Distance: 2.5 meters.\nConfidence: 0.9", "m", 2.5),
        ("4.8 / 2.4 = 2", "", 2.0),
        ("The answer is not 5 but 6.", "", 6.0),
        ("１２", "", 12.0),
        ("310.10000000000002", "", 310.1),
        ("0.2" + "0" * 60 + " m", "m", 0.2),
    ],
)
def test_number(response: str, unit: str, value: float) -> None:
    reading = read_number(response, unit)
    assert isinstance(reading, Reading), reading
    assert reading.value == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    ("response", "unit", "reason"),
    [
        ("", "", "empty"),
        ("1900-1950", "", "ambiguous"),
        ("between 5 and 7 m", "m", "ambiguous"),
        ("<answer>2 to 3</answer>", "", "ambiguous"),
        ("5 m or 6 m", "m", "ambiguous"),
        ("30 degrees", "m", "nothing found"),
        ("2.5 m/s", "m", "nothing found"),
        ("1e999", "", "nothing found"),
        ("NaN", "", "nothing found"),
        ("9" * 5000, "", "nothing found"),
        ("I cannot determine the distance.", "m", "refused"),
        ("I cannot determine it; photo 1 shows 3 chairs.", "", "refused"),
        ("<answer>unknown</answer>", "", "refused"),
        ("a chair", "", "nothing found"),
    ],
)
def test_no_number(response: str, unit: str, reason: str) -> None:
    assert read_number(response, unit) == Unreadable(reason=reason)  # type: ignore[arg-type]


@settings(deadline=None)
@given(st.floats(-1e9, 1e9), st.sampled_from(["{}", "The answer is {} m.", "<answer>{}</answer>", "**{}**", "≈ {} m"]))
def test_a_number_is_read_as_written(value: float, style: str) -> None:
    reading = read_number(style.format(f"{value:.6f}"), "m")
    assert isinstance(reading, Reading)
    assert reading.value == pytest.approx(float(f"{value:.6f}"))


@settings(deadline=None)
@given(st.text(alphabet="0123456789.,-−eE/%°m ×x±~to()[]½\n", max_size=60))
def test_any_digits_give_a_finite_number_or_a_reason(text: str) -> None:
    reading = read_number(text, "m")
    assert isinstance(reading, Unreadable) or (isinstance(reading.value, float) and math.isfinite(reading.value))
