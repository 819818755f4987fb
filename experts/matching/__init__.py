"""The same point in two frames."""
