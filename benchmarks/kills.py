"""Kills commands at random moments, and lets two run at once on one target; counts what was lost or done twice.

    python -m benchmarks.kills [KILLS] [RACES] [SEED]      by default 100, 40, 0

annotate, generate, export, evaluate, store merge, store repair and store gc are killed in turn (SIGKILL, with their
workers). After each kill the target must be whole. In the end the same command must give what a run gives that nobody
disturbed. In a race two processes start one command on one target: one of them may be told that the other writes there.
In every second race one of the two runs in another pid namespace, where that is permitted.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from PIL import Image

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation.fake_server import FakeServer
from spatial_engine.evaluation.responses import ResponseFile
from spatial_engine.store.checksums import NO_CHECKSUM
from spatial_engine.store.damage import check_store
from spatial_engine.store.signal_file import artefact_hash
from spatial_engine.store.store import Store

RUN = "fake-oracle"
SECONDS = ("cost.json", "README.md")
"""Files of a dataset that state how long it took."""
APART = ("unshare", "--pid", "--fork", "--kill-child")
"""Starts a process in a pid namespace of its own, as a container does: its number is 1, or any other one's."""
BUSY = 2
"""Exit code where another process writes."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command that writes a target."""

    name: str
    words: Callable[[Path], list[str]]
    content: Callable[[Path], object]
    """What the target holds, without times. Raises an error for a target that is not whole."""
    on_store: bool = False
    """Whether the target is a store that exists already."""


def store_content(path: Path) -> object:
    """Hashes of all signals; those without a checksum are computed again by the next run."""
    if (path / "store.json").is_file():
        worse = [damage for damage in check_store(path).damage if damage.reason != NO_CHECKSUM]
        assert not worse, worse
    store = Store(path)
    return {id: {name: artefact_hash(one) for name, one in store.signals(id).items()} for id in store.clip_ids()}


def dataset_content(path: Path) -> object:
    """The bytes of a dataset's files but those with seconds; None before the first one is there."""
    if not path.exists():
        return None
    assert all((path / file).is_file() for question in Dataset.open(path).questions for file in question.files)
    return {name: digest for name, digest in folder_content(path).items() if name not in SECONDS}


