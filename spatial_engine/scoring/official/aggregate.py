"""From scored items to levels and one number, as lmms-eval's spatialtreebench does it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from spatial_engine.scoring.official.weights import WeightSet, official_name, weight_set

_TAG = "spatree"


def aggregate(items: Iterable[Mapping[str, Any]], weights: str = "published") -> dict[str, Any]:
    """{"score", "levels", "nodes", "coverage", "missing", "weights", "detail"}.

    `items`: {"score", "spatree0", ...}, or that under "SpaTreeBench" as `process_results` gives it. An item counts for
    the leaf that its deepest tag names, wherever the other tags put it; a leaf is the mean of its items, a node the
    weighted mean of its children, a leaf without items 0 with full weight. `weights="hierarchy-json"` is the official
    code's number.

    `nodes` by path in the benchmark's spelling ("L2/Underst./Affordance"). `coverage`: the share of the whole that
    leaves with items have, by weight; the others are `missing`. A score that is not finite spreads to the root as in
    the reference, and `detail["not_finite"]` names its leaves. `detail` also counts items without tags, with tags that
    name no leaf, and those whose other tags name another place than the leaf they counted for. Where the reference
    raises (a tag whose number is none, a score that is none), the score is 0 and `detail["reference_exception"]` says
    so. Raises UsageError for an unknown set of weights.
    """
    chosen = weight_set(weights)
    detail: dict[str, Any] = {}
    try:
        means = _leaf_means([item.get("SpaTreeBench", item) for item in items], detail)
    except Exception as error:
        means, detail = {}, {"reference_exception": type(error).__name__}
    shares = {official_name(leaf): share for leaf, share in chosen.shares()}
    missing = [leaf for leaf in shares if _key(leaf) not in means]
    nodes, score = _nodes(chosen, means)
    if not_finite := [leaf for leaf in shares if not isfinite(nodes[leaf])]:
        detail["not_finite"] = not_finite
    return {
        "score": score,
        "levels": {path: value for path, value in nodes.items() if "/" not in path},
        "nodes": nodes,
        "coverage": sum((share for leaf, share in shares.items() if leaf not in missing), 0.0) if missing else 1.0,
        "missing": missing,
        "weights": weights,
        "detail": detail,
    }


def _key(path: str) -> str:
    """What a tag must be to count for a leaf."""
    return path.rpartition("/")[2].replace(" ", "")


_PLACES = {_key(leaf): official_name(leaf).replace(" ", "") for leaf, _ in weight_set("hierarchy-json").shares()}


def _leaf_means(items: list[Mapping[str, Any]], detail: dict[str, Any]) -> dict[str, float]:
    """By the value of the tag with the largest number. Counts irregular items in `detail`. Raises as the reference."""
    scores: dict[str, list[float]] = defaultdict(list)
    odd: dict[str, Counter[str]] = {"unmatched": Counter(), "elsewhere": Counter()}
    untagged = 0
    for item in items:
        tags = sorted((key for key in item if key.startswith(_TAG)), key=lambda key: int(key.replace(_TAG, "")))
        if not tags or not item[tags[-1]]:
            untagged += 1
            continue
        leaf = item[tags[-1]]
        scores[leaf].append(item["score"])
        place = "/".join(str(item[tag])[:80] for tag in tags)
        if leaf not in _PLACES:
            odd["unmatched"][place] += 1
        elif place.replace(" ", "") != _PLACES[leaf]:
            odd["elsewhere"][place] += 1
    detail |= {name: dict(counts.most_common(20)) for name, counts in odd.items() if counts}
    detail |= {"untagged": untagged} if untagged else {}
    return {leaf: float(sum(values)) / len(values) for leaf, values in scores.items()}


def _nodes(chosen: WeightSet, means: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """Every node by path, a parent before its children, and the root."""
    nodes: dict[str, float] = {}
    levels = []
    for level, (level_weight, branches) in chosen.tree().items():
        nodes[level] = 0.0
        of_level = []
        for branch, (branch_weight, leaves) in branches.items():
            path = f"{level}/{official_name(branch)}"
            of_branch = [(weight, means.get(leaf.replace(" ", ""), 0.0)) for leaf, weight in leaves.items()]
            nodes[path] = weighted_mean(of_branch)
            nodes |= {f"{path}/{leaf}": mean for leaf, (_, mean) in zip(leaves, of_branch, strict=True)}
            of_level.append((branch_weight, nodes[path]))
        nodes[level] = weighted_mean(of_level)
        levels.append((level_weight, nodes[level]))
    return nodes, weighted_mean(levels)


def weighted_mean(children: Iterable[tuple[float, float]]) -> float:
    """Of (weight, score)."""
    pairs = list(children)
    return sum(weight * score for weight, score in pairs) / sum(weight for weight, _ in pairs)
