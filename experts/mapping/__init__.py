"""Camera paths and sparse points from pictures alone (COLMAP), and when to trust them."""
