"""`result.json`: the metrics of one run, from its scored items."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from spatial_engine.evaluation.cost import usage
from spatial_engine.evaluation.fact_scores import fact_scores, grouped, measure, options
from spatial_engine.evaluation.mistakes import counted_mistakes
from spatial_engine.evaluation.scored import ScoredItem, Status, graded
from spatial_engine.scoring.accuracy import Presented, circular, f1
from spatial_engine.scoring.official.aggregate import aggregate as official_aggregate
from spatial_engine.scoring.official.row import tags
from spatial_engine.scoring.strict.aggregate import aggregate as strict_aggregate
from templates.columns import Json

Capability = Literal["MM", "MR", "SR", "PT", "DA", "CR"]

CAPABILITIES: Mapping[Capability, str] = {
    "MM": "Metric measurement",
    "MR": "Mental reconstruction",
    "SR": "Spatial relations",
    "PT": "Perspective taking",
    "DA": "Deformation and assembly",
    "CR": "Comprehensive reasoning",
}
"""In the order of the paper (EASI)."""


@dataclass(frozen=True)
class Tagged:
    """The capabilities that a leaf tests."""

    tags: tuple[Capability, ...]
    """The main capability first."""
    reason: str
    """The reason, in one line."""


LEAF_CAPABILITIES: Mapping[str, Tagged] = {
    "L1/Geometry/Distance": Tagged(("MM",), "a length, or a ratio of lengths, is estimated from a view"),
    "L1/Geometry/Size": Tagged(("MM",), "an object's extent is estimated from a view"),
    "L1/Geometry/Shape": Tagged(("MR",), "a solid form is made out of flat views"),
    "L1/Localization/3D Detection": Tagged(("MM", "MR"), "an object's place and extent in space are stated as a box"),
    "L1/Localization/3D Grounding": Tagged(("SR", "MM"), "words about places single out one object and where it is"),
    "L1/Motion/Ego": Tagged(("PT",), "how the viewpoint moved is inferred from what changed in the view"),
    "L1/Motion/Allo": Tagged(("SR", "PT"), "an object's own motion is separated from that of the viewpoint"),
    "L1/Orientation/Gravity": Tagged(("MM", "PT"), "angles of the viewpoint against the vertical are estimated"),
    "L1/Orientation/Object Orientation": Tagged(
        ("PT", "MM"), "where an object faces is stated as seen from the camera"
    ),
    "L1/Relation/Correspondence": Tagged(("PT",), "one point is found again from another viewpoint"),
    "L1/Relation/Relative Direction": Tagged(("SR", "PT"), "a direction is stated in the axes of another viewpoint"),
    "L2/Memory/Cognitive Map": Tagged(("MR", "PT"), "views along a path are put together into one map"),
    "L2/Memory/Memory Retrieval": Tagged(("CR", "SR"), "what was seen where is recalled from a long sequence"),
    "L2/Understanding/Affordance": Tagged(("SR", "CR"), "the part that a use needs is found by what it does"),
    "L2/Understanding/Motion Understanding": Tagged(("PT", "SR"), "motions of camera and objects are named together"),
    "L2/Understanding/Perspective Taking": Tagged(("PT",), "a scene is described as seen from elsewhere"),
    "L2/Understanding/Relation Understanding": Tagged(("SR",), "how objects stand to one another is stated"),
    "L2/Understanding/Spatial Caption": Tagged(("SR", "CR"), "a whole layout is put into words"),
    "L3/Causal Reasoning/Dynamics": Tagged(("CR", "DA"), "what forces will do to objects is foreseen"),
    "L3/Causal Reasoning/Geometry Puzzles": Tagged(("DA", "MR"), "shapes are folded, cut or joined in the mind"),
    "L3/Causal Reasoning/Relation": Tagged(("CR", "SR"), "relations are inferred from others, not seen"),
    "L3/Sequential Planning/Operation": Tagged(("CR", "DA"), "steps that change or assemble objects are ordered"),
    "L3/Sequential Planning/Route": Tagged(("CR", "MR"), "a path through a reconstructed place is ordered"),
    "L4/Goal-Driven Execution/Agentic Navigation": Tagged(("CR", "PT"), "moves that bring about a view are planned"),
    "L4/Goal-Driven Execution/Robotic Arm": Tagged(("CR", "DA"), "motions that handle objects are planned"),
    "L4/Open-world Exploration/Knowledge Acquisition": Tagged(("CR", "MR"), "where to look in order to learn a place"),
    "L4/Open-world Exploration/Self-Goaling": Tagged(("CR",), "goals are set from what a place affords"),
}
"""By leaf of `templates.ability`."""


def capabilities(ability: str) -> tuple[Capability, ...]:
    """Tags of a leaf, or of an item of a published benchmark ("MM/VSI-Bench/..."); none for an unknown leaf."""
    tagged = LEAF_CAPABILITIES.get(ability)
    level = ability.partition("/")[0]
    return tagged.tags if tagged else tuple(tag for tag in CAPABILITIES if tag == level)


METHOD = (
    "score: mean over facts; a fact is the mean of its questions (formats), a question of its rotations. "
    "interval: 95 %, clips resampled, facts within them. Whatever was not answered scores 0, time-outs included; "
    "without_time_outs leaves them out. chance_adjusted, f1, official and strict: the first presentation of each "
    "question (rotation 0). tree, strict, official: the published tree with the published weights, of our own scores, "
    "of the strict scorer and of the official one; official counts leaves without items as 0, the others none. "
    "graded: of the answers that could be read. mistakes: wrong answers that follow from a typical mistake. "
    "judged: free text, the share of claims that a judge model finds; in no other number. "
    "published: the own metric of a published benchmark, read from the replies by its own rules."
)


def result(
    items: Sequence[ScoredItem],
    *,
    run: Mapping[str, Json],
    answers: Mapping[str, Json] | None = None,
    judged: Sequence[ScoredItem] = (),
    unjudged: int = 0,
    published: Mapping[str, Json] | None = None,
    seed: int = 0,
) -> dict[str, Json]:
    """The content of `result.json`.

    `items`: all presentations, in any order. `run`: `run.json`, for the name, the model and prices. `answers`: the
    right answer by question id; without them the F1 of yes/no questions is null, for a wrong reply alone does not
    tell what was right. `judged`: presentations of free text that a judge scored; `unjudged`: number of the others.
    `published`: a benchmark's own metric (`benchmarks.own_metric`).
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
        "mistakes": counted_mistakes(items),
        "circular": _circular(items),
        "f1": _f1(first, answers or {}),
        "judged": {**measure(judged, seed), "unjudged": unjudged} if judged or unjudged else None,
        "tree": _tree(items),
        "strict": _strict(first),
        "official": _official(first),
        "published": published,
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
    """Metrics of choices with several rotations; a rotation without an answer is wrong. None without any."""
    asked = grouped(items, lambda item: item.id).values()
    rotated = [_presented(rotations) for rotations in asked if len(rotations) > 1]
    if not rotated:
        return None
    found = circular(rotated)
    return {"soft": found.soft, "hard": found.hard, "plain": found.plain, "questions": len(rotated)}


