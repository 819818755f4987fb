"""L2: a map of the scene built in memory. One file per branch of the ability tree."""
