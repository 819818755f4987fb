"""The signals of a clip in one world, and what a template may ask of it."""
