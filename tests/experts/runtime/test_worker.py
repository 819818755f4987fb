"""Calls to another interpreter through pipes: fake workers that print, crash, hang and send garbage."""

import ast
import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import experts.runtime.workers
from experts.expert import SetupProblem
from experts.runtime.device import is_out_of_memory
from experts.runtime.worker import (
    OutOfMemoryError,
    Worker,
    WorkerCrashed,
    WorkerFailed,
    WorkerTimedOut,
    environment,
)

ROOT = Path(__file__).parents[2]
CHILD = """
import ctypes, os, signal, subprocess, sys, time
import numpy as np

class OutOfMemoryError(RuntimeError):
    pass

class SetupProblem(Exception):
    pass

def load(request):
    print("loading", flush=True)
    if request.get("slow_load"):
        time.sleep(60)
    if request.get("die"):
        os._exit(5)
    if request.get("lacking"):
        raise SetupProblem("no GPU; buy one")
    if request.get("missing"):
        import no_such_package_of_upstream
    return {"pid": os.getpid(), "calls": 0}

def run(state, request, arrays):
    state["calls"] += 1
    do = request["do"]
    if do == "echo":
        return {"pid": state["pid"], "calls": state["calls"], "path": sys.path}, arrays
    if do == "flood":
        for _ in range(300):
            print("x" * 4096)
            sys.stderr.write("y" * 4096)
            os.write(1, b"z" * 4096)
        ctypes.CDLL(None).puts(b"from C")
        return {}, {}
    if do == "exit":
        sys.stderr.write("last words\\n")
        os._exit(3)
    if do == "sys.exit":
        sys.exit(4)
    if do == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if do == "hang":
        time.sleep(60)
    if do == "shout":
        while True:
            sys.stderr.write("y" * 4096)
    if do == "raise":
        raise ValueError("no such thing")
    if do == "no memory":
        raise OutOfMemoryError("CUDA error: out of memory")
    if do == "no host memory":
        raise MemoryError()
    if do == "lost card":
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    if do == "wire":
        replies = int(sys.argv[4])
        os.write(replies, bytes.fromhex(request["bytes"]))
        time.sleep(0 if request.get("go_on") else 60)
        os._exit(0)
    if do == "objects":
        return {}, {"a": np.array([object()])}
    if do == "no json":
        return {"a": object()}, {}
    if do == "grandchild":
        return {"pid": subprocess.Popen(["sleep", "60"]).pid}, {}
    if do == "read stdin":
        return {"stdin": sys.stdin.read()}, {}
    if do == "missing file":
        return {"folder": sys.argv[2]}, {}
"""


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "child.py"
    path.write_text(textwrap.dedent(CHILD))
    return path


@pytest.fixture
def worker(script: Path) -> Iterator[Worker]:
    with Worker(sys.executable, script, 20.0) as made:
        yield made


def folders() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("spatial-engine-worker-*"))


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone_within(pid: int, limit_s: float = 20.0) -> bool:
    end = time.monotonic() + limit_s
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(pid)


def echo(worker: Worker, **arrays: np.ndarray) -> tuple[dict, dict[str, np.ndarray]]:
    return worker.call({"do": "echo"}, arrays)


def test_arrays_come_back_as_they_were(worker: Worker) -> None:
    base = np.arange(24, dtype=np.int16).reshape(4, 6)
    sent = {
        "turned": base.T,
        "strided": base[::2, ::3],
        "half": np.float16([1.5, np.nan]),
        "truth": np.array([[True], [False]]),
        "empty": np.zeros((0, 7, 2), np.float32),
        "scalar": np.array(3.0),
        "big endian": np.arange(3, dtype=">i4"),
        "../name of mine": np.arange(2, dtype=np.uint8),
    }
    _, got = echo(worker, **sent)
    assert list(got) == list(sent)
    for name, array in sent.items():
        assert got[name].dtype == array.dtype and got[name].shape == array.shape
        np.testing.assert_array_equal(got[name], array)


def test_big_arrays(worker: Worker) -> None:
    big = np.random.default_rng(0).integers(0, 255, (64, 512, 1024), dtype=np.uint8)
    np.testing.assert_array_equal(echo(worker, big=big)[1]["big"], big)


def test_it_loads_once_and_keeps_its_process(worker: Worker) -> None:
    answers = [echo(worker)[0] for _ in range(3)]
    assert [answer["calls"] for answer in answers] == [1, 2, 3] and len({answer["pid"] for answer in answers}) == 1


def test_the_folder_is_private_and_goes_with_the_worker(script: Path) -> None:
    before = folders()
    with Worker(sys.executable, script, 20.0) as worker:
        pid = echo(worker, a=np.zeros(3))[0]["pid"]
        (folder,) = folders() - before
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and not list(folder.iterdir())
    assert folders() == before and gone_within(pid)


