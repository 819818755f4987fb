"""The code of the upstream packages with random weights on a CPU: shapes, conventions and refusals, but no values."""
