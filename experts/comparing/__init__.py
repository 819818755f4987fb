"""Compares independent estimates of the same signal."""
