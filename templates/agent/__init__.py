"""L4: plans that reach a goal. One file per branch of the ability tree."""
