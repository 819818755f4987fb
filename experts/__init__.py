"""Clips in, typed signals out: a folder per kind of signal, a file per perception model.

May import numpy, scipy, cv2, pycolmap, av. Knows no question, no store, no command line.
"""
