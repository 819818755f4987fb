"""A chat server: requests, replies, their cache, and an estimate of the cost."""
