"""The real code of the upstream packages, with random weights on a CPU: shapes, conventions, refusals; never values."""