def _presented(rotations: Sequence[ScoredItem]) -> Presented:
    """Option 0 stands for the right one: only which rotations are right matters."""
    right, k = {item.rotation for item in rotations if item.right}, options(rotations[0])
    return Presented(options=k, answer=0, predictions=tuple(-i % k if i in right else None for i in range(k)))


def _f1(first: Iterable[ScoredItem], answers: Mapping[str, Json]) -> dict[str, Json] | None:
    """F1 of yes/no questions with yes as positive; an unreadable answer is not yes."""
    asked = [item for item in first if item.format == "yes_no" and answers.get(item.id) in ("yes", "no")]
    predictions = [item.extracted if item.extracted in ("yes", "no") else None for item in asked]
    found = f1([answers[item.id] for item in asked], predictions)
    if not asked or found is None:
        return None
    return {"f1": found.value, "precision": found.precision, "recall": found.recall, "items": found.count}


def _tree(items: Sequence[ScoredItem]) -> dict[str, Json]:
    """Our own scores on the published tree: facts are averaged by leaf."""
    rows = [
        {"score": fact.score, "ability": leaf}
        for leaf, group in grouped(items, lambda item: item.ability).items()
        for fact in fact_scores(group)
    ]
    return {**strict_aggregate(rows), "rows": len(rows)}


def _official(first: Iterable[ScoredItem]) -> dict[str, Json] | None:
    """Scores of the official scorer, aggregated in its way; None without any."""
    rows = [{"score": item.official, **tags(item.ability)} for item in first if item.official is not None]
    return {**official_aggregate(rows), "rows": len(rows)} if rows else None


def _strict(first: Iterable[ScoredItem]) -> dict[str, Json] | None:
    """Scores of the strict scorer, likewise."""
    rows = [{"score": item.strict, "ability": item.ability} for item in first if item.strict is not None]
    return {**strict_aggregate(rows), "rows": len(rows)} if rows else None


def _counts(values: Iterable[str], names: Sequence[str]) -> dict[str, int]:
    """Count of each name, including zeros."""
    found = Counter(values)
    return {name: found[name] for name in names}
