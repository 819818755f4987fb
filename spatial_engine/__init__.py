"""The engine: the user's files and commands in; stores, data sets, scores and reports out.

May import everything below. Decides no label. `import spatial_engine` is the documented API; it loads lazily.
"""
