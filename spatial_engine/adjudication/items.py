"""Items by people: the correction of a question, or a new question over the media of one, with the rules for both."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal, get_args

from spatial_engine.adjudication.steps import MAX_NOTE, Judgement, Step
from templates.ability import LEAVES
from templates.answers.numbers import UNITS
from templates.answers.registry import format_of
from templates.answers.score import UnscorableError
from templates.columns import Json
from templates.question import BY_PEOPLE, LETTERS, Question

Change = Literal["corrected", "written"]
FORMATS = ("choice", "yes_no", "numeric")
"""Formats of items by people."""
PROVENANCE: Mapping[str, Json] = {
    "expert": "person",
    "version": "1",
    "settings": {},
    "code_licence": "no code",
    "weights_licence": None,
    "commercial_ok": True,
}
_LONGEST = 2000
_MARKUP = re.compile(r"</?[A-Za-z!]|&\w+;|`|\*\*|\]\(|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LETTERED = re.compile(r"\(?[A-Za-z][.):]\s")


@dataclass(frozen=True, kw_only=True)
class Item:
    """A question that a person wrote or corrected."""

    question: Question
    author: str
    step: Step
    stands_for: str
    """Id of the question that it replaces; its own id if it is new."""

    @property
    def judgement(self) -> Judgement:
        """The author's: who writes an item holds its answer to be right."""
        content = {"action": "verdict", "verdict": "right", "note": self.step.item["reason"]}
        return Judgement(verdict=replace(self.step, **content))


def item_of(original: Question, stands_for: str, step: Step, author: str) -> Item:
    """The item of a step on `original`. `stands_for`: what a correction of it replaces. Raises `ValueError`."""
    item = checked(original, step.item)
    about = {"author": author, "at": step.at, "original": original.id, "reason": item["reason"]}
    id = sha256(json.dumps([author, original.id, item], sort_keys=True).encode()).hexdigest()[:16]
    corrected = item["change"] == "corrected"
    question = replace(_question(original, item), id=id, evidence={**about, "change": item["change"]})
    question = question if corrected else replace(question, fact={}, fact_id=id)
    return Item(question=question, author=author, step=step, stands_for=stands_for if corrected else id)


def checked(original: Question, sent: Mapping[str, Json]) -> dict[str, Json]:
    """What is stored of an item. Raises `ValueError`, which says what was given, what is allowed, and what to do.

    A correction keeps ability, format, unit, tolerance, and options that are pictures.
    """
    corrected = _one_of(sent, "change", get_args(Change), "") == "corrected"
    own = {"ability": original.ability, "format": original.format} if corrected else sent
    item: dict[str, Json] = {
        "change": sent["change"],
        "ability": _one_of(own, "ability", (original.ability,) if corrected else LEAVES, "choose a leaf of the tree"),
        "format": _one_of(
            own, "format", FORMATS, "judge it wrong or bad, or write a new one" if corrected else "choose one"
        ),
        "prompt": _prompt(original, sent),
        "reason": _text(sent, "reason", MAX_NOTE, needed=corrected),
    }
    item |= {"choice": _choice, "yes_no": _yes_no, "numeric": _numeric}[item["format"]](original, sent, corrected)
    question = _question(original, item)
    if not question.media:
        raise ValueError("the question shows nothing but its options; write over the media of another one")
    try:
        right = format_of(question.format).score(question, question.answer).value == 1.0
    except UnscorableError as error:
        raise ValueError(f"answer is {question.answer}: {error}; give another one") from error
    if not right:
        raise ValueError(f"answer is {question.answer}, which is not scored as right; give another one")
    same = ("prompt", "options", "answer")
    if corrected and all(getattr(question, name) == getattr(original, name) for name in same):
        raise ValueError("nothing is changed; change the prompt, the options or the answer, or press Esc")
    return item


def _question(original: Question, item: Mapping[str, Json]) -> Question:
    """The question in the words of an item, without σ and margin: nobody has measured them."""
    corrected, format = item["change"] == "corrected", item["format"]
    options, answer = item.get("options", []), item["answer"]
    params = {key: value for key, value in original.scorer_params.items() if key != "p_complete"}
    if format == "choice":
        params = {"option_values": list(options)}
    elif not (corrected and format == "numeric"):
        params = {"counting": True} if item.get("tolerance") == 0 else {}
    scorer = original.scorer if corrected else "count" if params else "numbers"
    question = replace(
        original,
        template=BY_PEOPLE,
        ability=item["ability"],
        format=format,
        prompt=item["prompt"],
        options=options,
        answer=answer,
        value=options[LETTERS.index(answer)] if format == "choice" else answer,
        unit=item.get("unit", ""),
        tolerance=item.get("tolerance"),
        sigma=None,
        margin=None,
        scorer=scorer if format == "numeric" else "label",
        scorer_params=params,
        media=[medium for medium in original.media if corrected or not medium.get("option")],
        provenance=(PROVENANCE,),
        extra={},
    )
    form = {"choice": "", "yes_no": "Answer yes or no."}.get(format, f"Answer with {format_of(format).form(question)}.")
    return question if corrected else replace(question, instructions=form)


