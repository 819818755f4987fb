"""Frames out of files: decoding, and where shots begin and end."""
