"""Camera and effector poses in, discrete actions out, and back again. The only place that names motion.

Pure arrays: imports numpy and scipy only. No I/O, no model, no clip.
"""
