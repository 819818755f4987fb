"""Cognitive maps against the true one (MindCube's measure, `cogmapeval` of lmms-eval's spatialtreebench)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import cos, radians, sin, sqrt
from typing import Any

from spatial_engine.scoring.official.reading import read_letter, read_map
from spatial_engine.scoring.official.reference import Result, metric

_SAME_FACING = {
    "up": ("up", "top", "north"),
    "down": ("down", "bottom", "south"),
    "left": ("left", "west"),
    "right": ("right", "east"),
    "inner": ("inner", "front", "into", "inside", "forward"),
    "outer": ("outer", "back", "out", "outside", "backward"),
}
_FACING = {word: facing for facing, words in _SAME_FACING.items() for word in words}
_CLOCKWISE = ("up", "right", "down", "left")
_ABOUT_X = {"up": "inner", "down": "outer", "inner": "down", "outer": "up"}
_ABOUT_Y = {"left": "inner", "right": "outer", "inner": "right", "outer": "left"}


@dataclass(frozen=True, slots=True)
class MapObject:
    """An object or a view of a map: x to the right, y down, in the map's units."""

    x: float
    y: float
    facing: str | None


@dataclass(frozen=True, slots=True)
class Similarity:
    """Similarity of a predicted map, under one rotation, to the true one."""

    rotation: str | None = None
    directional: float = 0.0
    """Share of the true relations between objects that both maps have."""
    facing: float = 0.0
    """Share of the true facings; 1 if the truth has none."""
    overall: float = 0.0
    isomorphic: bool = False
    """Whether every object is there and every relation agrees, undecided ones included."""


@metric
def cogmapeval(response: Any, answer: Any, extra_info: Any) -> Result:
    """0.2 for the letter, 0.6 for the similarity of the maps under the best of six rotations, 0.2 for isomorphism.

    `answer`: the bare letter. `extra_info`: `cogmap`, the true map or its JSON text, and `id_type`. Only objects that
    both maps have are compared. Their share of the true ones is reported (`coverage`) and costs nothing.
    """
    id_type, truth = extra_info["id_type"], extra_info["cogmap"]
    if response and not isinstance(response, str):
        raise TypeError("expected string")
    letter = read_letter(response) if response else None
    truth = read_map(truth) if isinstance(truth, str) else truth
    (id_type or "").lower()  # the reference derives an unused setting from it, and may fail here
    details = {
        "rotation_invariant_isomorphic": 0.0,
        "overall_similarity": 0.0,
        "parsable_json": 0,
        "valid_format": 0,
        "valid_graph": 0,
        "coverage": 0.0,
        "position_similarity": 0.0,
        "facing_similarity": 0.0,
        "best_rotation": None,
        **_compare(_predicted(response), truth),
    }
    correct = float(letter is not None and letter == answer)
    similarity, isomorphic = details["overall_similarity"], details["rotation_invariant_isomorphic"]
    return {"score": 0.2 * correct + 0.6 * similarity + 0.2 * isomorphic, "details": details}


def _predicted(response: str | None) -> Any:
    try:
        return read_map(response) if response else None
    except (ValueError, RecursionError):
        return None


def _compare(predicted: Any, truth: Any) -> dict[str, Any]:
    """The details that are not 0."""
    if not predicted or not truth or not isinstance(predicted, dict) or not isinstance(truth, dict):
        return {}
    if not isinstance(predicted.get("objects"), list):
        predicted = {name: entry[0] if isinstance(entry, list) else entry for name, entry in predicted.items()}
    if not all([is_valid(predicted), is_valid(truth)]):  # every entry of both: one beyond floats raises
        return {"parsable_json": 1}
    found, true = map_objects(predicted), map_objects(truth)
    if not found or not true:
        return {"parsable_json": 1, "valid_format": 1}
    wanted = set(true)
    if "views" not in predicted and "objects" in truth:
        wanted = {entry["name"] for entry in truth["objects"]}
    common = wanted & found.keys()
    best = _best(found, true, common, complete=common == wanted) if common else Similarity()
    return {
        "rotation_invariant_isomorphic": float(best.isomorphic),
        "overall_similarity": best.overall,
        "parsable_json": 1,
        "valid_format": 1,
        "valid_graph": 1,
        "coverage": len(common) / len(wanted) if wanted else 0.0,
        "position_similarity": best.directional,
        "facing_similarity": best.facing,
        "best_rotation": best.rotation,
    }


def is_valid(cognitive_map: Mapping[str, Any]) -> bool:
    """Whether every entry has a position of two numbers or more, and a facing that is known if it has one."""
    if not isinstance(cognitive_map.get("objects"), list):
        valid = [_is_valid_entry(entry) for entry in cognitive_map.values()]
    else:
        views = cognitive_map.get("views", [])
        entries = [*cognitive_map["objects"], *(views if isinstance(views, list) else [None])]
        valid = [_is_valid_entry(entry) and "name" in entry for entry in entries]
    return all(valid)


