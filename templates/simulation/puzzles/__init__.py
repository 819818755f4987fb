"""Puzzles: drawings alone, made by rule and solved exactly. One file per kind."""
