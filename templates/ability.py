"""The tree of spatial abilities: 4 levels, 27 leaves. A question names its leaf "L1/Geometry/Distance"."""

TREE: dict[str, dict[str, tuple[str, ...]]] = {
    "L1": {
        "Geometry": ("Distance", "Size", "Shape"),
        "Localization": ("3D Detection", "3D Grounding"),
        "Motion": ("Ego", "Allo"),
        "Orientation": ("Gravity", "Object Orientation"),
        "Relation": ("Correspondence", "Relative Direction"),
    },
    "L2": {
        "Memory": ("Cognitive Map", "Memory Retrieval"),
        "Understanding": (
            "Affordance",
            "Motion Understanding",
            "Perspective Taking",
            "Relation Understanding",
            "Spatial Caption",
        ),
    },
    "L3": {
        "Causal Reasoning": ("Dynamics", "Geometry Puzzles", "Relation"),
        "Sequential Planning": ("Operation", "Route"),
    },
    "L4": {
        "Goal-Driven Execution": ("Agentic Navigation", "Robotic Arm"),
        "Open-world Exploration": ("Knowledge Acquisition", "Self-Goaling"),
    },
}
"""Level, branch, leaves."""

LEVELS = {"L1": "Perception", "L2": "Mental mapping", "L3": "Mental simulation", "L4": "Agentic competence"}
"""Names of the levels."""

LEAVES: tuple[str, ...] = tuple(
    f"{level}/{branch}/{leaf}"
    for level, branches in TREE.items()
    for branch, leaves in branches.items()
    for leaf in leaves
)
"""All leaves, in the order of the tree."""
