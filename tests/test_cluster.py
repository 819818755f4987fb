"""The recipes of docs/cluster.md, run on rendered clips: sbatch, ssh and rsync are scripts that do the same here."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spatial_engine.atomic_file import read_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation.fake_server import FakeServer
from spatial_engine.pipeline import annotate, generate
from spatial_engine.store.signal_file import artefact_hash
from spatial_engine.store.store import Store
from tests.spatial_engine.rendered_store import image_clip, short_demo

PAGE = (Path(__file__).parents[1] / "docs" / "cluster.md").read_text(encoding="utf-8")
CLIPS = 2

SCRIPTS = {
    "spatial-engine": f'#!/bin/sh\nexec {sys.executable} -m spatial_engine "$@"\n',
    # one task after the other, whatever it waits for; prints a job's number
    "sbatch": """#!/bin/bash
    wrapped=
    while [ $# -gt 1 ] || [[ $1 == --* ]]; do
        case $1 in --wrap) wrapped=$2; shift;; esac
        shift
        [ $# -gt 0 ] || break
    done
    if [ -n "$wrapped" ]; then sh -c "$wrapped" >&2; exit; fi
    range=$(sed -n 's/^#SBATCH --array=//p' "$1")
    count=${range#*-}
    for task in $(seq 1 "${count:-1}"); do
        SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=${count:-1} sh "$1" >&2 || exit 1
    done
    echo 17
    """,
    "ssh": '#!/bin/sh\nmkdir -p "$HOSTS/$1"\ncd "$HOSTS/$1" && exec sh -c "$2"\n',
    "rsync": """#!/bin/bash
    from=$2 to=$3
    case $from in *:*) from=$HOSTS/${from%%:*}/${from#*:};; esac
    case $to in *:*) to=$HOSTS/${to%%:*}/${to#*:};; esac
    mkdir -p "$to" && cp -a "$from." "$to"
    """,
}


def blocks(name: str) -> list[str]:
    """The code of the page under a name: that of a file, or of commands to type."""
    return re.findall(rf"^```sh {re.escape(name)}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("footage") / "VIDEOS"
    for number in range(1, CLIPS + 1):  # in different shards, of two and of four
        image_clip(short_demo(frames=10 + number), folder / f"room {number}")
    return folder


@pytest.fixture(scope="module")
def alone(videos: Path) -> tuple[Store, Dataset]:
    """What one machine makes."""
    store = annotate(videos, videos.parent / "store", upright=True)
    return store, generate(store, videos.parent / "dataset")


@pytest.fixture
def workplace(tmp_path: Path, videos: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder from which the user works, with the footage in it and on two other machines."""
    (tmp_path / "bin").mkdir()
    for name, script in SCRIPTS.items():
        (tmp_path / "bin" / name).write_text(re.sub(r"\n {4}", "\n", script))
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setenv("HOSTS", str(tmp_path / "hosts"))
    for place in (tmp_path / "here", tmp_path / "hosts" / "node1", tmp_path / "hosts" / "node2"):
        place.mkdir(parents=True)
        (place / "VIDEOS").symlink_to(videos)
    yield tmp_path / "here"


def type_in(workplace: Path, commands: str, **environment: str) -> None:
    done = subprocess.run(
        ["bash", "-e", "-c", commands], cwd=workplace, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"


def signals(store: Store) -> dict[str, dict[str, str]]:
    return {
        clip: {name: artefact_hash(value) for name, value in store.signals(clip).items()} for clip in store.clip_ids()
    }


def check(workplace: Path, alone: tuple[Store, Dataset], server: FakeServer) -> None:
    """The same signals and questions as on one machine, each asked once."""
    store, dataset = alone
    assert len(store.clip_ids()) == CLIPS and signals(Store(workplace / "STORE")) == signals(store)
    assert (workplace / "DATASET" / "questions.jsonl").read_bytes() == (dataset.path / "questions.jsonl").read_bytes()
    asked = [question.id for question in dataset.questions]
    lines = (workplace / "EVALUATION" / "MODEL" / "responses.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == asked and server.counts == {"answered": len(asked)}
    statuses = read_json(workplace / "EVALUATION" / "MODEL" / "result.json")["statuses"]
    assert statuses["answered"] > 0 and statuses["missing"] == statuses["failed"] == 0


def test_every_block_of_the_page_is_run_here() -> None:
    named = re.findall(r"^```(.*)$", PAGE, re.MULTILINE)
    assert {name for name in named if name} == {f"sh {name}" for name in (*FILES, "slurm", "ssh", "ray")}


FILES = ("annotate.sbatch", "ask.sbatch", "generate.sbatch", "evaluate.sbatch")


@pytest.mark.long()
def test_the_recipe_for_slurm(workplace: Path, alone: tuple[Store, Dataset]) -> None:
    for name in FILES:
        (script,) = blocks(name)
        (workplace / name).write_text(script)
    with FakeServer(alone[1], "oracle") as server:
        (commands,) = blocks("slurm")
        type_in(workplace, commands, SERVER=server.base_url)
        check(workplace, alone, server)


@pytest.mark.long()
def test_the_recipe_for_ssh(workplace: Path, alone: tuple[Store, Dataset]) -> None:
    annotating, evaluating = blocks("ssh")
    type_in(workplace, annotating)
    with FakeServer(alone[1], "oracle") as server:
        type_in(workplace, evaluating, SERVER=server.base_url)
        check(workplace, alone, server)


@pytest.mark.long()
def test_the_recipe_for_ray(workplace: Path, alone: tuple[Store, Dataset]) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
    (commands,) = blocks("ray")
    type_in(workplace, commands)
    assert signals(Store(workplace / "STORE")) == signals(alone[0])
