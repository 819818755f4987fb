"""`result.json`: what came of one run, from its scored items."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

from spatial_engine.evaluation.capabilities import CAPABILITIES, capabilities
from spatial_engine.evaluation.cost import usage
from spatial_engine.evaluation.fact_scores import fact_scores, grouped, measure, options
from spatial_engine.evaluation.scored import ScoredItem, Status, graded
from spatial_engine.scoring.accuracy import Presented, circular, f1
from spatial_engine.scoring.official.aggregate import aggregate as official_aggregate
from spatial_engine.scoring.official.row import tags
from spatial_engine.scoring.strict.aggregate import aggregate as strict_aggregate
from templates.measured import Json

METHOD = (
    "score: mean over facts; a fact is the mean of its questions (formats), a question of its rotations. "
    "interval: 95 %, clips resampled, facts within them. Whatever was not answered scores 0, time-outs included; "
    "without_time_outs leaves them out. chance_adjusted, f1, official and strict: the first presentation of each "
    "question (rotation 0). tree, strict, official: the published tree with the published weights, of our own scores, "
    "of the strict scorer and of the official one; official counts leaves without items as 0, the others none. "
    "graded: of the answers that could be read."
)


def result(
    items: Sequence[ScoredItem], *, run: Mapping[str, Json], answers: Mapping[str, Json] | None = None, seed: int = 0
) -> dict[str, Json]:
    """The content of `result.json`.

    `items`: all presentations, in any order. `run`: `run.json`, for the name, the model and prices. `answers`: the
    right answer by question id; without them the F1 of yes/no questions is null, for a wrong reply alone does not
    tell what was right.
    """
    items = sorted(items, key=lambda item: (item.clip, item.fact_id, item.id, item.rotation))
    first = [item for item in items if item.rotation == 0]
    return {
        "method": METHOD,
        "overall": measure(items, seed),
        "without_time_outs": measure([item for item in items if item.status != "timed_out"], seed),
        "levels": _measures(items, lambda item: item.ability.split("/")[0], seed),
        "branches": _measures(items, lambda item: item.ability.rpartition("/")[0], seed),
        "leaves": _measures(items, lambda item: item.ability, seed),
        "formats": _measures(items, lambda item: item.format, seed),
        "templates": _measures(items, lambda item: item.template, seed),
        "capabilities": _capabilities(items, seed),
        "graded": graded(items),
        "circular": _circular(items),
        "f1": _f1(first, answers or {}),
        "tree": _tree(items),
        "strict": _strict(first),
        "official": _official(first),
        "statuses": _counts((item.status for item in items), get_args(Status)),
        "extraction": _counts((item.how for item in items if item.how), ("tags", "rules", "judge")),
        "usage": usage(items, run),
    }


def _measures(items: Sequence[ScoredItem], key: Callable[[ScoredItem], str], seed: int) -> dict[str, Json]:
    return {name: measure(group, seed) for name, group in grouped(items, key).items()}


def _capabilities(items: Sequence[ScoredItem], seed: int) -> dict[str, Json]:
    """By the six abilities of the unified protocol; a leaf may need several."""
    groups = {tag: [item for item in items if tag in capabilities(item.ability)] for tag in CAPABILITIES}
    return {tag: measure(group, seed) for tag, group in groups.items() if group}


def _circular(items: Sequence[ScoredItem]) -> dict[str, Json] | None:
    """Of the choices that were shown in more than one rotation; a rotation without an answer is wrong. None where
    there are none."""
    asked = grouped((item for item in items if item.format == "choice"), lambda item: item.id).values()
    turned = [_presented(rotations) for rotations in asked if len(rotations) > 1]
    if not turned:
        return None
    found = circular(turned)
    return {"soft": found.soft, "hard": found.hard, "plain": found.plain, "questions": len(turned)}


def _presented(rotations: Sequence[ScoredItem]) -> Presented:
    """Places do not matter, only which rotations were right: the right one is called 0, all others nothing."""
    right, k = {item.rotation for item in rotations if item.right}, options(rotations[0])
    return Presented(options=k, answer=0, predictions=tuple(-i % k if i in right else None for i in range(k)))


def _f1(first: Iterable[ScoredItem], answers: Mapping[str, Json]) -> dict[str, Json] | None:
    """Of yes/no questions, positive = yes; what could not be read is not yes."""
    asked = [item for item in first if item.format == "yes_no" and answers.get(item.id) in ("yes", "no")]
    said = [item.extracted if item.extracted in ("yes", "no") else None for item in asked]
    found = f1([answers[item.id] for item in asked], said)
    if not asked or found is None:
        return None
    return {"f1": found.value, "precision": found.precision, "recall": found.recall, "items": found.count}


def _tree(items: Sequence[ScoredItem]) -> dict[str, Json]:
    """Our own scores on the published tree, leaf by leaf over facts."""
    rows = [
        {"score": fact.score, "ability": leaf}
        for leaf, group in grouped(items, lambda item: item.ability).items()
        for fact in fact_scores(group)
    ]
    return {**strict_aggregate(rows), "rows": len(rows)}


def _official(first: Iterable[ScoredItem]) -> dict[str, Json] | None:
    """The official scorer's numbers, aggregated its way; None where it has none."""
    rows = [{"score": item.official, **tags(item.ability)} for item in first if item.official is not None]
    return {**official_aggregate(rows), "rows": len(rows)} if rows else None


def _strict(first: Iterable[ScoredItem]) -> dict[str, Json] | None:
    """Likewise of the strict scorer."""
    rows = [{"score": item.strict, "ability": item.ability} for item in first if item.strict is not None]
    return {**strict_aggregate(rows), "rows": len(rows)} if rows else None


def _counts(values: Iterable[str], names: Sequence[str]) -> dict[str, int]:
    """How often each name occurs, zeros included."""
    found = Counter(values)
    return {name: found[name] for name in names}
