"""Cognitive maps, compared with the true one."""

import math
import re
from collections.abc import Mapping
from typing import Any

from spatial_engine.scoring.official.cognitive_map import ROTATIONS, MapObject, is_valid, map_objects, relation
from spatial_engine.scoring.reading import Reading, conclusion, read_choice
from spatial_engine.scoring.reading.json_object import objects
from spatial_engine.scoring.strict.metrics import letter_of
from spatial_engine.scoring.strict.rows import mapping, strict_metric
from templates.answers.score import UnscorableError

_LETTERS = 5
"""MindCube asks for A to E."""
_IN_PLANE = ("identity", "z_rot_90", "z_rot_180", "z_rot_270")
"""The other two of the published rotations flatten a map to a line."""
_MAP = re.compile(r"```(?:json)?|<(?:cog_?map)>|\{[\s\S]*\}|</(?:cog_?map)>|```", re.IGNORECASE)


@strict_metric
def cogmapeval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """0.2 for the letter, 0.6 for similarity times coverage, 0.2 for isomorphism, under the best of four rotations.

    `answer`: a letter; `extra_info["cogmap"]`: the true map or its JSON. Similarity: 0.7 of the relations and 0.3 of
    the facings, or the relations alone where the truth has no facings. Coverage: share of the true objects that the
    response has, by name, whatever its case. The letter is read outside the map.
    """
    true = _map_objects(mapping(extra_info.get("cogmap"), "the true map"))
    if not true:
        raise UnscorableError("the true map is not valid, or empty")
    text = conclusion(response)
    read = read_choice(_MAP.sub(" ", text), [""] * _LETTERS)
    right = isinstance(read, Reading) and read.value == letter_of(answer)
    predicted = next((found for found in map(_map_objects, objects(text)) if found), {})
    common = sorted(true.keys() & predicted.keys())
    coverage = len(common) / len(true)
    similarity, isomorphic = _best(predicted, true, common) if common else (0.0, False)
    isomorphic = isomorphic and coverage == 1
    score = 0.2 * right + 0.6 * similarity * coverage + 0.2 * isomorphic
    detail = {"right": right, "similarity": similarity, "coverage": coverage, "isomorphic": isomorphic}
    return score, detail


def _map_objects(found: Mapping[str, Any]) -> dict[str, MapObject]:
    """Objects and views by lower-case name; none where the map is not valid."""
    try:
        named = map_objects(found) if is_valid(found) else {}
        finite = all(math.isfinite(item.x) and math.isfinite(item.y) for item in named.values())
        return {name.strip().lower(): item for name, item in named.items()} if finite else {}
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, IndexError):
        return {}


def _best(predicted: Mapping[str, MapObject], true: Mapping[str, MapObject], common: list[str]) -> tuple[float, bool]:
    """(similarity, isomorphic) under the rotation with the largest similarity, the first of equals."""
    pairs = [(a, b) for a in common for b in common if a != b]
    true_relations = {pair: relation(true[pair[0]], true[pair[1]]) for pair in pairs}
    decided = [pair for pair in pairs if true_relations[pair] is not None]
    facing = [name for name in common if true[name].facing]
    faced_somewhere = any(item.facing for item in true.values())
    best = (0.0, False)
    for rotation in _IN_PLANE:
        rotated = {name: ROTATIONS[rotation](predicted[name]) for name in common}
        relations = {pair: relation(rotated[pair[0]], rotated[pair[1]]) for pair in pairs}
        related = sum(relations[pair] == true_relations[pair] for pair in decided) / len(decided) if decided else 0.0
        faced = sum(rotated[name].facing == true[name].facing for name in facing) / len(facing) if facing else 0.0
        similarity = 0.7 * related + 0.3 * faced if faced_somewhere else related
        if similarity > best[0]:
            best = (similarity, relations == true_relations)
    return best
