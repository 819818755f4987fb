"""Code that runs inside lmms-eval or VLMEvalKit. `scorer_archive.task_code` copies it into an export.

It may import only the modules that `scorer.zip` beside the copy holds. No module of this package imports it.
"""
