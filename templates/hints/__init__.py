"""Low-level cues beside questions (SpatialTree's hints): which ones would state the answer, and pictures of them."""
