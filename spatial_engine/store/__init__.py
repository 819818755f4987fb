"""Signals on disk, and what is known of each clip."""
