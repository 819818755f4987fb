"""Matches: pixels of the same scene point in two frames."""
