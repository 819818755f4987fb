"""Floor, walls, free floor and doorways of the place that a clip shows."""
