"""A dataset about every leaf of the tree of abilities, from rendered rooms, rendered episodes and puzzles."""
