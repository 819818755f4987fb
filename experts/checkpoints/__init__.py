"""Weight files: which are published, which are on this machine, and whether they have the pinned bytes."""
