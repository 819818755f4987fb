"""Running models: devices, memory, windows over long clips, batches, other interpreters."""
