"""Plots of paths: what they show, their file formats, and equal bytes for equal paths."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from spatial_engine.actions.plan import ActionPlan
from spatial_engine.actions.planning import plan_actions
from spatial_engine.actions.plot import write_motion_plot
from spatial_engine.sources.trajectories import Trajectory, read_trajectory
from tests.spatial_engine.path_files import winding_path, write_colmap, write_euroc, write_tum

POSES = winding_path()
DOLLY_IN, PAN_RIGHT = (0x00, 0x50, 0x8F), (0xA3, 0x18, 0x2F)


def planned(path: Path) -> tuple[Trajectory, ActionPlan]:
    trajectory = read_trajectory(path)
    return trajectory, plan_actions(trajectory, up_world=None, max_steps=10, rng=np.random.default_rng(0))


def drawn(path: Path, picture: Path, up_world: np.ndarray | None = None) -> Path:
    write_motion_plot(picture, *planned(path), up_world=up_world)
    return picture


@pytest.fixture(scope="module")
def plots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The plot of one path by its suffix."""
    folder = tmp_path_factory.mktemp("plots")
    path = write_tum(folder / "path.txt", POSES)
    return {suffix: drawn(path, folder / f"a{suffix}") for suffix in (".png", ".svg", ".html")}


def rows_and_columns_of(picture: Path, colour: tuple[int, int, int]) -> np.ndarray:
    with Image.open(picture) as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    return np.argwhere(np.abs(pixels - colour).max(axis=2) < 8)


def test_a_png_shows_the_path_and_its_turn_to_the_right(tmp_path: Path) -> None:
    """The path leads upward in the picture, bends to the right, and is coloured by what the camera does."""
    picture = drawn(write_tum(tmp_path / "path.txt", POSES), tmp_path / "a.png", np.array([0.0, 0.0, 1.0]))
    ahead, turn = (rows_and_columns_of(picture, colour) for colour in (DOLLY_IN, PAN_RIGHT))
    ahead, turn = (found[(found < (780, 1140)).all(axis=1)] for found in (ahead, turn))  # without legend and bands
    assert len(ahead) > 500
    assert len(turn) > 200
    first, last = ahead[ahead[:, 0].argmax()], ahead[ahead[:, 0].argmin()]
    assert last[1] > first[1] + 100
    assert first[1] < turn[:, 1].mean() < last[1]


def test_an_svg_names_what_is_measured_in_which_unit(tmp_path: Path, plots: dict[str, Path]) -> None:
    text = plots[".svg"].read_text()
    ElementTree.fromstring(text)
    for words in ("Dolly", "m/s", "°/s", "ahead (m)", "seconds after the first pose", "Pan Right", "seen from above"):
        assert words in text
    text = drawn(write_colmap(tmp_path / "images.txt", POSES), tmp_path / "b.svg").read_text()
    for words in ("steps/pose", "scale not known"):
        assert words in text
    assert "m/s" not in text


def test_a_page_loads_nothing_and_says_what_each_segment_is(plots: dict[str, Path]) -> None:
    page = plots[".html"].read_text()
    _, plan = planned(plots[".html"].with_name("path.txt"))
    for part in plan.segments:
        assert f"<title>poses {part.first}-{part.last}: {part.words()}</title>" in page
        assert f"<td>{part.words()}</td>" in page
    assert page.count("<svg") == 1
    assert not re.search(r"<script|<link|<image|<!DOCTYPE svg|url\((?!#)|src=|href=\"(?!#)", page)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html"])
def test_equal_paths_give_equal_bytes(suffix: str, tmp_path: Path, plots: dict[str, Path]) -> None:
    again = drawn(write_tum(tmp_path / "path.txt", POSES), tmp_path / f"b{suffix}")
    assert again.read_bytes() == plots[suffix].read_bytes()
    assert not list(tmp_path.glob("*.tmp*"))


def test_rest_and_bodies_are_drawn(tmp_path: Path) -> None:
    still = write_tum(tmp_path / "still.txt", np.repeat(POSES[:1], 20, axis=0))
    body = write_euroc(tmp_path / "body.csv", POSES)
    for path, suffix in ((still, ".png"), (body, ".html")):
        assert drawn(path, tmp_path / f"{path.stem}{suffix}").stat().st_size > 1000


def test_a_gap_is_drawn(tmp_path: Path) -> None:
    path = write_tum(tmp_path / "path.txt", POSES)
    rows = np.loadtxt(path)
    rows[31:, 0] += 9.0
    np.savetxt(path, rows, fmt="%.9f")
    assert ">gap<" in drawn(path, tmp_path / "a.svg").read_text()


def test_a_camera_that_looks_straight_down_has_no_heading(tmp_path: Path) -> None:
    """The picture then takes the right of the first image."""
    path = write_tum(tmp_path / "path.txt", POSES)
    assert drawn(path, tmp_path / "a.png", np.array([0.0, -1.0, 0.0])).stat().st_size > 1000


def test_matplotlib_is_loaded_only_to_draw() -> None:
    code = "import spatial_engine.actions.command, sys; print('matplotlib' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
