"""Work in processes: nothing is lost but what kills its process twice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import threadpoolctl

from spatial_engine.annotation.executor import WORKER_ENVIRONMENT, Crashed, leave_worker, run, worker_number
from spatial_engine.errors import StoreError, UsageError
from tests.spatial_engine.interrupts import heed_interrupts


def work(item: tuple[str, str]) -> str:
    """Does what the first word says."""
    does, detail = item
    match does:
        case "raise":
            raise ValueError(detail)
        case "refuse":
            raise UsageError(detail)
        case "damage":
            raise StoreError(detail)
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "die once":
            if not Path(detail).exists():
                Path(detail).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        case "answer SIGTERM":
            signal.signal(signal.SIGTERM, lambda *_: print("pages of a stack", file=sys.stderr, flush=True))
            Path(detail).write_text(str(os.getpid()))
            time.sleep(60)
        case "environment":
            return ",".join(f"{name}={os.environ[name]}" for name in WORKER_ENVIRONMENT)
        case "leave":
            leave_worker()
        case "number":
            time.sleep(0.3)
            return str(worker_number())
        case "write pid and sleep":
            Path(detail).write_text(str(os.getpid()))
            time.sleep(60)
    return detail.upper()


@pytest.mark.parametrize("workers", [0, 2])
def test_results_and_errors(workers: int) -> None:
    items = [("say", "a"), ("raise", "b"), ("say", "c")]
    results = dict(run(work, items, workers))
    assert (results["say", "a"], results["say", "c"]) == ("A", "C")
    crash = results["raise", "b"]
    assert isinstance(crash, Crashed)
    assert crash.error == "ValueError: b"
    assert "in work" in crash.traceback
    [(_, damaged)] = run(work, [("damage", "file x")], 0)
    assert isinstance(damaged, Crashed)
    assert damaged.error == "file x"


def test_deaths_cost_one_item(tmp_path: Path) -> None:
    items = [("die once", str(tmp_path / "died")), ("die", "x"), *(("say", str(n)) for n in range(6))]
    results = dict(run(work, items, 2))
    assert set(results) == set(items)
    assert {item[0] for item, result in results.items() if isinstance(result, Crashed)} == {"die"}


def test_what_concerns_every_item_ends_the_run() -> None:
    with pytest.raises(UsageError, match="no"):
        list(run(work, [("refuse", "no")], 1))


def test_workers_have_one_thread_and_leave_the_environment_alone() -> None:
    before = dict(os.environ)
    [(_, result)] = run(work, [("environment", "")], 1)
    assert result == ",".join(f"{name}={value}" for name, value in WORKER_ENVIRONMENT.items())
    assert dict(os.environ) == before


def test_workers_are_numbered() -> None:
    items = [("number", str(n)) for n in range(6)]
    assert {result for _, result in run(work, items, 2)} == {"0", "1"}
    assert {result for _, result in run(work, items[:1], 0)} == {"0"}


def test_only_a_worker_can_leave() -> None:
    assert isinstance(dict(run(work, [("leave", "x")], 1))["leave", "x"], Crashed)
    assert list(run(work, [("leave", "x")], 0)) == [(("leave", "x"), "X")]


def test_no_items_start_no_process() -> None:
    assert list(run(work, [], 2)) == []


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_workers_go_with_their_parent(tmp_path: Path, end: signal.Signals) -> None:
    note = tmp_path / "pid"
    script = tmp_path / "script.py"
    script.write_text(
        "from tests.spatial_engine.annotation.test_executor import work\n"
        "from spatial_engine.annotation.executor import run\n"
        "if __name__ == '__main__':\n"
        f"    list(run(work, [('write pid and sleep', {str(note)!r})], 1))\n"
    )
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(
        [sys.executable, str(script)], env=environment, stderr=subprocess.DEVNULL, preexec_fn=heed_interrupts
    ) as parent:
        worker = int(_await(lambda: note.read_text() if note.exists() else ""))
        parent.send_signal(end)
        assert parent.wait(timeout=20) != 0
    assert _await(lambda: "" if _lives(worker) else "gone") == "gone"


def test_sigterm_ends_a_worker_without_a_word(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Also where a native library has set a handler, as COLMAP's does when it is imported."""
    note, sent = tmp_path / "pid", []

    def send() -> None:
        if note.exists() and (pid := note.read_text()) and pid not in sent:
            sent.append(pid)
            os.kill(int(pid), signal.SIGTERM)

    ((_, result),) = run(work, [("answer SIGTERM", str(note))], 1, send)
    assert isinstance(result, Crashed) and len(sent) == 2 and capfd.readouterr().err == ""


def _await(read: Callable[[], str]) -> str:
    for _ in range(300):
        if text := read():
            return text
        time.sleep(0.1)
    raise AssertionError("waited for 30 s in vain")


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def threads_of(_: int) -> list[int]:
    import scipy.linalg  # noqa: F401 - loads its own BLAS

    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]


def test_this_process_uses_one_thread_like_a_worker() -> None:
    threads_of(0)
    ((_, inside),) = run(threads_of, [0], 0)
    assert isinstance(inside, list) and inside and set(inside) == {1}


def test_a_script_without_the_main_guard_is_told_so_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from spatial_engine.annotation.executor import run\nprint(list(run(str, [1, 2], 2)))\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and 'put the call under `if __name__ == "__main__":`, or give workers=0' in done.stderr
    assert done.stderr.count("Traceback") == 1, "that of the first process"
