"""Leaks: what can be answered without the pictures, and what more than one split has."""
