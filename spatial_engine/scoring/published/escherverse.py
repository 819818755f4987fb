"""EscherVerse: choices, true / false and gaps, by its paper (Listing 1), its repository (eval/evaluate.py), and strict.

Which of the two made the published table is not known: report both. The overall score is the mean, halves included.
"""

import difflib
import re
from collections.abc import Mapping, Sequence, Set
from typing import ClassVar, Literal

from spatial_engine.scoring.reading.conclusion import conclusion, marked, plain
from spatial_engine.scoring.scorers import Item, Scorer
from templates.answers.score import Score

Variant = Literal["paper", "repository", "strict"]

_LONGEST = 10_000
"""Characters; longer answers to gaps have a similarity of 0."""
_OPEN, _CLOSE = re.compile("<answer>", re.IGNORECASE), re.compile("</answer>", re.IGNORECASE)
_LETTER = re.compile(r"\b([A-D])\b", re.IGNORECASE)
_WORD_INITIAL = re.compile(r"\b([A-D])", re.IGNORECASE)
_TRUTH = re.compile(r"\b(not\s+)?(true|false)\b", re.IGNORECASE)
_EDGES = " \t\n.,;:!?\"'`*_()[]"


class EscherVerse(Scorer):
    """As the paper has it (Listing 1)."""

    source: ClassVar[str] = (
        "choices, true / false, and fill-in-the-blank; a nearly correct blank scores 0.5 (paper, Listing 1)"
    )
    fields: ClassVar[Mapping[str, str]] = {
        "A": "the answer",
        "question_type": "Single-Choice, Multiple-Select, True/False or Fill-in-the-Blank",
    }
    variant: ClassVar[Variant] = "paper"

    def score(self, item: Item, response: str) -> Score:
        """1, 0.5 or 0."""
        return escherverse(response, str(item["A"]), str(item["question_type"]), self.variant)

    def category(self, item: Item) -> str:
        """The field `C`."""
        return str(item.get("C", ""))


class EscherVerseRepository(EscherVerse):
    """As the repository computes it."""

    source: ClassVar[str] = "the same as the repository computes it (eval/evaluate.py)"
    variant: ClassVar[Variant] = "repository"


class EscherVerseStrict(EscherVerse):
    """Without loopholes."""

    source: ClassVar[str] = (
        "the same for the last answer outside the reasoning; empty or contradictory answers are wrong"
    )
    variant: ClassVar[Variant] = "strict"


def escherverse(response: str, answer: str, question_type: str, variant: Variant = "paper") -> Score:
    """1, 0.5 (a gap nearly right) or 0. `detail`: both answers as read, and for gaps the method and the similarity.

    repository  letters begin words ("box" is B), "true or false" is always right, and in gaps any text that lies in
                the truth, or the truth in it, is fully right: an empty one, "clockwise" for "counterclockwise"
    paper       letters stand alone, true and false are exact, gaps are exact or similar
    strict      as the paper, of the last answer outside the reasoning; nothing empty or contradictory is right
    """
    prediction, right = (_concluded(response) if variant == "strict" else answer_text(response)), answer.strip()
    if question_type in ("Single-Choice", "Multiple-Select"):
        return _choice(prediction, right, several=question_type == "Multiple-Select", variant=variant)
    if question_type == "True/False":
        return _true_false(prediction, right, variant)
    if question_type == "Fill-in-the-Blank":
        return _gap(prediction, right, variant)
    return _scored(float(_collapsed(prediction) == _collapsed(right)), prediction, right, method="hard_match")


def answer_text(response: str) -> str:
    """The content of the first <answer> block, else the whole response; stripped."""
    opened = _OPEN.search(response)
    closed = _CLOSE.search(response, opened.end()) if opened else None
    return response[opened.end() : closed.start()].strip() if opened and closed else response.strip()


def letters(text: str, variant: Variant = "paper") -> list[str]:
    """Letters from A to D in the order of their first appearance, upper case: standing alone, or beginning any word."""
    pattern = _WORD_INITIAL if variant == "repository" else _LETTER
    return list(dict.fromkeys(letter.upper() for letter in pattern.findall(text)))


