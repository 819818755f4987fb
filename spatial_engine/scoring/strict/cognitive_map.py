"""Cognitive maps against the true one."""

import math
import re
from collections.abc import Mapping
from typing import Any

from spatial_engine.scoring.official.cognitive_map import ROTATIONS, Thing, is_valid, relation, things
from spatial_engine.scoring.reading import Reading, conclusion, read_choice
from spatial_engine.scoring.reading.json_object import objects
from spatial_engine.scoring.strict.metrics import letter_of
from spatial_engine.scoring.strict.rows import RowFault, mapping, strict_metric

_LETTERS = 5
"""MindCube asks for A to E."""
_IN_PLANE = ("identity", "z_rot_90", "z_rot_180", "z_rot_270")
"""The other two of the published rotations flatten a map to a line."""
_MAP = re.compile(r"```(?:json)?|<(?:cog_?map)>|\{[\s\S]*\}|</(?:cog_?map)>|```", re.IGNORECASE)


@strict_metric
def cogmapeval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """0.2 for the letter, 0.6 for similarity times coverage, 0.2 for isomorphism, under the best turn by 0°, 90°, ...

    `answer`: a letter; `extra_info["cogmap"]`: the true map or its JSON. Similarity: 0.7 of the relations and 0.3 of
    the facings, or the relations alone where the truth has no facings. Coverage: share of the true objects that the
    response has, by name, whatever its case. The letter is read outside the map.
    """
    theirs = _things(mapping(extra_info.get("cogmap"), "the true map"))
    if not theirs:
        raise RowFault("the true map is not valid, or empty")
    text = conclusion(response)
    read = read_choice(_MAP.sub(" ", text), [""] * _LETTERS)
    right = isinstance(read, Reading) and read.value == letter_of(answer)
    ours = next((found for found in map(_things, objects(text)) if found), {})
    common = sorted(theirs.keys() & ours.keys())
    coverage = len(common) / len(theirs)
    similarity, isomorphic = _best(ours, theirs, common) if common else (0.0, False)
    isomorphic = isomorphic and coverage == 1
    score = 0.2 * right + 0.6 * similarity * coverage + 0.2 * isomorphic
    detail = {"right": right, "similarity": similarity, "coverage": coverage, "isomorphic": isomorphic}
    return score, detail


def _things(found: Mapping[str, Any]) -> dict[str, Thing]:
    """Objects and views by lower-case name; none where the map is not valid."""
    try:
        named = things(found) if is_valid(found) else {}
        finite = all(math.isfinite(thing.x) and math.isfinite(thing.y) for thing in named.values())
        return {name.strip().lower(): thing for name, thing in named.items()} if finite else {}
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, IndexError):
        return {}


def _best(ours: Mapping[str, Thing], theirs: Mapping[str, Thing], common: list[str]) -> tuple[float, bool]:
    """(similarity, isomorphic) under the turn that makes the similarity largest, the first of equals."""
    pairs = [(a, b) for a in common for b in common if a != b]
    true = {pair: relation(theirs[pair[0]], theirs[pair[1]]) for pair in pairs}
    decided = [pair for pair in pairs if true[pair] is not None]
    facing = [name for name in common if theirs[name].facing]
    faced_somewhere = any(thing.facing for thing in theirs.values())
    best = (0.0, False)
    for turn in _IN_PLANE:
        turned = {name: ROTATIONS[turn](ours[name]) for name in common}
        said = {pair: relation(turned[pair[0]], turned[pair[1]]) for pair in pairs}
        related = sum(said[pair] == true[pair] for pair in decided) / len(decided) if decided else 0.0
        faced = sum(turned[name].facing == theirs[name].facing for name in facing) / len(facing) if facing else 0.0
        similarity = 0.7 * related + 0.3 * faced if faced_somewhere else related
        if similarity > best[0]:
            best = (similarity, said == true)
    return best
