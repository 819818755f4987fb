"""L3: what must be played through in the mind. One file per branch of the tree."""
