"""SITE-Bench, MindCube and OmniSpatial as lmms-eval scores them: how it finds the letter of a choice."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from spatial_engine.scoring.accuracy import chance_adjusted
from spatial_engine.scoring.official.reading import read_letter
from spatial_engine.scoring.scorers import Item, ScoredItem, Scorer, Totals, mean
from templates.answers.score import Score
from templates.question import LETTERS

_STATED = re.compile(r"Answer\s*:\s*([A-D])\b", re.IGNORECASE)


class Site(Scorer):
    """SITE-Bench (arXiv 2505.05456)."""

    source: ClassVar[str] = "chance-adjusted accuracy of choices; 1/n where lmms-eval draws a letter at random"
    fields: ClassVar[Mapping[str, str]] = {"answer": "the right letter", "options": "the list of options"}

    def score(self, item: Item, response: str) -> Score:
        """1 or 0; 1/n, the expectation, where lmms-eval draws one of n letters at random. 0 without options."""
        answer, options = str(item["answer"]), len(item["options"])
        letter = sitebench_letter(response.strip(), options)
        if letter is not None:
            return Score(value=float(letter == answer), detail={"prediction": letter})
        drawn = 1 / options if answer and answer in LETTERS[:options] else 0.0
        return Score(value=drawn, detail={"expectation": True})

    def category(self, item: Item) -> str:
        """The field `category`."""
        return str(item.get("category", ""))

    def total(self, scored: Sequence[ScoredItem]) -> Totals:
        """Pooled over all items, never the mean of the categories; `accuracy` is without the adjustment."""
        return Totals(
            score=_above_chance(scored),
            categories={name: _above_chance(group) for name, group in self.groups(scored).items()},
            detail={"accuracy": mean(scored)},
        )


class MindCube(Scorer):
    """MindCube (arXiv 2506.21458)."""

    source: ClassVar[str] = "accuracy of choices, read by MindCube's own rules"
    fields: ClassVar[Mapping[str, str]] = {"id": "begins with among, around or rotation", "gt_answer": "a letter"}

    def score(self, item: Item, response: str) -> Score:
        """1 if the letter that the response gives, from A to E, is the right one."""
        letter = read_letter(response.strip())
        return Score(value=float(letter == item["gt_answer"]), detail={"prediction": letter})

    def category(self, item: Item) -> str:
        """The setting: what stands before the first "_" of the id."""
        prefix = str(item["id"]).partition("_")[0].replace("aroundnew", "around")
        return prefix if prefix in ("among", "around", "rotation") else "other"


class OmniSpatial(Scorer):
    """OmniSpatial (arXiv 2506.03135), answers asked for as "Answer: X": lmms-eval's setting."""

    source: ClassVar[str] = 'accuracy of choices after the last "Answer:"; A where there is none (lmms-eval)'
    fields: ClassVar[Mapping[str, str]] = {"gt": "the right letter", "task_type": "the task"}
    form: ClassVar[Literal["json", "re", "direct"]] = "re"

    def score(self, item: Item, response: str) -> Score:
        """1 if the letter that lmms-eval reads is the right one."""
        letter = omnispatial_letter(response, self.form)
        return Score(value=float(letter == item["gt"]), detail={"prediction": letter})

    def category(self, item: Item) -> str:
        """The field `task_type`."""
        return str(item["task_type"])


class OmniSpatialJson(OmniSpatial):
    """Answers asked for as JSON."""

    source: ClassVar[str] = 'the same, where prompts ask for JSON with "answer"'
    form: ClassVar[Literal["json", "re", "direct"]] = "json"


class OmniSpatialDirect(OmniSpatial):
    """Answers asked for as a bare letter."""

    source: ClassVar[str] = "the same, where prompts ask for the letter alone: the first character"
    form: ClassVar[Literal["json", "re", "direct"]] = "direct"


def sitebench_letter(response: str, options: int) -> str | None:
    """The letter of one of `options` options; None where the original draws one at random.

    "(X)", else " X ", else "X.", else "X:", ":X" or ": X"; of several, the one that stands last as " X ", and the
    first of all where none does.
    """
    text = f" {response} "
    letters = LETTERS[:options]
    for forms in (("({})",), (" {} ",), ("{}.",), ("{}:", ":{}", ": {}")):
        found = [letter for letter in letters if any(form.format(letter) in text for form in forms)]
        if found:
            return max(found, key=lambda letter: text.rfind(f" {letter} "))
    return None


def omnispatial_letter(response: str, form: Literal["json", "re", "direct"]) -> str:
    """The letter of a reply that was asked for in one of three forms; "A" where the first two find nothing.

    json: the value of "answer"; re: after the last "Answer:", in the case it was written in; direct: the first
    character, "" of nothing.
    """
    if form == "json":
        answer = _json_answer(response)
        return "A" if answer is None else answer
    if form == "re":
        stated: Sequence[str] = _STATED.findall(response)
        return stated[-1] if stated else "A"
    return response.strip()[:1].upper()[:1]


def _json_answer(response: str) -> str | None:
    text = response.strip().removeprefix("```json").removesuffix("```").strip()
    try:
        reply = json.loads(text)
        answer = reply.get("answer", "A").strip()
    except (ValueError, RecursionError, AttributeError):
        return None
    return answer.upper()[:1] if isinstance(answer, str) else None


def _above_chance(scored: Sequence[ScoredItem]) -> float:
    """SITE's chance-adjusted accuracy as lmms-eval prints it, as a fraction: seven decimals."""
    found = chance_adjusted([one.score.value for one in scored], [len(one.item["options"]) for one in scored])
    return round(found.value, 7)
