"""Scores of published benchmarks, quirks included: each file names its paper or code. `scoring.scorers` lists them."""
