"""L3: mental simulation. One file per branch of the ability tree."""
