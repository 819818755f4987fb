"""A scene in, questions out: what to ask, how to measure it, and when it is decided.

Imports numpy, scipy, `experts.signals` (types) and `action_mapping`. No I/O, no pixels, no network, no model.
"""
