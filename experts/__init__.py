"""Clips in, typed signals out: one file per perception model, and what it needs to be trusted.

May import numpy, scipy, cv2, pycolmap, av. Knows no question, no store, no command line.
"""
