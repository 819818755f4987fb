"""Kinds of hints. Imports nothing, as options name them."""

LEAVES = {
    "correspondence": "L1/Relation/Correspondence",
    "depth": "L1/Geometry/Distance",
    "size": "L1/Geometry/Size",
}
"""Kinds of hints, with the leaf whose facts they state."""
