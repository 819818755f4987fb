"""Datasets with ground truth, opened as clips: the media as any folder gives them, and what is known as signals."""

from spatial_engine.sequences.finding import Finding
from spatial_engine.sequences.opening import open_sequence
from spatial_engine.sequences.sequence import Sequence
from spatial_engine.sequences.truth_expert import GroundTruth, truth_at

__all__ = ["Finding", "GroundTruth", "Sequence", "open_sequence", "truth_at"]
