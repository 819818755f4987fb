"""lmms-eval as a program: it exits 0 even where an evaluation raised, so its results file alone says that it ran."""

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one run wrote."""

    results: dict[str, Any]
    """By metric, "overall,none" and the like."""
    samples: list[dict[str, Any]]
    """Documents with responses and scores, as logged."""
    seconds: float


@dataclass(frozen=True)
class LmmsEval:
    """An environment that holds lmms-eval."""

    environment: Path

    def run(self, task: str, include: Path, out: Path, *arguments: str, **variables: str) -> Outcome:
        """Runs a task of the folder `include`. AssertionError, with the end of the log, if it wrote no results."""
        started, log = time.perf_counter(), out / "lmms-eval.log"
        out.mkdir(parents=True)
        command = [self._bin("lmms-eval"), "--tasks", task, "--include_path", str(include), "--batch_size", "1"]
        command += ["--output_path", str(out), "--log_samples", *arguments]
        with log.open("w") as lines:
            subprocess.run(command, cwd=out, env=self._variables(out, **variables), stdout=lines, stderr=lines)
        results = list(out.rglob("*_results.json"))
        assert len(results) == 1, f"lmms-eval wrote no results:\n{log.read_text()[-6000:]}"
        (samples,) = out.rglob(f"*_samples_{task}.jsonl")
        return Outcome(
            results=json.loads(results[0].read_text())["results"][task],
            samples=[json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()],
            seconds=time.perf_counter() - started,
        )

    def python(self, code: str, given: object, folder: Path, **variables: str) -> Any:
        """Runs code there, which reads JSON from stdin; returns the JSON of its last line."""
        done = subprocess.run(
            [self._bin("python"), "-c", code],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            cwd=folder,
            env=self._variables(folder, **variables),
        )
        assert done.returncode == 0, done.stderr[-6000:]
        return json.loads(done.stdout.splitlines()[-1])

    def _bin(self, name: str) -> str:
        return str(self.environment / "bin" / name)

    def _variables(self, folder: Path, **more: str) -> dict[str, str]:
        quiet = {
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_OFFLINE": "1",
            "HF_HOME": str(folder / "hf"),
            "WANDB_MODE": "disabled",
        }
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        return {**kept, **quiet, "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1", **more}
