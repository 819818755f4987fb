"""L4: plans that lead to a goal. One file per branch of the tree."""
