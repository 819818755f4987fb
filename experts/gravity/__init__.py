"""Which way is up, and the field of view."""
