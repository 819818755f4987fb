"""A data set: written, balanced, drawn, audited, described, split."""
