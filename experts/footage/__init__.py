"""Reads footage: decodes frames and detects shots."""