def folder_content(path: Path) -> dict[str, str]:
    """Hash of the bytes of a folder's files, by name."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path)): sha256(file.read_bytes()).hexdigest() for file in files}


def answers(path: Path) -> object:
    """The answers of a run, by question."""
    return {key: answer.text for key, answer in ResponseFile(path / RUN / "responses.jsonl").read().items()}


def commands(root: Path, url: str) -> list[Command]:
    """The commands, on footage and a dataset below `root`."""
    dataset = str(root / "dataset")
    footage = [str(root / "videos"), "--experts", "valid_area,klt", "--workers", "2"]
    ask = ["evaluate", dataset, "--model", RUN, "--base-url", url]
    return [
        Command(name="annotate", words=lambda to: ["annotate", *footage, "-o", str(to)], content=store_content),
        Command(
            name="generate", words=lambda to: ["generate", "--puzzles", "5", "-o", str(to)], content=dataset_content
        ),
        Command(
            name="export", words=lambda to: ["export", dataset, "--to", "llava", "-o", str(to)], content=folder_content
        ),
        Command(name="evaluate", words=lambda to: [*ask, "-o", str(to)], content=answers),
        Command(
            name="store merge", words=lambda to: ["store", "merge", *halves(root), "-o", str(to)], content=store_content
        ),
        Command(
            name="store repair", words=lambda to: ["store", "repair", str(to)], content=store_content, on_store=True
        ),
        Command(name="store gc", words=lambda to: ["store", "gc", str(to)], content=store_content, on_store=True),
    ]


def halves(root: Path) -> list[str]:
    """The stores of the two shards of the footage."""
    return [str(root / f"shard {number}") for number in (1, 2)]


def shards(root: Path) -> list[Command]:
    """The commands that write them."""
    words = ["annotate", str(root / "videos"), "--experts", "valid_area,klt", "--shard"]
    return [
        Command(
            name=f"shard {number}",
            words=lambda to, number=number: [*words, f"{number}/2", "-o", str(to)],  # type: ignore[misc]
            content=store_content,
        )
        for number in (1, 2)
    ]


def start(command: Command, target: Path, before: Sequence[str] = ()) -> "subprocess.Popen[bytes]":
    """A process of the command, with a group of its own; `before`: what its line begins with."""
    line = [*before, sys.executable, "-m", "spatial_engine", *command.words(target)]
    return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)


def finished(command: Command, target: Path) -> float:
    """Runs the command to its end; returns its seconds."""
    started = time.perf_counter()
    with start(command, target) as process:
        _, told = process.communicate()
    assert process.returncode == 0, f"{command.name}: {told.decode()}"
    return time.perf_counter() - started


def kill(command: Command, target: Path, after_s: float) -> bool:
    """Whether a run was killed before it was done."""
    with start(command, target) as process:
        with suppress(subprocess.TimeoutExpired):
            process.wait(after_s)
        killed = process.poll() is None
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        with suppress(ProcessLookupError):
            while True:  # its workers as well
                os.killpg(process.pid, 0)
                time.sleep(0.02)
    return killed


def prepared(root: Path, command: Command) -> Path:
    """A target as the command finds it."""
    target = root / "targets" / command.name
    if command.on_store and not target.exists():
        shutil.copytree(root / "whole" / "annotate", target)
    return target


def main(kills: int = 100, races: int = 40, seed: int = 0) -> Counter[str]:
    """Prints and returns counts per command."""
    apart = shutil.which("unshare") is not None and not subprocess.run([*APART, "true"], check=False).returncode
    rng, counts = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        noise = np.random.default_rng(seed)
        for clip in range(6):
            (root / "videos" / str(clip)).mkdir(parents=True)
            for frame in range(4):
                picture = noise.integers(0, 256, (72, 96, 3), dtype=np.uint8)
                Image.fromarray(picture).save(root / "videos" / str(clip) / f"{frame}.png")
        puzzles = Command(name="", words=lambda to: ["generate", "--puzzles", "5", "-o", str(to)], content=answers)
        finished(puzzles, root / "dataset")
        for half in shards(root):
            finished(half, root / half.name)
        with FakeServer(Dataset.open(root / "dataset"), "oracle") as server:
            known = []
            for command in commands(root, server.base_url):
                whole = root / "whole" / command.name
                if command.on_store:
                    shutil.copytree(root / "whole" / "annotate", whole)
                known.append((command, finished(command, whole), command.content(whole)))
            asked = server.counts["answered"]
            for number in range(kills):
                command, seconds, _ = known[number % len(known)]
                target = prepared(root, command)
                counts[f"{command.name}: killed"] += kill(command, target, rng.uniform(0.3 * seconds, 1.1 * seconds))
                command.content(target)
                counts[f"{command.name}: whole after the kill"] += 1
            for command, _, content in known:
                target = prepared(root, command)
                finished(command, target)
                assert command.content(target) == content, f"{command.name} gives something else after kills"
                counts[f"{command.name}: the same in the end"] += 1
            counts["questions"] = asked
            counts["questions asked again after kills"] = server.counts["answered"] - 2 * asked
            for number in range(races):
                command, _, content = known[number % len(known)]
                shutil.rmtree(root / "targets" / command.name, ignore_errors=True)
                target = prepared(root, command)
                both = [start(command, target, before) for before in ((), APART if number % 2 and apart else ())]
                told = [process.communicate()[1].decode() for process in both]
                codes = sorted(process.returncode for process in both)
                assert codes in ([0, 0], [0, BUSY]), f"{command.name}: {codes}: {told}"
                assert command.content(target) == content, f"{command.name} gives something else in a race"
                counts[f"{command.name}: races with the same result"] += 1
                counts["races with a process in another pid namespace"] += number % 2 and apart
    print(json.dumps(dict(sorted(counts.items())), indent=1))
    return counts


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
