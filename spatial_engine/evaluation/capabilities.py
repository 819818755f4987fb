"""The six capabilities of "Has GPT-5 Achieved Spatial Intelligence?" (EASI), as tags on our leaves.

A leaf may carry several: a result by capability counts its questions under each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Capability = Literal["MM", "MR", "SR", "PT", "DA", "CR"]

CAPABILITIES: Mapping[Capability, str] = {
    "MM": "Metric measurement",
    "MR": "Mental reconstruction",
    "SR": "Spatial relations",
    "PT": "Perspective taking",
    "DA": "Deformation and assembly",
    "CR": "Comprehensive reasoning",
}
"""In the order of the paper."""


@dataclass(frozen=True)
class Tagged:
    """What a leaf asks for."""

    tags: tuple[Capability, ...]
    """The one that it asks for most comes first."""
    reason: str
    """Why, in a line."""


LEAF_CAPABILITIES: Mapping[str, Tagged] = {
    "L1/Geometry/Distance": Tagged(("MM",), "a length, or a ratio of lengths, is estimated from a view"),
    "L1/Geometry/Size": Tagged(("MM",), "a thing's extent is estimated from a view"),
    "L1/Geometry/Shape": Tagged(("MR",), "a solid form is made out of flat views"),
    "L1/Localization/3D Detection": Tagged(("MM", "MR"), "a thing's place and extent in space are stated as a box"),
    "L1/Localization/3D Grounding": Tagged(("SR", "MM"), "words about places single out one thing and where it is"),
    "L1/Motion/Ego": Tagged(("PT",), "how the viewpoint moved is inferred from what changed in the view"),
    "L1/Motion/Allo": Tagged(("SR", "PT"), "a thing's own motion is told apart from that of the viewpoint"),
    "L1/Orientation/Gravity": Tagged(("MM", "PT"), "angles of the viewpoint against the vertical are estimated"),
    "L1/Orientation/Object Orientation": Tagged(("PT", "MM"), "where a thing faces is stated as seen from the camera"),
    "L1/Relation/Correspondence": Tagged(("PT",), "one point is found again from another viewpoint"),
    "L1/Relation/Relative Direction": Tagged(("SR", "PT"), "a direction is stated in the axes of another viewpoint"),
    "L2/Memory/Cognitive Map": Tagged(("MR", "PT"), "views along a way are put together into one map"),
    "L2/Memory/Memory Retrieval": Tagged(("CR", "SR"), "what was seen where is recalled from a long sequence"),
    "L2/Understanding/Affordance": Tagged(("SR", "CR"), "the part that a use needs is found by what it does"),
    "L2/Understanding/Motion Understanding": Tagged(("PT", "SR"), "motions of camera and things are named together"),
    "L2/Understanding/Perspective Taking": Tagged(("PT",), "a scene is described as seen from elsewhere"),
    "L2/Understanding/Relation Understanding": Tagged(("SR",), "how things stand to one another is stated"),
    "L2/Understanding/Spatial Caption": Tagged(("SR", "CR"), "a whole layout is put into words"),
    "L3/Causal Reasoning/Dynamics": Tagged(("CR", "DA"), "what forces will do to things is foreseen"),
    "L3/Causal Reasoning/Geometry Puzzles": Tagged(("DA", "MR"), "shapes are folded, cut or joined in the mind"),
    "L3/Causal Reasoning/Relation": Tagged(("CR", "SR"), "relations are inferred from others, not seen"),
    "L3/Sequential Planning/Operation": Tagged(("CR", "DA"), "steps that change or assemble things are ordered"),
    "L3/Sequential Planning/Route": Tagged(("CR", "MR"), "a way through a reconstructed place is ordered"),
    "L4/Goal-Driven Execution/Agentic Navigation": Tagged(("CR", "PT"), "moves that bring about a view are planned"),
    "L4/Goal-Driven Execution/Robotic Arm": Tagged(("CR", "DA"), "motions that handle things are planned"),
    "L4/Open-world Exploration/Knowledge Acquisition": Tagged(("CR", "MR"), "where to look in order to learn a place"),
    "L4/Open-world Exploration/Self-Goaling": Tagged(("CR",), "goals are set from what a place affords"),
}
"""Of every leaf of `templates.ability`."""


def capabilities(ability: str) -> tuple[Capability, ...]:
    """Tags of a leaf, none for a leaf that is not ours."""
    tagged = LEAF_CAPABILITIES.get(ability)
    return tagged.tags if tagged else ()
