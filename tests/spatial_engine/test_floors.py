"""The shape of the house: floors, names, and what importing costs."""

import subprocess
import sys
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("spatial_engine", "templates", "experts", "action_mapping")
HEAVY = {
    "torch",
    "cv2",
    "av",
    "pycolmap",
    "pyceres",
    "open3d",
    "requests",
    "httpx",
    "aiohttp",
    "urllib3",
    "socket",
    "http.client",
}


def modules_after(code: str) -> set[str]:
    """Names in `sys.modules` of a fresh process that ran `code`."""
    program = f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


@pytest.mark.parametrize("package", ["templates", "action_mapping"])
def test_pure_packages_import_nothing_heavy(package: str) -> None:
    files = [path for path in (ROOT / package).rglob("*.py") if path.name != "__init__.py"]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files]
    assert modules_after(f"import {', '.join([package, *names])}") & HEAVY - {"socket"} == set()


def test_the_api_is_lazy() -> None:
    loaded = modules_after("import spatial_engine as se; dir(se); se.__version__")
    assert loaded & {"torch", "scipy", "sklearn", "cv2", "zarr", "numpy", "rich", "typer"} == set()


def test_importing_is_quick() -> None:
    """0.3 s of processor time: the wall clock of a busy machine says nothing about us."""
    program = "import time; a = time.process_time(); import spatial_engine; print(time.process_time() - a)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert float(done.stdout) < 0.3


def test_help_is_quick_and_light() -> None:
    program = (
        "import sys, time\nfrom spatial_engine.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('seconds', time.process_time())\nprint(*sys.modules, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    words = done.stdout.split()
    assert set(words) & {"torch", "scipy", "sklearn", "cv2", "zarr", "numpy"} == set()
    assert float(words[words.index("seconds") + 1]) < 0.3


def test_public_names() -> None:
    import spatial_engine

    assert sorted(spatial_engine.__all__) == spatial_engine.__all__
    for name in spatial_engine.__all__:
        assert callable(getattr(spatial_engine, name))
    with pytest.raises(AttributeError, match="it has: AnnotateOptions"):
        spatial_engine.annotade  # noqa: B018


def test_folders_do_not_hide_functions() -> None:
    import spatial_engine
    import spatial_engine.export.spatialtree
    import spatial_engine.report.pages

    assert spatial_engine.export.__name__ == "export"
    assert not hasattr(spatial_engine.export, "__path__")
    assert not hasattr(spatial_engine.report, "__path__")


def test_the_four_names_are_ours_alone() -> None:
    owners = packages_distributions()  # knows nothing of editable installations: those are seen by their place
    assert {name for name in PACKAGES if set(owners.get(name, ())) - {"spatial-engine"}} == set()
    places = {name: find_spec(name) for name in PACKAGES}
    assert {name: Path(str(spec and spec.origin)).parent for name, spec in places.items()} == {
        name: ROOT / name for name in PACKAGES
    }


def test_every_package_is_typed() -> None:
    assert all((ROOT / package / "py.typed").is_file() for package in PACKAGES)


def test_a_function_goes_to_the_noun_it_serves() -> None:
    files = [path for package in (*PACKAGES, "tests") for path in (ROOT / package).rglob("*.py")]
    nowhere = {"utils", "util", "helpers", "helper", "common", "misc", "core"}
    assert [path for path in files if nowhere & {path.stem, *path.stem.split("_")}] == []


def test_imports_only_go_down() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    if not linter.exists():
        pytest.skip("import-linter is not installed: pip install -e .[check]")
    done = subprocess.run([str(linter), "--no-cache"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    assert "1 kept, 0 broken" in done.stdout
