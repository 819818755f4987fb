"""Things by name: found, followed, put into boxes, and which way they face."""
