"""Scripts that run in another interpreter. They use the standard library, numpy and the upstream package only."""
