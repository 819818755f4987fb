"""How VLMEvalKit reads answers for EASI's benchmarks by rule: `can_match_option` and `can_match_na`; SITE and STARE.

Equal to vlmeval/dataset/utils/spatial_bench/matching_func.py, in time linear in the length of the response.
EASI reads in three steps: tags, extended rules (both here), and a language model; what none of them reads is wrong.
"""

import ast
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

from spatial_engine.scoring.accuracy import chance_adjusted, f1
from spatial_engine.scoring.reading.quantities import NUMBER_WORDS
from spatial_engine.scoring.scorers import Item, ScoredItem, Scorer, Totals, mean
from templates.answers.score import Score

_TAIL_LINES = 6
_TAIL = 800  # characters
_LITERAL = 100_000
"""Longer lists are not parsed."""
_INVISIBLE = re.compile("[\u200b\u200c\u200d\ufeff]")

_NUMBER = r"[-+]?(?:\d*\.\d+|\d+)(?:[eE][-+]?\d+)?"
_A_NUMBER = re.compile(_NUMBER)
_OPENING = r"<\s*+answer\b[^>]*+>"
_CLOSING = r"<\s*+/\s*+answer\s*+>"
_TAGGED_LETTER = re.compile(rf"{_OPENING}(?:\s*+([A-Ja-j]))?+", re.IGNORECASE)
_TAGGED_NUMBER = re.compile(rf"{_OPENING}(?:\s*+((?>{_NUMBER}))(?:[^\d<][^<]*+)?+{_CLOSING})?+", re.IGNORECASE)
_ANSWER_END = re.compile(_CLOSING, re.IGNORECASE)
_THINK_END = re.compile(r"</\s*+think\s*+>", re.IGNORECASE)
_THINK = re.compile(r"<\s*+think\s*+>", re.IGNORECASE)

_OPTION_LINE = re.compile(r"[*_>\-\s]*+(?:option|选项)\s++[A-J]\s*+[:：]", re.IGNORECASE)
_LONE_LETTER = re.compile(r"\s*+[*_`>（）\[\]【】()]*+\s*+([A-Fa-f])\s*+[*_`（）\[\]【】()]*+\s*+")
_LABEL = re.compile(r"\s*+([A-F])\s*+[.．:：)\]】、-]\s", re.IGNORECASE)
_STANDING_ALONE = re.compile(r"(?<![A-Za-z])([A-F])\s*[*_`）\]})]*(?=$|[\s.,:;!?)\]】》」』，。；、：）])")

_DIGITS = {word: str(number) for word, number in NUMBER_WORDS.items() if number <= 20}
_WORD = re.compile(rf"\b({'|'.join(_DIGITS)})\b", re.IGNORECASE)


_LETTER_WORD = re.compile(r"([A-F])\s*+[.:：)）]?+\s*+(yes|no)", re.IGNORECASE)
_STARE_TERMS = (
    ("2d_trans", "2d_trans_vsim"),
    ("3d_trans", "3d_trans_vsim"),
    ("folding_nets", "folding_nets_vsim"),
    ("tangram_puzzle", "tangram_puzzle_vsim"),
    ("temporal",),
    ("perspective",),
)
_STARE_YES_NO = _STARE_TERMS[2] + _STARE_TERMS[3]


class _Choice(Scorer):
    """A benchmark of choices."""

    def score(self, item: Item, response: str) -> Score:
        """1 if response and answer give the same letter; two that cannot be read are equal, as published."""
        letter = can_match_option(response)
        return Score(value=float(option_hit(response, item["answer"])), detail={"prediction": letter})


class Choices(_Choice):
    """Benchmarks of choices in EASI: MMSI-Bench, MindCube, OmniSpatial, SpatialViz-Bench."""

    source: ClassVar[str] = "accuracy of choices, read by rule as in VLMEvalKit (EASI)"
    fields: ClassVar[Mapping[str, str]] = {"answer": "the right letter"}

    def category(self, item: Item) -> str:
        """The field `category`."""
        return str(item.get("category", ""))


