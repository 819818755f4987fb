"""Runs trained models: devices, batches, windows, and worker processes."""
