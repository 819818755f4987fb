"""L1: what the pictures show. One file per branch of the ability tree."""
