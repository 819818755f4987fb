"""A page of docs/ whose named blocks (```sh NAME) are typed in, as a reader would."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```(\w+) (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Page:
    """Blocks by name."""

    name: str

    @property
    def text(self) -> str:
        return (ROOT / self.name).read_text(encoding="utf-8")

    @property
    def blocks(self) -> dict[str, tuple[str, str]]:
        """Language and text."""
        return {name: (language, text) for language, name, text in _BLOCK.findall(self.text)}

    def type_in(self, block: str, folder: Path, **variables: str) -> None:
        """Runs a block of shell or Python in a folder; `spatial-engine` is this checkout's. The test fails with it."""
        language, text = self.blocks[block]
        command = ["bash", "-e", "-c", text] if language == "sh" else [sys.executable, "-c", text]
        known = os.environ | {"PATH": f"{_program(folder).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=folder, env=known | variables, capture_output=True, text=True)
        assert done.returncode == 0, f"{text}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


def _program(folder: Path) -> Path:
    command = folder / "bin" / "spatial-engine"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m spatial_engine "$@"\n')
    command.chmod(0o755)
    return command