def _prompt(original: Question, sent: Mapping[str, Json]) -> str:
    prompt = _text(sent, "prompt", _LONGEST)
    if not prompt.endswith((".", "?", ":")):
        raise ValueError(f"prompt ends with {prompt[-1]!r}; allowed: a whole sentence that ends with . or ? or :")
    photos = sum(medium.get("kind") == "frames" and not medium.get("option") for medium in original.media)
    if beyond := [number for number in re.findall(r"photo (\d+)", prompt, re.IGNORECASE) if int(number) > photos]:
        raise ValueError(f"prompt names photo {beyond[0]}; allowed: photos 1 to {photos}, which the question shows")
    return prompt


def _choice(original: Question, sent: Mapping[str, Json], corrected: bool) -> dict[str, Json]:
    if corrected and original.has_pictures_as_options:
        options = list(original.options)
    else:
        given = sent.get("options")
        lines = given if isinstance(given, list) else []
        options = [_text({"options": line}, "options", _LONGEST) for line in lines]
    if not 2 <= len(options) <= len(LETTERS):
        raise ValueError(f"options are {len(options)}; allowed: 2 to {len(LETTERS)}; write one a line")
    folded = [option.casefold() for option in options]
    if twice := [option for option in folded if folded.count(option) > 1]:
        raise ValueError(f"options hold {twice[0]!r} twice; allowed: distinct ones; change or remove one")
    if lettered := [option for option in options if _LETTERED.match(option)]:
        raise ValueError(f"option {lettered[0]!r} begins with a letter; allowed: words alone, letters are added")
    answer = _one_of(
        {"answer": str(sent.get("answer")).upper()}, "answer", LETTERS[: len(options)], "name the right one"
    )
    return {"options": options, "answer": answer}


def _yes_no(original: Question, sent: Mapping[str, Json], corrected: bool) -> dict[str, Json]:
    return {"answer": _one_of({"answer": str(sent.get("answer")).lower()}, "answer", ("yes", "no"), "give one of them")}


def _numeric(original: Question, sent: Mapping[str, Json], corrected: bool) -> dict[str, Json]:
    answer = _number(sent, "answer")
    if corrected:
        unit, tolerance = original.unit, original.tolerance
    else:
        unit, tolerance = _one_of({"unit": "", **sent}, "unit", ("", *UNITS), ""), _number(sent, "tolerance")
    if not corrected and (tolerance < 0 or (tolerance == 0 and unit)):
        allowed = "more than 0; 0 for a count, which has no unit"
        raise ValueError(f"tolerance is {tolerance:g}; allowed: {allowed}; give the error that still counts as right")
    if unit and UNITS.get(unit, unit) not in f"{original.instructions if corrected else ''} {sent['prompt']}":
        raise ValueError(f"prompt does not name the unit; write “{UNITS.get(unit, unit)}” in it")
    return {"answer": answer, "unit": unit, "tolerance": tolerance}


def _text(sent: Mapping[str, Json], name: str, longest: int, *, needed: bool = True) -> str:
    """Words on one line, without markup."""
    given = sent.get(name, "")
    if not isinstance(given, str):
        raise ValueError(f"{name} is {str(given)[:40]}; allowed: text")
    if markup := _MARKUP.search(given):
        raise ValueError(f"{name} holds the markup {markup[0]!r}; allowed: plain words; remove it")
    text = " ".join(given.split())
    if (needed and not text) or len(text) > longest:
        remedy = "shorten it" if text else "write it"
        raise ValueError(f"{name} has {len(text)} characters; allowed: {int(needed)} to {longest}; {remedy}")
    return text


def _one_of(sent: Mapping[str, Json], name: str, allowed: Any, remedy: str) -> str:
    given = sent.get(name)
    if isinstance(given, str) and given in (*allowed,):
        return given
    known = ", ".join(one or '""' for one in allowed)
    raise ValueError(f"{name} is {given!r}; allowed: {known}{remedy and f'; {remedy}'}")


def _number(sent: Mapping[str, Json], name: str) -> float | int:
    given = sent.get(name)
    try:
        number = float(given) if isinstance(given, str | int | float) and not isinstance(given, bool) else float("nan")
    except (ValueError, OverflowError):
        number = float("nan")
    if not abs(number) <= 1e12:
        raise ValueError(f"{name} is {given!r}; allowed: one number, such as 1.5; write digits and a decimal point")
    return int(number) if number.is_integer() else number