def test_upstream_sees_neither_our_modules_nor_our_path(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/packages/of/ours")
    path = echo(worker)[0]["path"]
    assert not {"/packages/of/ours", str(ROOT / "experts"), str(ROOT / "experts" / "runtime" / "workers")} & set(path)


def test_printed_output_does_not_disturb_the_pipe(worker: Worker) -> None:
    assert worker.call({"do": "flood"}, {}) == ({}, {})
    assert echo(worker)[0]["calls"] == 2


def test_upstream_cannot_wait_for_a_keyboard(worker: Worker) -> None:
    assert worker.call({"do": "read stdin"}, {})[0] == {"stdin": ""}


@pytest.mark.parametrize(
    ("do", "words"), [("exit", "exit code 3.*last words"), ("kill", "SIGKILL.*out of memory")], ids=["exit", "kill"]
)
def test_a_crash_costs_one_call(worker: Worker, do: str, words: str) -> None:
    before = folders()
    first = echo(worker)[0]["pid"]
    with pytest.raises(WorkerCrashed, match=words):
        worker.call({"do": do}, {"a": np.zeros(3)})
    assert folders() == before
    answer = echo(worker)[0]
    assert answer["pid"] != first and answer["calls"] == 1


@pytest.mark.parametrize("do", ["hang", "shout"])
def test_a_hang_is_ended(script: Path, do: str) -> None:
    with Worker(sys.executable, script, 1.0) as worker:
        pid = echo(worker)[0]["pid"]
        started = time.monotonic()
        with pytest.raises(WorkerTimedOut):
            worker.call({"do": do}, {})
        assert time.monotonic() - started < 5 and gone_within(pid)
        assert echo(worker)[0]["calls"] == 1


def test_loading_has_its_own_limit(script: Path) -> None:
    with (
        Worker(sys.executable, script, 0.5, load_timeout_s=1.0) as worker,
        pytest.raises(SetupProblem, match="in time"),
    ):
        worker.load({"slow_load": True})
    with Worker(sys.executable, script, 0.5, load_timeout_s=30.0) as worker:
        worker.load({})
        assert echo(worker)[0]["calls"] == 1


def test_errors_come_back_whole(worker: Worker) -> None:
    pid = echo(worker)[0]["pid"]
    for _ in range(2):
        with pytest.raises(WorkerFailed, match="ValueError: no such thing") as caught:
            worker.call({"do": "raise"}, {})
    assert "in run" in caught.value.traceback and not is_out_of_memory(caught.value)
    for do, kind in (("sys.exit", "SystemExit"), ("objects", "ValueError"), ("no json", "TypeError")):
        with pytest.raises(WorkerFailed, match=kind):
            worker.call({"do": do}, {})
    assert echo(worker)[0]["pid"] == pid


@pytest.mark.parametrize("do", ["no memory", "no host memory"])
def test_running_out_of_memory_is_recognised(worker: Worker, do: str) -> None:
    pid = echo(worker)[0]["pid"]
    with pytest.raises(OutOfMemoryError) as caught:
        worker.call({"do": do}, {})
    assert is_out_of_memory(caught.value) and echo(worker)[0]["pid"] == pid


def test_a_process_that_lost_the_gpu_is_replaced(worker: Worker) -> None:
    pid = echo(worker)[0]["pid"]
    with pytest.raises(WorkerFailed, match="illegal memory"):
        worker.call({"do": "lost card"}, {})
    assert echo(worker)[0]["pid"] != pid


@pytest.mark.parametrize(
    "sent",
    [
        "ff" * 8,  # announces 2^64 bytes
        (8 << 4).to_bytes(8, "big").hex() + "00" * 128,  # no JSON
        (2).to_bytes(8, "big").hex() + b"[]".hex(),  # no object
        (23).to_bytes(8, "big").hex() + b'{"result": {}, "a": 12}'.hex(),  # no arrays
        (41).to_bytes(8, "big").hex() + b'{"result": {}, "arrays": {"a": "no.npy"}}'.hex(),  # no such file
    ],
)
def test_garbage_in_the_pipe_is_a_crash(worker: Worker, sent: str) -> None:
    with pytest.raises(WorkerCrashed):
        worker.call({"do": "wire", "bytes": sent}, {})
    assert echo(worker)[0]["calls"] == 1


def test_a_truncated_answer_is_an_error(script: Path) -> None:
    half = (100).to_bytes(8, "big").hex() + "7b"
    with Worker(sys.executable, script, 1.0, load_timeout_s=5.0) as worker:
        with pytest.raises(WorkerCrashed):
            worker.call({"do": "wire", "bytes": half, "go_on": True}, {})
        worker.load({})
        with pytest.raises(WorkerTimedOut):
            worker.call({"do": "wire", "bytes": half}, {})


def test_an_invalid_request_is_not_sent(worker: Worker) -> None:
    with pytest.raises(ValueError, match="as arrays"):
        worker.call({"do": "x" * (17 << 20)}, {})
    with pytest.raises(ValueError, match="pickle"):
        worker.call({"do": "echo"}, {"a": np.array([object()])})
    assert echo(worker)[0]["calls"] == 1


def test_two_workers_at_once(script: Path) -> None:
    with Worker(sys.executable, script, 20.0) as a, Worker(sys.executable, script, 20.0) as b:
        for value in range(3):
            assert echo(a, x=np.array(value))[1]["x"] == value and echo(b, x=np.array(-value))[1]["x"] == -value
        assert echo(a)[0]["pid"] != echo(b)[0]["pid"]


def test_processes_that_the_child_started_end_with_it(worker: Worker) -> None:
    pid = worker.call({"do": "grandchild"}, {})[0]["pid"]
    assert alive(pid)
    worker.close()
    assert gone_within(pid)


@pytest.mark.parametrize("busy", [False, True])
def test_the_child_dies_with_its_parent(script: Path, busy: bool) -> None:
    before = folders()
    program = f"""
import sys
from pathlib import Path
from experts.runtime.worker import Worker
worker = Worker(sys.executable, Path({str(script)!r}), 60.0)
print(worker.call({{"do": "echo"}}, {{}})[0]["pid"], flush=True)
worker.call({{"do": "hang"}}, {{}}) if {busy} else sys.stdin.read()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        os.kill(parent.pid, signal.SIGKILL)
    assert gone_within(pid, 20.0)
    end = time.monotonic() + 20.0
    while not folders() <= before and time.monotonic() < end:
        time.sleep(0.05)
    assert folders() <= before


def test_an_interrupted_call_does_not_answer_the_next_one(worker: Worker) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    echo(worker)
    old = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            worker.call({"do": "hang"}, {})
    finally:
        signal.signal(signal.SIGALRM, old)
    assert echo(worker)[0]["calls"] == 1


def test_a_missing_interpreter_names_its_variable(script: Path) -> None:
    worker = Worker("/no/such/python", script, 1.0, variable="SPATIAL_ENGINE_PYTHON_SOMETHING")
    with pytest.raises(SetupProblem, match="SPATIAL_ENGINE_PYTHON_SOMETHING"):
        echo(worker)


def test_a_missing_package_is_a_setup_problem(worker: Worker) -> None:
    with pytest.raises(SetupProblem, match="no_such_package_of_upstream"):
        worker.load({"missing": True})


def test_a_script_can_report_a_setup_problem(worker: Worker) -> None:
    with pytest.raises(SetupProblem) as caught:
        worker.load({"lacking": True})
    assert (caught.value.cause, caught.value.remedy) == ("no GPU", "buy one")


def test_a_process_that_ends_while_loading_is_a_setup_problem(worker: Worker) -> None:
    with pytest.raises(SetupProblem, match="exit code 5"):
        worker.load({"die": True})


def test_a_file_that_is_not_an_interpreter(script: Path) -> None:
    with Worker("/bin/false", script, 5.0) as worker, pytest.raises(WorkerCrashed, match="exit code 1"):
        echo(worker)


def test_the_environment_is_named_by_two_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python, upstream = "SPATIAL_ENGINE_PYTHON_MY_EXPERT", "SPATIAL_ENGINE_UPSTREAM_MY_EXPERT"
    monkeypatch.delenv(python, raising=False)
    monkeypatch.delenv(upstream, raising=False)

    def asked(default: str | None = None) -> object:
        return environment("my_expert", packages="conda env create -f x.yml", checkout="git clone x", python=default)

    with pytest.raises(SetupProblem, match=f"conda env create -f x.yml; export {python}"):
        asked()
    monkeypatch.setenv(python, "/no/such/python")
    with pytest.raises(SetupProblem, match="cannot be run: '/no/such/python'"):
        asked()
    monkeypatch.setenv(python, sys.executable)
    with pytest.raises(SetupProblem, match=f"git clone x; export {upstream}"):
        asked()
    monkeypatch.setenv(upstream, str(tmp_path / "none"))
    with pytest.raises(SetupProblem, match="no folder"):
        asked()
    monkeypatch.setenv(upstream, str(tmp_path))
    assert asked() == environment("my_expert", packages="", checkout="", python=None)


@pytest.mark.parametrize(
    "path", sorted(Path(experts.runtime.workers.__file__).parent.glob("*.py")), ids=lambda path: path.name
)
def test_worker_scripts_import_nothing_of_ours(path: Path) -> None:
    """They are valid Python 3.9 and import only allowed packages."""
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in top if isinstance(node, ast.ImportFrom)}
    known = sys.stdlib_module_names | {"numpy"}
    assert {name.partition(".")[0] for name in names} <= known
