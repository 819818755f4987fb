"""What a store of very many clips costs: `generate` in shards, twice each, then the run that joins them. Clips are
rendered rooms with exact signals, hard-linked under other ids; their footage is that of the rooms. By default few
signals, abilities and questions a clip: what is measured is what the number of clips costs.

    python -m benchmarks.many_clips CLIPS FOLDER [--shards 10] [--signals gravity ...] [--questions 2]

A line for each step: clips, questions, seconds, CPU time per clip, and the largest memory of the process. What FOLDER
holds already is not done again: a benchmark that was stopped goes on. In the end, where there are at most 1 000 clips,
one process alone writes the same dataset, and the bytes of both are compared.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.data_sets import copies, rooms
from benchmarks.kills import folder_content
from spatial_engine.dataset.cost import COST
from spatial_engine.pipeline import generate
from spatial_engine.store.store import Store

_ALONE = 1000
"""Up to so many clips, one process does the same for comparison."""
_WITH_SECONDS = (COST, "README.md")
"""Files of a dataset that state how long it took."""


def main() -> None:
    """Prints the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", type=int)
    parser.add_argument("folder", type=Path, help="where everything is written; kept")
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--signals", nargs="+", default=["gravity", "camera_path"], help="that each clip has")
    parser.add_argument("--abilities", default="L1/Orientation/Gravity")
    parser.add_argument("--questions", type=int, default=2, help="per clip")
    options = parser.parse_args()
    place, shards = options.folder.resolve() / str(options.clips), options.shards
    asked = {"abilities": options.abilities, "count": options.questions * options.clips}
    store, whole, alone = place / "store", place / "in shards", place / "alone"
    if not (place / "made").is_file():
        started = time.monotonic()
        copies(rooms(place), store, options.clips, options.signals)
        (place / "made").write_text(f"{time.monotonic() - started:.1f}")
    print(f"{options.clips} clips, made in {(place / 'made').read_text()} s; {shards} shards", flush=True)
    for name in ("asking", "drawing"):
        done = [_step(f"{name} {k} of {shards}", store, whole, asked, f"{k}/{shards}") for k in
                range(1, shards + 1)]  # fmt: skip
        _tell(f"{name}, a shard on average", options.clips, done, share=1 / shards)
    _tell("joining", options.clips, [_step("joining", store, whole, asked, "")])
    if options.clips <= _ALONE:
        _tell("all in one process", options.clips, [_step("alone", store, alone, asked, "")])
        same = _content(whole) == _content(alone)
        print(f"{shards} shards and one process write {'the same' if same else 'OTHER'} bytes")


def _step(name: str, store: Path, dataset: Path, asked: dict[str, object], shard: str) -> dict[str, float]:
    """Seconds and megabytes of a run in a process of its own; those of an earlier time, where it was done then."""
    noted = dataset.with_name(f"{name}.json")
    if not noted.is_file():
        words = ["--one", str(store), str(dataset), json.dumps(asked), shard]
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.many_clips", *words], stdout=subprocess.PIPE, check=True
        )
        noted.write_bytes(done.stdout)
    found: dict[str, float] = json.loads(noted.read_bytes())
    return found


def _one(store: str, dataset: str, asked: str, shard: str) -> None:
    started = time.monotonic()
    made = generate(Store(store), dataset, shard=shard or None, **json.loads(asked))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    peak = int(re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) / 1e3  # of Linux
    questions = 0 if shard else made.audit["questions"]
    found = {"s": time.monotonic() - started, "cpu": usage.ru_utime + usage.ru_stime, "MB": peak}
    print(json.dumps(found | {"questions": questions}))


def _tell(name: str, clips: int, steps: list[dict[str, float]], share: float = 1.0) -> None:
    cpu, seconds = (sum(step[part] for step in steps) for part in ("cpu", "s"))
    questions = f"{steps[0]['questions']:.0f} questions; " if steps[0]["questions"] else ""
    print(
        f"{name}: {questions}{seconds * share:.1f} s; in all {cpu:.1f} s of CPU time, "
        f"{1e3 * cpu / clips:.2f} ms a clip; at most {max(step['MB'] for step in steps):.0f} MB",
        flush=True,
    )


def _content(dataset: Path) -> dict[str, str]:
    return {name: digest for name, digest in folder_content(dataset).items() if name not in _WITH_SECONDS}


if __name__ == "__main__":
    _one(*sys.argv[2:]) if sys.argv[1:2] == ["--one"] else main()
