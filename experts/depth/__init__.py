"""Dense depth: Depth Anything 3, its consistency between frames, and lookups in depth maps."""
