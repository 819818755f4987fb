"""Weight files: what was published, what lies here, whether it is that."""
