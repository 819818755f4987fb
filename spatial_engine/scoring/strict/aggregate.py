"""From scored items to levels and one number: by full path, and over what was asked."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from spatial_engine.scoring.official.aggregate import weighted_mean
from spatial_engine.scoring.official.weights import WeightSet, official_name, weight_set
from templates.ability import LEAVES, LEVELS

_TAG = re.compile(r"spatree([0-9])")
_ABILITIES = {name.replace(" ", ""): leaf for leaf in LEAVES for name in (leaf, official_name(leaf))}
"""By path without blanks, in our spelling and in the benchmark's."""


def aggregate(items: Iterable[Mapping[str, Any]], weights: str = "published") -> dict[str, Any]:
    """{"score", "levels", "nodes", "items", "coverage", "missing", "weights", "detail"}.

    `items`: {"score", "spatree0", ...}, that under "SpaTreeBench", or {"score", "ability"}. A leaf is the mean of its
    items, every other node the weighted mean of those children that have items: a leaf that was not asked changes
    nothing, and is `missing`. A level without items is None, and so is the score of no items. `coverage`: the share of
    the tree, by weight, that has items; compare scores of equal coverage only.

    `nodes` and `items` (counts) by path in our spelling. An item whose path names no leaf is skipped and counted in
    `detail["unplaced"]`; a score that is no finite number counts 0 (`not_finite`), one outside 0..1 is clamped
    (`out_of_range`). Raises UsageError for an unknown set of weights.
    """
    chosen = weight_set(weights)
    irregular: dict[str, Counter[str]] = defaultdict(Counter)
    scores: dict[str, list[float]] = defaultdict(list)
    for item in (each.get("SpaTreeBench", each) for each in items):
        place = _place(item) if isinstance(item, Mapping) else ""
        if ability := _ABILITIES.get(place):
            scores[ability].append(_score(item, ability, irregular))
        else:
            irregular["unplaced"][place] += 1
    nodes, score = _nodes(chosen, {ability: sum(values) / len(values) for ability, values in scores.items()})
    missing = [leaf for leaf in LEAVES if leaf not in nodes]
    return {
        "score": score,
        "levels": {level: nodes.get(level) for level in LEVELS},
        "nodes": nodes,
        "items": {leaf: len(scores[leaf]) for leaf in LEAVES if leaf in scores},
        "coverage": sum((share for leaf, share in chosen.shares() if leaf in nodes), 0.0) if missing else 1.0,
        "missing": missing,
        "weights": weights,
        "detail": {name: dict(counts.most_common(20)) for name, counts in irregular.items()},
    }


def _place(item: Mapping[str, Any]) -> str:
    """The whole path, without blanks; "" if there is none."""
    if isinstance(ability := item.get("ability"), str):
        return ability.replace(" ", "")
    tags = sorted((int(found[1]), str(value)) for key, value in item.items() if (found := _TAG.fullmatch(str(key))))
    return "/".join(value[:80].replace(" ", "") for _, value in tags)


def _score(item: Mapping[str, Any], ability: str, irregular: Mapping[str, Counter[str]]) -> float:
    given = item.get("score")
    try:
        score = float(given) if isinstance(given, int | float) else float("nan")
    except OverflowError:
        score = float("nan")
    if not isfinite(score):
        irregular["not_finite"][ability] += 1
        return 0.0
    if not 0 <= score <= 1:
        irregular["out_of_range"][ability] += 1
    return min(1.0, max(0.0, score))


def _nodes(chosen: WeightSet, means: Mapping[str, float]) -> tuple[dict[str, float], float | None]:
    """The nodes that have items, by path, and the root."""
    nodes: dict[str, float] = dict(means)
    levels = []
    for level, (level_weight, branches) in chosen.tree().items():
        of_level = []
        for branch, (branch_weight, leaves) in branches.items():
            path = f"{level}/{branch}"
            if of_branch := [(w, means[f"{path}/{leaf}"]) for leaf, w in leaves.items() if f"{path}/{leaf}" in means]:
                nodes[path] = weighted_mean(of_branch)
                of_level.append((branch_weight, nodes[path]))
        if of_level:
            nodes[level] = weighted_mean(of_level)
            levels.append((level_weight, nodes[level]))
    return nodes, weighted_mean(levels) if levels else None
