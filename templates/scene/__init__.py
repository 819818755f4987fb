"""The signals of a clip in one world frame, and the geometry that templates compute from them."""
