"""Annotation: experts measure signals of clips, in worker processes."""
