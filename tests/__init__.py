"""Tests mirror the folders; `tests.rendering` makes scenes with exact truth."""
