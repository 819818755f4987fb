"""The tree of abilities with the published sets of weights. No two publications agree."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spatial_engine.errors import UsageError
from templates.ability import TREE

SHORT_BRANCHES: Mapping[str, str] = {
    "Understanding": "Underst.",
    "Causal Reasoning": "Caus. Reas.",
    "Sequential Planning": "Seq. Plan.",
}
"""Branches that have another name in the benchmark."""

_LEAF_WEIGHTS: Mapping[str, float] = {
    "L1/Geometry/Distance": 0.65, "L1/Geometry/Shape": 0.1, "L1/Geometry/Size": 0.25,
    "L1/Localization/3D Detection": 0.65, "L1/Localization/3D Grounding": 0.35,
    "L1/Motion/Allo": 0.5, "L1/Motion/Ego": 0.5,
    "L1/Orientation/Gravity": 0.4, "L1/Orientation/Object Orientation": 0.6,
    "L1/Relation/Correspondence": 0.5, "L1/Relation/Relative Direction": 0.5,
    "L2/Memory/Cognitive Map": 0.7, "L2/Memory/Memory Retrieval": 0.3,
    "L2/Understanding/Affordance": 0.25, "L2/Understanding/Motion Understanding": 0.25,
    "L2/Understanding/Perspective Taking": 0.05, "L2/Understanding/Relation Understanding": 0.35,
    "L2/Understanding/Spatial Caption": 0.1,
    "L3/Causal Reasoning/Dynamics": 0.3, "L3/Causal Reasoning/Geometry Puzzles": 0.55,
    "L3/Causal Reasoning/Relation": 0.15,
    "L3/Sequential Planning/Operation": 0.6, "L3/Sequential Planning/Route": 0.4,
    "L4/Goal-Driven Execution/Agentic Navigation": 0.5, "L4/Goal-Driven Execution/Robotic Arm": 0.5,
    "L4/Open-world Exploration/Knowledge Acquisition": 0.7, "L4/Open-world Exploration/Self-Goaling": 0.3,
}  # fmt: skip
"""Weight of a leaf within its branch: spatree_hierarchy.json, the only place that gives them."""


@dataclass(frozen=True, kw_only=True)
class WeightSet:
    """Weights of levels, and of branches within them, on any scale: a node is a weighted mean."""

    name: str
    source: str
    """Where it is published, and what that publication leaves open."""
    levels: tuple[float, float, float, float]
    perception: tuple[float, float, float, float, float]
    """Geometry, Localization, Motion, Orientation, Relation."""
    mapping: tuple[float, float]
    """Memory, Understanding."""
    simulation: tuple[float, float]
    """Causal Reasoning, Sequential Planning."""
    agent: tuple[float, float]
    """Goal-Driven Execution, Open-world Exploration."""

    def tree(self) -> dict[str, tuple[float, dict[str, tuple[float, dict[str, float]]]]]:
        """{level: (weight, {branch: (weight, {leaf: weight})})}, in our names."""
        branches = (self.perception, self.mapping, self.simulation, self.agent)
        return {
            level: (
                self.levels[place],
                {
                    branch: (weight, {leaf: _LEAF_WEIGHTS[f"{level}/{branch}/{leaf}"] for leaf in TREE[level][branch]})
                    for branch, weight in zip(TREE[level], branches[place], strict=True)
                },
            )
            for place, level in enumerate(TREE)
        }

    def shares(self) -> Iterator[tuple[str, float]]:
        """Each leaf's share of the whole; the shares sum to 1."""
        tree = self.tree()
        of_levels = sum(weight for weight, _ in tree.values())
        for level, (level_weight, branches) in tree.items():
            of_branches = sum(weight for weight, _ in branches.values())
            for branch, (branch_weight, leaves) in branches.items():
                share = level_weight / of_levels * branch_weight / of_branches / sum(leaves.values())
                for leaf, weight in leaves.items():
                    yield f"{level}/{branch}/{leaf}", share * weight


_EQUAL = (0.25, 0.25, 0.25, 0.25)
WEIGHT_SETS: Mapping[str, WeightSet] = {
    each.name: each
    for each in (
        WeightSet(
            name="published",
            source="What the printed averages of the SpatialTree paper and the per-level scores of its project page "
            "were computed with: hierarchy-json but for level 2. Found by least squares (rmse 0.04 points).",
            levels=_EQUAL,
            perception=(0.5, 0.2, 0.05, 0.1, 0.15),
            mapping=(0.3, 0.7),
            simulation=(0.65, 0.35),
            agent=(0.5, 0.5),
        ),
        WeightSet(
            name="hierarchy-json",
            source="spatree_hierarchy.json of lmms-eval's spatialtreebench: what the official code computes.",
            levels=_EQUAL,
            perception=(0.5, 0.2, 0.05, 0.1, 0.15),
            mapping=(1.0, 1.0),
            simulation=(0.65, 0.35),
            agent=(0.5, 0.5),
        ),
        WeightSet(
            name="table-header",
            source="Header of the SpatialTree paper's main table. It gives no weights of levels: equal ones are taken; "
            "leaves as in hierarchy-json.",
            levels=_EQUAL,
            perception=(0.4, 0.2, 0.15, 0.1, 0.15),
            mapping=(0.3, 0.7),
            simulation=(0.65, 0.35),
            agent=(0.5, 0.5),
        ),
        WeightSet(
            name="draft",
            source="Figure D of the SpatialTree paper's ICLR draft; leaves as in hierarchy-json.",
            levels=(0.3, 0.3, 0.2, 0.2),
            perception=(0.3, 0.3, 0.1, 0.2, 0.1),
            mapping=(0.5, 0.5),
            simulation=(0.5, 0.5),
            agent=(0.5, 0.5),
        ),
    )
}


def weight_set(name: str) -> WeightSet:
    """Raises UsageError for a name that is not known."""
    if name not in WEIGHT_SETS:
        raise UsageError(f"no set of weights is called {name!r}", f"choose one of {', '.join(WEIGHT_SETS)}")
    return WEIGHT_SETS[name]


def official_name(path: str) -> str:
    """A path or a part of one as the benchmark writes it: "L2/Understanding/Affordance" is "L2/Underst./Affordance"."""
    return "/".join(SHORT_BRANCHES.get(name, name) for name in path.split("/"))
