"""L2: from pictures to a map in mind. One file per branch of the tree."""
