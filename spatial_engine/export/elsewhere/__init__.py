"""Code that runs in another program, copied into an export: never imported here, for it imports that program.

Of ours it needs nothing but what `scorer.zip` beside the copy holds.
"""

from pathlib import Path


def source(module: str) -> bytes:
    """The text of a module of this folder, to be copied."""
    return (Path(__file__).parent / f"{module}.py").read_bytes()
