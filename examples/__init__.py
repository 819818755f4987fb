"""Things to run: each says how in its first lines."""
