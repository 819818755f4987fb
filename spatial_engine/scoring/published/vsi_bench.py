"""VSI-Bench (arXiv 2412.14171): choices and numbers, and the overall score as both harnesses compute it."""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from spatial_engine.errors import UsageError
from spatial_engine.scoring.published.vlmevalkit import can_match_na, option_hit
from spatial_engine.scoring.reading.quantities import NUMBER_WORDS
from spatial_engine.scoring.scorers import Item, ScoredItem, Scorer, Totals, mean
from templates.answers.measures import HARNESS_LIMITS, mean_relative_accuracy, share_met
from templates.answers.score import Score

Harness = Literal["lmms-eval", "vlmevalkit", "paper", "strict"]

NUMERIC = ("object_counting", "object_abs_distance", "object_size_estimation", "room_size_estimation")
DIRECTIONS = ("object_rel_direction_easy", "object_rel_direction_medium", "object_rel_direction_hard")
CHOICE = ("object_rel_distance", *DIRECTIONS, "route_planning", "obj_appearance_order")
_DIRECTION = "object_rel_direction"
_TYPES = (*NUMERIC, "object_rel_distance", _DIRECTION, "route_planning", "obj_appearance_order")
"""The eight types that the overall score is meant to average."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WORD = re.compile(r"[a-z]+")
_NUMERALS = NUMBER_WORDS.keys() | {"hundred", "thousand"}
_LARGEST = 10**300


class VsiBench(Scorer):
    """As lmms-eval computes it."""

    source: ClassVar[str] = "exact choice, mean relative accuracy of numbers, mean over eight types (lmms-eval)"
    fields: ClassVar[Mapping[str, str]] = {
        "question_type": f"one of {', '.join((*NUMERIC, *CHOICE))}",
        "ground_truth": "the number, or the letter of the right option",
    }
    harness: ClassVar[Harness] = "lmms-eval"

    def score(self, item: Item, response: str) -> Score:
        """From 0 to 1; 0 for what cannot be read, and for a true value that is no number."""
        kind, target = item["question_type"], str(item["ground_truth"])
        if kind in CHOICE:
            return Score(value=choice_score(response, target, self.harness), detail={"target": target})
        if kind not in NUMERIC:
            known = ", ".join((*NUMERIC, *CHOICE))
            raise UsageError(f"unknown question_type {str(kind)[:40]!r}", f"VSI-Bench has {known}")
        try:
            number = float(target)
        except ValueError:
            return Score(value=0.0, detail={"fault": "the ground_truth is no number"})
        prediction = extract_number(response) if self.harness == "lmms-eval" else can_match_na(response)
        return Score(value=number_score(prediction, number, self.harness), detail={"prediction": prediction})

    def category(self, item: Item) -> str:
        """The question type."""
        return str(item["question_type"])

    def total(self, scored: Sequence[ScoredItem]) -> Totals:
        """The mean over types of their means. The three difficulties of directions are first averaged to one type.

        Where one of the three is missing, lmms-eval stops with an error (a score of None), VLMEvalKit counts each that
        is there as a type, and strict averages those that are there. All average over the types that are there;
        `missing` names the others. lmms-eval rounds to six decimals.
        """
        means = {name: mean(group) or 0.0 for name, group in self.groups(scored).items()}
        known = [name for name in DIRECTIONS if name in means]
        if len(known) == len(DIRECTIONS) or (known and self.harness in ("paper", "strict")):
            means[_DIRECTION] = sum(means.pop(name) for name in known) / len(known)
        missing = [name for name in _TYPES if name not in means]
        overall: float | None = sum(means.values()) / len(means) if means else 0.0
        if self.harness == "lmms-eval":
            means = {name: round(value, 6) for name, value in means.items()}
            overall = None if _DIRECTION in missing or overall is None else round(overall, 6)
        return Totals(score=overall, categories=means, detail={"missing": missing})


class VsiBenchVlmevalkit(VsiBench):
    """As VLMEvalKit computes it."""

    source: ClassVar[str] = "the same, read by rule and averaged as in VLMEvalKit (EASI)"
    harness: ClassVar[Harness] = "vlmevalkit"


class VsiBenchPaper(VsiBench):
    """By the letter of the paper."""

    source: ClassVar[str] = "as literally defined in the paper: an error of exactly 10 % is not within 10 %"
    harness: ClassVar[Harness] = "paper"


class VsiBenchStrict(VsiBench):
    """Without loopholes."""

    source: ClassVar[str] = "the same, with a target of 0, negative targets and unreadable answers handled correctly"
    harness: ClassVar[Harness] = "strict"


def choice_score(response: str, target: str, harness: Harness) -> float:
    """1 if the response names the target's letter. lmms-eval: if its first token is the target, in any case."""
    if harness == "lmms-eval":
        return float(first_token(response).lower() == target.lower())
    return float(option_hit(response, target, strict=harness != "vlmevalkit"))


def number_score(prediction: float | None, target: float, harness: Harness) -> float:
    """Mean relative accuracy.

    lmms-eval   |p - t| / t in floats: every number meets a negative target, none meets 0
    vlmevalkit  |p - t| / |t| in floats, and |p| itself where t is 0
    paper       |p - t| / |t| < limit, exactly; 0 for a target of 0
    strict      |p - t| / |t| <= limit, exactly; |p| where t is 0
    """
    if prediction is None:
        return 0.0
    if harness == "lmms-eval":
        return share_met(abs(prediction - target) / target, HARNESS_LIMITS) if target else 0.0
    if harness == "vlmevalkit":
        return share_met(abs(prediction - target) / (abs(target) or 1.0), HARNESS_LIMITS)
    if harness == "paper":
        return mean_relative_accuracy(prediction, target, inclusive=False) if target else 0.0
    return mean_relative_accuracy(prediction, target)


def first_token(response: str) -> str:
    """The text before the first blank, without dots at its end. Line breaks do not count as blanks."""
    return response.partition(" ")[0].rstrip(".").strip()


def extract_number(response: str | None) -> float | None:
    """lmms-eval: whichever comes first, digits or a run of English number words ("twenty-one", "one thousand two
    hundred"; "and" may stand between). Commas end a number: "1,234" is 1."""
    text = (response or "").strip().lower()
    digits = _NUMBER.search(text)
    start, run = _number_words(text)
    if digits and (start is None or digits.start() < start):
        return float(digits[0])
    return _spoken(run) if run else None


def _number_words(text: str) -> tuple[int | None, list[str]]:
    """Where the first number word begins, and the run of them that begins there."""
    start: int | None = None
    run: list[str] = []
    for word in _WORD.finditer(text):
        if word[0] in _NUMERALS:
            start = word.start() if start is None else start
            run.append(word[0])
        elif run and word[0] != "and":
            break
    return start, run


def _spoken(run: Sequence[str]) -> float | None:
    """The number that words say; None beyond all floats."""
    total = current = 0
    for word in run:
        if word == "hundred":
            current = max(current, 1) * 100
        elif word == "thousand":
            total, current = total + max(current, 1) * 1000, 0
        else:
            current += NUMBER_WORDS[word]
        if total + current > _LARGEST:
            return None
    return float(total + current)
