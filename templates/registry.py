"""Templates by name, loaded on demand. Third parties add theirs as entry points `spatial_engine.templates`."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass

from experts.registry import Registry
from templates.template import Template

TEMPLATES = Registry(
    "spatial_engine.templates",
    {
        "range_ratio": "templates.perception.geometry:RangeRatio",
        "range_metres": "templates.perception.geometry:RangeMetres",
        "camera_tilt": "templates.perception.orientation:CameraTilt",
        "camera_turn": "templates.perception.ego_motion:CameraTurn",
        "camera_travel": "templates.perception.ego_motion:CameraTravel",
        "point_moves": "templates.perception.allo_motion:PointMoves",
        "which_moves": "templates.perception.allo_motion:WhichMoves",
        "same_point": "templates.perception.same_point:SamePoint",
        "place_direction": "templates.perception.relation:PlaceDirection",
        "path_map": "templates.mapping.memory:PathMap",
        "route_order": "templates.simulation.route:RouteOrder",
        "navigate": "templates.agent.navigation:Navigate",
    },
)
"""All templates, in the order of the tree."""


def create_templates(abilities: Sequence[str] = (), *, unanswerable: bool = False) -> dict[str, Template]:
    """Templates by name. `abilities` keeps those whose leaf starts with one of the given paths ("L1", "L1/Motion").
    `unanswerable`: those that take such an argument also ask what the photos that are shown cannot tell.

    Raises `UnknownAbilityError` for a path that no template answers to.
    """
    known: dict[str, Template] = {name: _created(cls, unanswerable) for name, cls in TEMPLATES.load_all().items()}
    for path in abilities:
        if not any(_within(t.ability, path) for t in known.values()):
            leaves = ", ".join(sorted({t.ability for t in known.values()}))
            raise UnknownAbilityError(f"no template asks about {path!r}; there are: {leaves}")
    return {n: t for n, t in known.items() if not abilities or any(_within(t.ability, p) for p in abilities)}


class UnknownAbilityError(LookupError):
    """No template asks about that ability; the message lists those there are."""


def _created(cls: type, unanswerable: bool) -> Template:
    takes_it = is_dataclass(cls) and "unanswerable" in {field.name for field in fields(cls)}
    template: Template = cls(unanswerable=unanswerable) if takes_it else cls()
    return template


def _within(ability: str, path: str) -> bool:
    return (ability + "/").lower().startswith(path.strip("/").lower() + "/")
