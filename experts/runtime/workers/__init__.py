"""Child halves of experts that run in another interpreter: standard library, numpy and the upstream package only."""
