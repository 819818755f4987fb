"""Labels: a letter, yes or no, an order. Right: the true one."""

from math import factorial, inf

from spatial_engine.scoring import measures, reading
from spatial_engine.scoring.own.fault import Fault, fault_if_unfit
from spatial_engine.scoring.reading import Reading, Unreadable
from spatial_engine.scoring.score import Score
from templates.answer import Label, right
from templates.measured import Json
from templates.question import Question

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOST_PHOTOS = 100


def read_letter(question: Question, response: str) -> Reading | Unreadable:
    """The letter of an option. Options that are drawings are shown as pictures with a letter each."""
    return reading.read_choice(response, shown_options(question))


def shown_options(question: Question) -> list[str]:
    """The options in the words they are shown with."""
    with fault_if_unfit("options or media of another shape"):
        drawn = {medium["id"] for medium in question.media if medium.get("option")}
        pairs = list(zip(LETTERS, question.options, strict=False))
    return [f"Picture {letter}" if option in drawn else str(option) for letter, option in pairs]


def score_letter(question: Question, value: Json) -> Score:
    """1 for the right letter."""
    letters = LETTERS[: len(shown_options(question))]
    if not isinstance(question.answer, str) or len(question.answer) != 1 or question.answer not in letters:
        raise Fault("the right answer is none of the options")
    return _of_label(value if value in [*letters] else None, question.answer)


def chance_of_letter(question: Question) -> float:
    """1/k."""
    return 1 / max(1, len(shown_options(question)))


def read_yes_no(question: Question, response: str) -> Reading | Unreadable:
    """ "yes" or "no"."""
    return reading.read_yes_no(response)


def score_yes_no(question: Question, value: Json) -> Score:
    """1 for the right word."""
    if question.answer not in ("yes", "no"):
        raise Fault("the right answer is neither yes nor no")
    return _of_label(value if value in ("yes", "no") else None, question.answer)


def read_order(question: Question, response: str) -> Reading | Unreadable:
    """Numbers of photos."""
    return reading.read_order(response, len(_true_order(question)))


def score_order(question: Question, value: Json) -> Score:
    """1 for the right order; pairs in the right order and Kendall's tau in the detail."""
    order = _true_order(question)
    said = value if isinstance(value, list) and all(type(number) is int for number in value) else None
    if said is not None and len(said) > len(order) and said[0] not in order:
        said = said[1:]  # the photo whose place was given
    if said is None or sorted(said) != sorted(order):
        return Score(value=0.0, detail={"value": None, "right": order})
    graded = {"kendall_tau": measures.kendall_tau(said, order), "pairs_right": measures.pairs_right(said, order)}
    scored = _of_label(" ".join(map(str, said)), " ".join(map(str, order)))
    return Score(value=scored.value, detail={"value": said, "right": order, **graded})


def chance_of_order(question: Question) -> float:
    """1/n!."""
    return 1 / factorial(len(_true_order(question)))


def _true_order(question: Question) -> list[int]:
    order = question.answer
    if not isinstance(order, list) or not 0 < len(order) <= _MOST_PHOTOS or any(type(n) is not int for n in order):
        raise Fault("the right order is not a list of photo numbers")
    if len(set(order)) < len(order) or min(order) < 1:
        raise Fault("the right order names a photo twice")
    return order


def _of_label(said: str | None, truth: str) -> Score:
    is_right = said is not None and right(Label(text=said, margin=inf), Label(text=truth, margin=inf))
    return Score(value=float(bool(is_right)), detail={"value": said, "right": truth})
