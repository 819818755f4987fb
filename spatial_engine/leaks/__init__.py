"""Leaks: questions that can be answered without the pictures, and content in more than one split."""
