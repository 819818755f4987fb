"""L4/Open-world Exploration/Self-Goaling: how far a task is, what is to be done next, and which task fits a scene."""