class Site(_Choice):
    """SITE-Bench in EASI."""

    source: ClassVar[str] = "chance-adjusted accuracy of choices, read by rule as in VLMEvalKit (EASI)"
    fields: ClassVar[Mapping[str, str]] = {"answer": "the right letter", "options": "the list of options"}

    def category(self, item: Item) -> str:
        """The field `category`."""
        return str(item.get("category", ""))

    def total(self, scored: Sequence[ScoredItem]) -> Totals:
        """Pooled over all items, never the mean of the categories; `accuracy` is without the adjustment."""
        return Totals(
            score=_above_chance(scored),
            categories={name: _above_chance(own) for name, own in self.groups(scored).items()},
            detail={"accuracy": mean(scored)},
        )


class Stare(_Choice):
    """STARE (arXiv 2506.04633) in EASI."""

    source: ClassVar[str] = "mean of six terms: accuracy, and F1 of cube nets and tangrams (VLMEvalKit)"
    fields: ClassVar[Mapping[str, str]] = {
        "question": 'with its options ("A. yes B. no")',
        "answer": "the right letter",
        "category": f"one of {', '.join(name for term in _STARE_TERMS for name in term)}",
    }

    def category(self, item: Item) -> str:
        """The field `category`, in lower case."""
        return str(item["category"]).strip().lower()

    def total(self, scored: Sequence[ScoredItem]) -> Totals:
        """The mean of six terms, each the mean of a category and its `_vsim` twin; `accuracy` is over all items.

        F1 leaves out answers that cannot be read, as published. A term without any score is left out.
        """
        found = {
            name: _stare_f1(own) if name in _STARE_YES_NO else mean(own) for name, own in self.groups(scored).items()
        }
        return Totals(
            score=_mean([_mean([found.get(name) for name in term]) for term in _STARE_TERMS]),
            categories=found,
            detail={"accuracy": mean(scored)},
        )


def can_match_option(response: object, choices: Sequence[object] | None = None) -> str | None:
    """The letter that a response gives, None where the original says False.

    `choices`: texts that begin with the allowed letters, from A to J; else A to F. In the first tag any letter from A
    to J counts ("<answer>chair" is C), and so do "A" in "A big dog" and a letter at the end of the reasoning.
    """
    if not isinstance(response, str):
        return None
    text = _INVISIBLE.sub("", response.strip())
    letters = _letters(tuple(str(choice) for choice in choices or ()))
    in_end, concluded, alone = _patterns(letters)
    if letter := _tagged_letter(text):
        return letter
    for pattern in in_end:
        if found := pattern.search(text[-_TAIL:]):
            return found[1].upper()
    for part in (_after_thought(text), text[-_TAIL:]):
        if letter := _from_lines(part.splitlines()[-_TAIL_LINES:]):
            return letter
    if found := concluded.search(text):
        return found[1].upper()
    kept = "\n".join(line for line in text.splitlines() if not _OPTION_LINE.match(line))
    standing = {match[1] for match in alone.finditer(kept)}
    return standing.pop() if len(standing) == 1 else None


def option_hit(
    response: object, answer: object, choices: Sequence[object] | None = None, *, strict: bool = False
) -> bool:
    """Whether response and answer give the same letter. As published, two that cannot be read are equal: a hit."""
    prediction, target = can_match_option(str(response)), can_match_option(str(answer).strip())
    if strict:
        allowed = _letters(tuple(map(str, choices))) if choices else prediction
        return prediction is not None and prediction == target and prediction in (allowed or "")
    return prediction == target


def can_match_na(response: object) -> float | None:
    """The number that a response gives: the one that begins an <answer>, else the last one after the reasoning, else
    the last of all. Of a list, its first element. Number words are read from zero to twenty, each by itself."""
    text = _first_of_list(response)
    if text is None:
        return None
    text = _WORD.sub(lambda word: _DIGITS.get(word[1].lower(), word[1]), _INVISIBLE.sub("", text.strip()))
    for match in _TAGGED_NUMBER.finditer(text, 0, text.rfind(">") + 1):
        if match[1] is not None:
            return float(match[1])
    last = _last(_A_NUMBER, _after_thought(text)) or _last(_A_NUMBER, text)
    return float(last[0]) if last else None


