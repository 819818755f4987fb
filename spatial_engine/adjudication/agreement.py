"""Combines the verdicts of several annotators: counts per leaf, agreement, and disputed questions."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path

from spatial_engine.adjudication.showing import agrees
from spatial_engine.adjudication.steps import WORDS, Judgement
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.dataset.audit import set_human
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.scoring.statistics import AnnotatorAgreement, clopper_pearson, cohens_kappa
from templates.ability import LEAVES
from templates.columns import Json
from templates.question import Question

DISPUTED = "disputed"
_OUTCOMES = (*WORDS, DISPUTED)


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A question without a majority among its annotators."""

    question: Question
    judgements: Mapping[str, Judgement]
    """By annotator."""


@dataclass(frozen=True, kw_only=True)
class AnnotatorPair:
    """Agreement of two annotators on the questions that both judged, without reviews of disagreements."""

    names: tuple[str, str]
    agreement: AnnotatorAgreement
    by_leaf: Mapping[str, tuple[int, int]]
    """(questions, equal verdicts) per leaf."""


def disagreements(verdicts: Verdicts) -> list[Disagreement]:
    """Questions for a third annotator, by leaf."""
    found = [
        Disagreement(question=verdicts.question(id), judgements=judgements)
        for judged in (verdicts.judged(), verdicts.judged_items())
        for id, judgements in _by_question(judged).items()
        if _outcome(judgements) == DISPUTED
    ]
    return sorted(found, key=lambda one: (_leaf_rank(one.question.ability), one.question.id))


def pairs(verdicts: Verdicts) -> list[AnnotatorPair]:
    """Every pair of annotators with a common question."""
    judged = {
        name: {id: one for id, one in judgements.items() if one.verdict is not None and not one.verdict.third}
        for name, judgements in verdicts.judged().items()
    }
    found = []
    for first, second in combinations(sorted(judged), 2):
        both = sorted(judged[first].keys() & judged[second].keys())
        words = {id: (_word(judged[first][id]), _word(judged[second][id])) for id in both}
        agreement = cohens_kappa(list(words.values()), len({verdicts.questions[id].clip for id in both}))
        if agreement is not None:
            by_leaf = _same_by_leaf(words, verdicts.questions)
            found.append(AnnotatorPair(names=(first, second), agreement=agreement, by_leaf=by_leaf))
    return found


def settled(verdicts: Verdicts) -> dict[str, Question]:
    """Items that their author and at least one other person hold to be right, without a majority against: by the id of
    the question that they stand for, the newest one of several."""
    agreed = {
        id: judgements
        for id, judgements in _by_question(verdicts.judged_items()).items()
        if len(judgements) > 1 and _outcome(judgements) == "right"
    }
    found = {}
    for item in sorted((item for id, item in verdicts.items.items() if id in agreed), key=lambda item: item.step.at):
        right = sum(_word(one) == "right" for one in agreed[item.question.id].values())
        found[item.stands_for] = replace(item.question, evidence={**item.question.evidence, "people_who_agree": right})
    return found


def human_audit(verdicts: Verdicts) -> dict[str, Json] | None:
    """The entry "human" of `audit.json`, counted in questions and without names; None without verdicts.

    The outcome of a question is the verdict of more than half of its annotators; else it is disputed.
    """
    judged = verdicts.judged()
    by_question = _by_question(judged)
    if not by_question:
        return None
    outcomes = {id: _outcome(judgements) for id, judgements in by_question.items()}
    by_leaf: dict[str, Counter[str]] = {}
    for id, word in outcomes.items():
        by_leaf.setdefault(verdicts.questions[id].ability, Counter())[word] += 1
    return {
        "annotators": len(judged),
        "questions": len(by_question),
        **_counts(outcomes.values()),
        **_valid(outcomes, verdicts.questions),
        "abilities": {leaf: _counts(by_leaf[leaf].elements()) for leaf in sorted(by_leaf, key=_leaf_rank)},
        "blind": _blind(judged, verdicts.questions),
        "pairs": [asdict(pair.agreement) for pair in pairs(verdicts)],
        "not_right": [[id, word] for id, word in sorted(outcomes.items()) if word != "right"],
    }


def _valid(outcomes: Mapping[str, str], questions: Mapping[str, Question]) -> dict[str, Json]:
    """Share of questions with the outcome right, and its 95 % lower bound (Clopper-Pearson with n_eff)."""
    not_right = sum(word != "right" for word in outcomes.values())
    clips = len({questions[id].clip for id in outcomes})
    _, bound = clopper_pearson(not_right, len(outcomes), tail=0.05, clips=clips)
    return {"valid": round(1 - not_right / len(outcomes), 4), "valid_at_least": round(1 - bound, 4)}


def _blind(judged: Mapping[str, Mapping[str, Judgement]], questions: Mapping[str, Question]) -> dict[str, int]:
    """Numbers of blind answers (before the recorded answer was shown), of right ones, and of "could not tell"."""
    found = Counter[str]()
    for judgements in judged.values():
        for id, judgement in judgements.items():
            if judgement.answer is not None and judgement.answer.blind:
                own = judgement.answer.own
                found["answers"] += 1
                found["could_not_tell"] += own is None
                found["right"] += own is not None and agrees(questions[id], own) is True
    return {name: found[name] for name in ("answers", "right", "could_not_tell")}


def _by_question(judged: Mapping[str, Mapping[str, Judgement]]) -> dict[str, dict[str, Judgement]]:
    found: dict[str, dict[str, Judgement]] = {}
    for name, judgements in judged.items():
        for id, judgement in judgements.items():
            found.setdefault(id, {})[name] = judgement
    return found


def _outcome(judgements: Mapping[str, Judgement]) -> str:
    (word, count), *_ = Counter(map(_word, judgements.values())).most_common()
    return word if count > len(judgements) / 2 else DISPUTED


def _word(judgement: Judgement) -> str:
    return "" if judgement.verdict is None else str(judgement.verdict.verdict)


def _same_by_leaf(
    words: Mapping[str, tuple[str, str]], questions: Mapping[str, Question]
) -> dict[str, tuple[int, int]]:
    found: dict[str, list[bool]] = {}
    for id, (first, second) in words.items():
        found.setdefault(questions[id].ability, []).append(first == second)
    return {leaf: (len(found[leaf]), sum(found[leaf])) for leaf in sorted(found, key=_leaf_rank)}


def _counts(words: Iterable[str]) -> dict[str, int]:
    found = Counter(words)
    return {word: int(found[word]) for word in _OUTCOMES}


def _leaf_rank(leaf: str) -> tuple[int, str]:
    return (LEAVES.index(leaf) if leaf in LEAVES else len(LEAVES), leaf)


def fold_in(dataset: Dataset | str | Path) -> dict[str, Json] | None:
    """Writes a summary of the verdicts in DATASET.adjudication/ into the audit and the card; returns it.

    Without verdicts it returns None, and "human" is null. Names and notes are omitted. Raises `UsageError` if there is
    no dataset, or if a file of verdicts is damaged.
    """
    dataset = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
    found = human_audit(Verdicts(dataset))
    if found != dataset.audit.get("human"):
        set_human(dataset.path, found)
    return found
