"""The public names of the package, its imports, and its page: the code runs, the picture is up to date."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import action_mapping

ROOT = Path(__file__).parents[2]


def test_public_names_are_sorted_and_exist() -> None:
    constants, classes, functions = [], [], []
    for name in action_mapping.__all__:
        assert hasattr(action_mapping, name)
        (constants if name.isupper() else classes if name[0].isupper() else functions).append(name)
    assert action_mapping.__all__ == [*sorted(constants), *sorted(classes), *sorted(functions)]


def test_importing_takes_numpy_and_scipy_only() -> None:
    heavy = ["torch", "cv2", "av", "pycolmap", "pyceres", "zarr", "evo", "experts", "templates", "spatial_engine"]
    code = f"import action_mapping, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_the_page_runs_as_it_stands() -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "motion.md").read_text(encoding="utf-8"), re.S)
    done = subprocess.run([sys.executable, "-c", snippet], capture_output=True, text=True, check=True, cwd=ROOT)
    assert re.fullmatch(r"Dolly In \d+ steps of [\d.]+ m\n", done.stdout)


def test_the_picture_is_what_the_replays_draw() -> None:
    draw = runpy.run_path(str(ROOT / "docs" / "motion_figure.py"))["draw"]
    assert (ROOT / "docs" / "motion.svg").read_text(encoding="utf-8") == draw()
