"""A dataset: written, balanced, drawn, audited, described, split."""
