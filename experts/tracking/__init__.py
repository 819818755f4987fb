"""Points followed through a clip, and whether they move in the world."""
