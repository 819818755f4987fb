"""Clips into signals: which experts run, on which machine, in which process."""
