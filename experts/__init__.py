"""From a clip to typed signals: one folder per kind of signal, one file per perception model.

This package may import numpy, scipy, cv2, pycolmap and av. It knows nothing about questions, stores or the command
line.
"""
