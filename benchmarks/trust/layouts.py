"""Lays real sets out as manifests/*.yaml expects them: poses in files that a sequence can read, pictures as links.

    python -m benchmarks.trust.layouts DATA OUT

writes a folder with a sequence.yaml for every set, as `spatial-engine sequence` and `annotate --truth` take it. What
is written comes from the sets and is not for committing.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import yaml
from jaxtyping import Float64
from scipy.spatial.transform import RigidTransform, Rotation

MANIFESTS = Path(__file__).parent / "manifests"

Poses = Float64[np.ndarray, "n 4 4"]
Files = Mapping[str, str]
"""Texts to write, by name."""


def laid_out(data: Path, name: str, out: Path) -> list[Path]:
    """The folders of a set under `out`, each with its sequence.yaml; the set's own folder if a preset opens it."""
    manifest = MANIFESTS / f"{name}.yaml"
    if not manifest.is_file():
        return [data / name]
    if name == "scannet_pairs":
        return [_folder(out / f"{name}_{k}", manifest, *pair) for k, pair in enumerate(_pairs(data / name))]
    pictures = {path.name: path for path in (data / name).iterdir()}
    return [_folder(out / name, manifest, pictures, WRITTEN[name](data / name) if name in WRITTEN else {})]


def _folder(folder: Path, manifest: Path, links: Mapping[str, Path], files: Files) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, target in links.items():
        if name not in files and not (folder / name).exists():
            (folder / name).symlink_to(target.resolve())
    for name, text in {**files, "sequence.yaml": manifest.read_text(encoding="utf-8")}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _rows(matrices: Poses) -> str:
    return "\n".join(" ".join(f"{number:.9f}" for number in matrix.ravel()) for matrix in matrices) + "\n"


def _of_truth_json(folder: Path) -> Files:
    frames = json.loads((folder / "truth.json").read_text(encoding="utf-8"))["frames"]
    return {"poses.txt": _rows(np.array([frame["world_from_cam"] for frame in frames]))}


def _of_camera_info(folder: Path) -> Files:
    parts = (folder / "cam.info.txt").read_text(encoding="utf-8").split("# Camera-to-world")[1:]
    return {
        "poses.txt": _rows(
            np.array([part.split("\n", 1)[1].split()[:16] for part in parts], dtype=float).reshape(-1, 4, 4)
        )
    }


def _of_body(folder: Path) -> Files:
    """Poses of the left camera at the times of its pictures."""
    sensor = (folder / "mav0/cam0/sensor.yaml").read_text(encoding="utf-8").replace("%YAML:1.0", "")
    body_from_cam = np.array(yaml.safe_load(sensor)["T_BS"]["data"]).reshape(4, 4)
    lines = (folder / "gt/V1_01_easy_openvins.csv").read_text(encoding="utf-8").splitlines()[1:]
    bodies = {line.split(",")[0]: [float(number) for number in line.split(",")[1:8]] for line in lines}
    stamps = sorted(path.stem for path in (folder / "mav0/cam0/data").glob("*.png"))
    rows = np.array([bodies[stamp] for stamp in stamps])
    turns = Rotation.from_quat(rows[:, 3:], scalar_first=True)
    return {"poses.txt": _rows(RigidTransform.from_components(rows[:, :3], turns).as_matrix() @ body_from_cam)}


def _level(folder: Path) -> Files:
    return {"up.txt": "0 -1 0\n" * len(list((folder / "image_02/0001").glob("*.png")))}


def _pairs(folder: Path) -> list[tuple[Mapping[str, Path], Files]]:
    """Pictures and files of each pair. The camera is the first picture's, as is the world."""
    found = []
    for line in (folder / "pairs_with_gt.txt").read_text(encoding="utf-8").splitlines():
        first, second, _, _, *rest = line.split()
        numbers = np.array(rest, dtype=float)
        second_from_first = RigidTransform.from_matrix(numbers[18:].reshape(4, 4)).as_matrix()
        poses = np.stack([np.eye(4), np.linalg.inv(second_from_first)])
        links = {f"{k}.jpg": folder / "images" / name for k, name in enumerate((first, second))}
        camera = "\n".join(" ".join(map(str, row)) for row in numbers[:9].reshape(3, 3))
        found.append((links, {"poses.txt": _rows(poses), "camera.txt": camera}))
    return found


WRITTEN: dict[str, Callable[[Path], Files]] = {
    "apc_shelf": _of_camera_info,
    "co3d_apple": _of_truth_json,
    "euroc_v101": _of_body,
    "kitti_tracking_a": _level,
    "temple_ring": _of_truth_json,
    "tum_fr1_rpy_a": _of_truth_json,
}
"""What is written for a set beside links to its files."""


if __name__ == "__main__":
    for each in sorted(MANIFESTS.glob("*.yaml")):
        if (Path(sys.argv[1]) / each.stem).is_dir():
            print(*laid_out(Path(sys.argv[1]), each.stem, Path(sys.argv[2])), sep="\n")