@lru_cache(maxsize=64)
def _letters(choices: tuple[str, ...]) -> str:
    first = {choice.strip().upper()[:1] for choice in choices if choice}
    return "".join(letter for letter in "ABCDEFGHIJ" if letter in first) or "ABCDEF"


@lru_cache(maxsize=64)
def _patterns(letters: str) -> tuple[tuple[re.Pattern[str], ...], re.Pattern[str], re.Pattern[str]]:
    """A letter right before </answer> and </think>, after words that conclude, and by itself.

    The original lets brackets and blanks stand before the letter: they change nothing, for only what is a letter
    itself must not stand there.
    """
    opening, closing = "[([{（【]", r"[)\]}）】]"
    before = rf"(?<![A-Za-z])([{letters}])\s*+{closing}?+\s*+</\s*+"
    ends = tuple(re.compile(rf"{before}{name}\s*+>", re.IGNORECASE) for name in ("answer", "think"))
    concluded = re.compile(
        r"(?:final\s*+answer|the\s*+answer\s*+is|answer(?:\s*is)?|correct\s*+answer"
        r"|答案|最终答案|结论|所以|因此|我选(?:择)?|选择|选)"
        rf"\s*+[:：>＝=]?+\s*+{opening}?+\s*+([{letters}])\s*{closing}?(?:\b|[.)、。])",
        re.IGNORECASE,
    )
    return ends, concluded, re.compile(rf"(?<![A-Za-z])([{letters}])(?![A-Za-z])")


def _tagged_letter(text: str) -> str | None:
    """Of the first tag that begins with a letter and is closed somewhere after it."""
    last_end = _last(_ANSWER_END, text)
    if last_end is None:
        return None
    for match in _TAGGED_LETTER.finditer(text, 0, text.rfind(">") + 1):
        if match[1] is not None and match.end() <= last_end.start():
            return match[1].upper()
    return None


def _from_lines(lines: Sequence[str]) -> str | None:
    """From the last line up: a letter that fills it, one that labels it, or the only one that stands alone in it."""
    for line in reversed([line.strip() for line in lines]):
        if _OPTION_LINE.match(line):
            continue
        if found := _LONE_LETTER.fullmatch(line) or _LABEL.match(line):
            return found[1].upper()
        standing = {match[1] for match in _STANDING_ALONE.finditer(line)}
        if len(standing) == 1:
            return standing.pop()
    return None


def _after_thought(text: str) -> str:
    border = _last(_THINK_END, text) or _last(_THINK, text)
    return text[border.end() :].strip() if border else text


def _first_of_list(response: object) -> str | None:
    if isinstance(response, list):
        return str(response[0]) if response else None
    text = str(response)
    stripped = text.strip()
    if not (isinstance(response, str) and stripped.startswith("[") and stripped.endswith("]")):
        return text
    if len(text) > _LITERAL:
        return None
    try:
        items = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return str(items[0]) if isinstance(items, list) and items else text


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Of the matches that do not overlap, from the left."""
    matches: Iterator[re.Match[str]] = pattern.finditer(text)
    return next(iter(deque(matches, maxlen=1)), None)


def option_words(question: str) -> dict[str, str]:
    """{"A": "yes", "B": "no"} of a question that says "A. yes B. no", as VLMEvalKit finds them: later ones win."""
    return {letter.upper(): word.lower() for letter, word in _LETTER_WORD.findall(_INVISIBLE.sub("", question))}


def _stare_f1(scored: Sequence[ScoredItem]) -> float | None:
    """F1 of letters that stand for yes and no; None where no answer can be read."""
    words = [
        (options.get(str(one.item["answer"]).upper()), options.get(str(one.score.detail.get("prediction"))))
        for one in scored
        for options in [option_words(str(one.item["question"]))]
    ]
    known = [(target, prediction) for target, prediction in words if target is not None]
    found = f1([target for target, _ in known], [prediction for _, prediction in known], unparsed="dropped")
    return None if found is None else found.value


def _above_chance(scored: Sequence[ScoredItem]) -> float:
    """An item without options counts as one of four."""
    return chance_adjusted([one.score.value for one in scored], [len(one.item["options"]) for one in scored]).value


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