def similarity(prediction: str, truth: str, variant: Variant = "paper") -> float:
    """paper: 0.6 · Jaccard of words + 0.4 · difflib; repository: 0.5, 0.3, and 0.2 · Jaccard of three characters.

    Not symmetric. Of texts beyond 10 000 characters 0.
    """
    a, b = prediction.lower(), truth.lower()
    if variant == "repository":
        a, b = a.strip(), b.strip()
    if max(len(a), len(b)) > _LONGEST or (variant == "repository" and not (a and b)):
        return 0.0
    words = _jaccard(set(a.split()), set(b.split()))
    sequence = difflib.SequenceMatcher(None, a, b).ratio()
    if variant != "repository":
        return 0.6 * words + 0.4 * sequence
    return 0.5 * words + 0.3 * sequence + 0.2 * _jaccard(_trigrams(a), _trigrams(b))


def _choice(prediction: str, right: str, *, several: bool, variant: Variant) -> Score:
    found, truth = letters(prediction, variant), letters(right, variant)
    if variant == "repository":
        # without any letter, the texts themselves are compared
        texts = [_listed(each, several) or text for each, text in ((found, prediction), (truth, right))]
        return _scored(float(texts[0] == texts[1] or (not several and texts[0].upper() == texts[1].upper())), *texts)
    if several:
        hit = set(found) == set(truth) and bool(truth or variant == "paper")
        return _scored(float(hit), ",".join(sorted(found)), ",".join(sorted(truth)))
    hit = bool(truth) and found[:1] == truth[:1] and (variant == "paper" or len(found) == 1)
    return _scored(float(hit), _listed(found, several), _listed(truth, several))


def _true_false(prediction: str, right: str, variant: Variant) -> Score:
    if variant == "repository":
        pairs = [(word in _collapsed(prediction), word in _collapsed(right)) for word in ("true", "false")]
        names = ["True" if pairs[0][side] else "False" for side in (0, 1)]
        return _scored(float(any(a and b for a, b in pairs)), *names)
    if variant == "paper":
        return _scored(float(_collapsed(prediction) == _collapsed(right)), prediction, right)
    values = {(word.lower() == "true") != bool(negated) for negated, word in _TRUTH.findall(prediction)}
    value = str(values.pop()).lower() if len(values) == 1 else ""
    return _scored(float(value == _collapsed(right)), value, right)


def _gap(prediction: str, right: str, variant: Variant) -> Score:
    if variant == "strict":
        prediction, right = prediction.strip(_EDGES), right.strip(_EDGES)
        if not prediction:
            return _scored(0.0, prediction, right, method="empty", similarity=0.0)
    a, b = _collapsed(prediction), _collapsed(right)
    if variant == "repository" and a != b and (a in b or b in a):
        return _scored(1.0, prediction, right, method="substring_match", similarity=1.0)
    if a == b:
        likeness = 1.0 if variant == "repository" else similarity(prediction, right, variant)
        return _scored(1.0, prediction, right, method="hard_match", similarity=likeness)
    likeness = similarity(prediction, right, variant)
    near = likeness >= (0.75 if variant == "repository" else 0.8)
    return _scored(0.5 * near, prediction, right, method="similarity", similarity=likeness)


def _concluded(response: str) -> str:
    text = conclusion(response)
    places = marked(text)
    return plain(places[-1].text if places else text)


def _scored(value: float, prediction: str, right: str, **detail: str | float) -> Score:
    return Score(value=value, detail={"prediction": prediction[:_LONGEST], "truth": right[:_LONGEST], **detail})


def _listed(found: Sequence[str], several: bool) -> str:
    return ",".join(sorted(found)) if several else "".join(found[:1])


def _collapsed(text: str) -> str:
    return " ".join(text.lower().split())


def _trigrams(text: str) -> set[str]:
    return {text[i : i + 3] for i in range(len(text) - 2)}


def _jaccard(a: Set[str], b: Set[str]) -> float:
    return len(a & b) / len(a | b) if a | b else 0.0
