"""Makes questions about a scene: proposes facts, measures them, and asks those whose answers are certain enough.

Imports numpy, scipy, `experts.signals` (types) and `action_mapping`. No I/O, no pixels, no network, no model.
"""
