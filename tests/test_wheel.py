"""What `pip install .` installs: every package and data file, and a command that works from any folder."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import spatial_engine

ROOT = Path(__file__).parents[1]
PACKAGES = ("spatial_engine", "templates", "experts", "action_mapping")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    present = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    assert present - packed == set()
    assert {Path(name).suffix for name in packed} >= {".py", ".html", ".js", ".json", ".toml", ".typed"}


def test_the_command_runs_from_any_folder(wheel: Path, tmp_path: Path) -> None:
    """Installed without the repository on the path; its dependencies are those of this environment."""
    home = tmp_path / "fresh"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    install = ["-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, *install], check=True, capture_output=True, cwd=tmp_path)
    (packages,) = home.glob("lib/python*/site-packages")
    others = [entry for entry in sys.path if entry.endswith("site-packages")]
    (packages / "dependencies.pth").write_text("\n".join(others))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = [
        subprocess.run([home / "bin" / "spatial-engine", *words], cwd=tmp_path, env=environment, capture_output=True,
                       text=True, check=True).stdout
        for words in (["--version"], ["--help"])
    ]  # fmt: skip
    assert said[0] == f"spatial-engine {spatial_engine.__version__}\n"
    assert "annotate" in said[1]
    where = [python, "-c", "import spatial_engine; print(spatial_engine.__file__)"]
    place = subprocess.run(where, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    assert Path(place).is_relative_to(home)


def test_make_demo_ends_with_how_to_call_the_command() -> None:
    (recipe,) = [part for part in (ROOT / "Makefile").read_text().split("\n\n") if part.startswith("demo:")]
    last = recipe.splitlines()[-1]
    assert all(way in last for way in (". $(BIN)/activate", "pipx install .", "uv tool install ."))
