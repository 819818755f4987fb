"""Verdicts of several annotators together: counts per leaf, their agreement, and the questions they disagree on."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

from spatial_engine.adjudication.showing import agrees
from spatial_engine.adjudication.steps import WORDS, Judgement
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.dataset.audit import set_human
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.scoring.statistics import AnnotatorAgreement, clopper_pearson, cohens_kappa
from templates.ability import LEAVES
from templates.measured import Json
from templates.question import Question

DISPUTED = "disputed"
_OUTCOMES = (*WORDS, DISPUTED)


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A question on which annotators differ, and no majority decides."""

    question: Question
    said: Mapping[str, Judgement]
    """By annotator."""


@dataclass(frozen=True, kw_only=True)
class AnnotatorPair:
    """Two annotators on what both judged, without passes over disagreements."""

    names: tuple[str, str]
    agreement: AnnotatorAgreement
    by_leaf: Mapping[str, tuple[int, int]]
    """(questions, same word) per leaf."""


def disagreements(verdicts: Verdicts) -> list[Disagreement]:
    """What a third person should look at, by leaf."""
    found = [
        Disagreement(question=verdicts.questions[id], said=said)
        for id, said in _by_question(verdicts.judged()).items()
        if _outcome(said) == DISPUTED
    ]
    return sorted(found, key=lambda one: (_leaf_rank(one.question.ability), one.question.id))


def pairs(verdicts: Verdicts) -> list[AnnotatorPair]:
    """Every two annotators who judged a question in common."""
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


def human_audit(verdicts: Verdicts) -> dict[str, Json] | None:
    """What `audit.json` keeps under "human", in questions and without names; None if nobody judged anything.

    A question has the word of more than half of those who judged it, else it is disputed.
    """
    judged = verdicts.judged()
    said = _by_question(judged)
    if not said:
        return None
    outcomes = {id: _outcome(of) for id, of in said.items()}
    by_leaf: dict[str, Counter[str]] = {}
    for id, word in outcomes.items():
        by_leaf.setdefault(verdicts.questions[id].ability, Counter())[word] += 1
    return {
        "annotators": len(judged),
        "questions": len(said),
        **_counts(outcomes.values()),
        **_valid(outcomes, verdicts.questions),
        "abilities": {leaf: _counts(by_leaf[leaf].elements()) for leaf in sorted(by_leaf, key=_leaf_rank)},
        "blind": _blind(judged, verdicts.questions),
        "pairs": [asdict(pair.agreement) for pair in pairs(verdicts)],
        "not_right": [[id, word] for id, word in sorted(outcomes.items()) if word != "right"],
    }


def _valid(outcomes: Mapping[str, str], questions: Mapping[str, Question]) -> dict[str, Json]:
    """Share of questions whose recorded answer people hold right, and its 95 % lower bound (Clopper-Pearson, n_eff)."""
    not_right = sum(word != "right" for word in outcomes.values())
    clips = len({questions[id].clip for id in outcomes})
    _, bound = clopper_pearson(not_right, len(outcomes), tail=0.05, clips=clips)
    return {"valid": round(1 - not_right / len(outcomes), 4), "valid_at_least": round(1 - bound, 4)}


def _blind(judged: Mapping[str, Mapping[str, Judgement]], questions: Mapping[str, Question]) -> dict[str, int]:
    """Own answers given before the recorded one was shown: how many count as right, how many could not tell."""
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


def _outcome(said: Mapping[str, Judgement]) -> str:
    """The word of more than half; otherwise disputed."""
    (word, count), *_ = Counter(_word(judgement) for judgement in said.values()).most_common()
    return word if count > len(said) / 2 else DISPUTED


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
    """Writes what DATASET.adjudication/ holds about the data set as it is now into its audit and card; returns it.

    None, and "human" is null, if nobody judged anything. Names and notes stay out. Raises `UsageError` if there is no
    data set, or a file of verdicts is damaged.
    """
    dataset = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
    found = human_audit(Verdicts(dataset))
    if found != dataset.audit.get("human"):
        set_human(dataset.path, found)
    return found
