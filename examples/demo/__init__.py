"""The demo: a rendered clip through the whole engine, every answer held against the exact scene."""