def _is_valid_entry(entry: Any) -> bool:
    """Numbers may be text or bool. Raises OverflowError for integers beyond floats."""
    if not isinstance(entry, dict) or not isinstance(position := entry.get("position"), list) or len(position) < 2:
        return False
    try:
        float(position[0]), float(position[1])
    except (ValueError, TypeError):
        return False
    facing = entry.get("facing")
    if facing is None or facing == []:
        return True
    facing = facing[0] if isinstance(facing, list) else facing
    return isinstance(facing, str) and facing.lower().strip() in _FACING


def map_objects(cognitive_map: Mapping[str, Any]) -> dict[str, MapObject]:
    """Objects and views of a valid map by name; of equal names the last. Raises TypeError for unhashable names."""
    if "objects" not in cognitive_map:
        return {name: _map_object(entry) for name, entry in cognitive_map.items()}
    entries: list[Any] = [*cognitive_map["objects"], *cognitive_map.get("views", [])]
    if not isinstance(cognitive_map["objects"], list):  # a simple map with an object of that name: the reference looks
        entries = [key["name"] for key in entries if "name" in key]  # at its keys, and finds none or fails
    return {entry["name"]: _map_object(entry) for entry in entries}


def _map_object(entry: Mapping[str, Any]) -> MapObject:
    facing = entry.get("facing") or None
    facing = facing[0] if isinstance(facing, list) else facing
    x, y = entry["position"][:2]
    return MapObject(float(x), float(y), facing and _FACING[facing.lower().strip()])


def _about_z(degrees: int) -> Callable[[MapObject], MapObject]:
    c, s = (
        cos(radians(degrees)),
        sin(radians(degrees)),
    )  # rounded as in the reference: that decides ties

    def rotated(item: MapObject) -> MapObject:
        facing = item.facing
        if facing in _CLOCKWISE:
            facing = _CLOCKWISE[(_CLOCKWISE.index(facing) + degrees // 90) % 4]
        return MapObject(c * item.x - s * item.y, s * item.x + c * item.y, facing)

    return rotated


def _about(axis: Mapping[str, str], x: float, y: float) -> Callable[[MapObject], MapObject]:
    """A rotation by 90° about an axis of the plane: it flattens the map onto that axis."""

    def rotated(item: MapObject) -> MapObject:
        facing = item.facing and axis.get(item.facing, item.facing)
        return MapObject(x * item.x + 0.0 * item.y, y * item.y + 0.0 * item.x, facing)

    return rotated


ROTATIONS: Mapping[str, Callable[[MapObject], MapObject]] = {
    "identity": _about({}, 1.0, 1.0),
    **{f"z_rot_{degrees}": _about_z(degrees) for degrees in (90, 180, 270)},
    "x_rot_90": _about(_ABOUT_X, 1.0, 0.0),
    "y_rot_90": _about(_ABOUT_Y, 0.0, 1.0),
}
"""Rotations of the predicted map that are tried, in this order."""


def relation(a: MapObject, b: MapObject) -> str | None:
    """Direction from a to b: right, left, down, up; nearer than 0.5, inner or outer by their facings, or None."""
    dx, dy = b.x - a.x, b.y - a.y
    distance = sqrt(dx * dx + dy * dy)
    if distance < 0.5:
        if a.facing == "inner" or b.facing == "outer":
            return "inner"
        if a.facing == "outer" or b.facing == "inner":
            return "outer"
        return "inner" if distance < 0.2 else None
    if abs(dx) > abs(dy):
        return "right" if dx > 0 else "left"
    return "down" if dy > 0 else "up"


def _best(
    predicted: Mapping[str, MapObject], true: Mapping[str, MapObject], common: set[str], *, complete: bool
) -> Similarity:
    """The rotation with the largest similarity, the first of equals."""
    names = list(common)
    true_relations = _relations(true, names)
    decided = [pair for pair, related in true_relations.items() if related is not None]
    facing = [name for name in names if true[name].facing]
    best = Similarity()
    for rotation, rotate in ROTATIONS.items():
        rotated = {name: rotate(predicted[name]) for name in names}
        relations = _relations(rotated, names)
        directional = _share(relations[pair] == true_relations[pair] for pair in decided)
        faced = _share((rotated[name].facing == true[name].facing for name in facing), of_none=1.0)
        overall = 0.7 * directional + 0.3 * faced
        if overall > best.overall:
            best = Similarity(rotation, directional, faced, overall, complete and relations == true_relations)
    return best


def _relations(of: Mapping[str, MapObject], names: Iterable[str]) -> dict[tuple[str, str], str | None]:
    return {(a, b): relation(of[a], of[b]) for a in names for b in names if a != b}


def _share(hits: Iterable[bool], of_none: float = 0.0) -> float:
    outcomes = list(hits)
    return sum(outcomes) / len(outcomes) if outcomes else of_none
