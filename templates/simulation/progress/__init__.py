"""L3/Sequential Planning/Operation: steps of a task, the order of its states, and which of two is nearer to the end."""
