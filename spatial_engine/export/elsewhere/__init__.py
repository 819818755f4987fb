"""Code that runs in another program. `scorer_archive.task_code` copies it into an export; nothing here imports it.

It needs nothing of this package but what `scorer.zip` beside the copy holds.
"""
