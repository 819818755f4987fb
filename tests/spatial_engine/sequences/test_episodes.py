"""Datasets of episodes are read as they are laid out, and episodes that cannot be used are left out with a reason."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import EffectorPath, Task
from spatial_engine.errors import UsageError
from spatial_engine.rendering import write_video
from spatial_engine.rendering.episodes import RenderedEpisode, pick_and_place
from spatial_engine.sequences.opening import open_sequence
from spatial_engine.sequences.sequence import Sequence
from spatial_engine.sequences.truth_expert import GroundTruth
from spatial_engine.sources.episodes.stated import Episodes
from spatial_engine.sources.episodes.table import EpisodeTable, why_unusable
from templates.generate import ask_clip
from templates.registry import TEMPLATES
from templates.settings import AskSettings

FRAMES, FPS, KEY = 48, 24, "observation.images.front"
AXES = "axes: '+x,+y,+z'"


@pytest.fixture(scope="module")
def episode() -> RenderedEpisode:
    return pick_and_place(np.random.default_rng(0), frames=FRAMES, width_px=96, height_px=72)


@pytest.fixture(scope="module")
def video(episode: RenderedEpisode, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    write_video(replace(episode.scene, fps=FPS), path)
    return path


def state(episode: RenderedEpisode) -> np.ndarray:
    """x y z, rotation vector, and the opening, in each frame."""
    poses = episode.base_from_view
    turns = Rotation.from_matrix(poses[:, :3, :3]).as_rotvec()
    return np.column_stack([poses[:, :3, 3], turns, episode.opening])


def manifest(folder: Path, images: str, **episodes: str) -> Path:
    lines = [f"  {name}: {value}" for name, value in episodes.items()]
    text = f"name: robot\nimages: '{images}'\nlicence: CC-BY-4.0\nscale: {{kind: metric}}\nepisodes:\n  {AXES}\n"
    (folder / "sequence.yaml").write_text(text + "\n".join(lines) + "\n")
    return folder


POSE = "[" + ", ".join(f"observation.state.{k}" for k in range(6)) + "]"
LEROBOT = {"layout": "lerobot", "pose": POSE, "form": "axis-angle", "opening": "observation.state.6", "success": "true"}


def rows(episode: RenderedEpisode, number: int) -> dict[str, list[object]]:
    return {
        "observation.state": state(episode).tolist(),
        "timestamp": (np.arange(FRAMES) / FPS).tolist(),
        "frame_index": [*range(FRAMES)],
        "episode_index": [number] * FRAMES,
        "task_index": [0] * FRAMES,
    }


def written(path: Path, columns: dict[str, list[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def version_2(folder: Path, episode: RenderedEpisode, video: Path) -> Path:
    (folder / "meta").mkdir(parents=True)
    (folder / "meta/info.json").write_text(json.dumps({"codebase_version": "v2.1", "fps": FPS}))
    (folder / "meta/tasks.jsonl").write_text(json.dumps({"task_index": 0, "task": episode.task.instruction}) + "\n")
    written(folder / "data/chunk-000/episode_000003.parquet", rows(episode, 3))
    film = folder / "videos/chunk-000" / KEY / "episode_000003.mp4"
    film.parent.mkdir(parents=True)
    film.write_bytes(video.read_bytes())
    return manifest(folder, KEY, **LEROBOT)


def version_3(folder: Path, episode: RenderedEpisode, video: Path) -> Path:
    """The video holds two episodes; the second is the last half of it."""
    half = FRAMES // 2
    (folder / "meta").mkdir(parents=True)
    info = {
        "codebase_version": "v3.0",
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    }
    (folder / "meta/info.json").write_text(json.dumps(info))
    written(folder / "meta/tasks.parquet", {"task_index": [0], "__index_level_0__": [episode.task.instruction]})
    both = rows(episode, 0)
    both["episode_index"] = [0] * half + [1] * half
    both["frame_index"] = [*range(half)] * 2
    both["timestamp"] = [k / FPS for k in range(half)] * 2
    written(folder / "data/chunk-000/file-000.parquet", both)
    columns: dict[str, list[object]] = {"episode_index": [0, 1]}
    for of in ("data", f"videos/{KEY}"):
        columns |= {f"{of}/chunk_index": [0, 0], f"{of}/file_index": [0, 0]}
    columns |= {
        f"videos/{KEY}/from_timestamp": [0.0, half / FPS],
        f"videos/{KEY}/to_timestamp": [half / FPS, FRAMES / FPS],
    }
    written(folder / "meta/episodes/chunk-000/file-000.parquet", columns)
    film = folder / "videos" / KEY / "chunk-000/file-000.mp4"
    film.parent.mkdir(parents=True)
    film.write_bytes(video.read_bytes())
    return manifest(folder, KEY, **LEROBOT)


def tables(folder: Path, episode: RenderedEpisode, video: Path, ending: str = "csv") -> Path:
    names, table = ["x", "y", "z", "qx", "qy", "qz", "qw", "gripper", "t"], state(episode)
    turns = Rotation.from_rotvec(table[:, 3:6]).as_quat()
    columns = np.column_stack([table[:, :3], turns, 1 - table[:, 6], np.arange(FRAMES) / FPS])
    folder.mkdir()
    if ending == "csv":
        lines = [",".join(names), *(",".join(f"{value:.9f}" for value in row) for row in columns)]
        (folder / "first.csv").write_text("\n".join(lines) + "\n")
    else:
        written(folder / "first.parquet", dict(zip(names, columns.T.tolist(), strict=True)))
    steps = [
        {"text": text, "row": int(row)}
        for text, row in zip(episode.task.step_texts, episode.task.step_frames, strict=True)
    ]
    words = {"instruction": episode.task.instruction, "steps": steps, "success": True}
    (folder / "first.json").write_text(json.dumps(words))
    (folder / "first.mp4").write_bytes(video.read_bytes())
    return manifest(
        folder, "*.mp4", layout="table", files=f"'*.{ending}'", form="quaternion", pose="[x, y, z, qx, qy, qz, qw]",
        opening="gripper", closed="1", open="0", time="t",
    )  # fmt: skip


def signals_of(one: Sequence) -> tuple[EffectorPath, Task]:
    found = GroundTruth([one])(one.clip, {})
    path, task = found["effector_path"], found["task"]
    assert isinstance(path, EffectorPath) and isinstance(task, Task)
    return path, task


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_beside_videos(ending: str, episode: RenderedEpisode, video: Path, tmp_path: Path) -> None:
    (one,) = open_sequence(tables(tmp_path / "set", episode, video, ending))
    path, task = signals_of(one)
    np.testing.assert_allclose(path.base_from_view, episode.base_from_view, atol=1e-6)
    np.testing.assert_allclose(path.opening, episode.opening, atol=1e-6)
    assert path.frames.tolist() == one.clip.frames.tolist() == [*range(FRAMES)] and path.scale.kind == "metric"
    assert task.instruction == episode.task.instruction and task.step_texts == episode.task.step_texts
    assert task.step_frames.tolist() == episode.task.step_frames.tolist() and task.success is True
    assert task.provenance.code_licence == "CC-BY-4.0" and task.provenance.commercial_ok
    templates = [TEMPLATES.load(name)() for name in ("most_progress", "done_yet", "next_step")]
    asked = ask_clip(one.clip, GroundTruth([one])(one.clip, {}), templates, AskSettings(), 0).asked
    assert {each.template.name for each in asked} == {"most_progress", "done_yet", "next_step"}


def test_lerobot_version_2(episode: RenderedEpisode, video: Path, tmp_path: Path) -> None:
    (one,) = open_sequence(version_2(tmp_path / "set", episode, video))
    path, task = signals_of(one)
    assert one.clip.name.startswith("robot/episode_000003")
    np.testing.assert_allclose(path.base_from_view, episode.base_from_view, atol=1e-9)
    assert task.instruction == episode.task.instruction and task.success is True and task.step_texts == ()


def test_lerobot_version_3(episode: RenderedEpisode, video: Path, tmp_path: Path) -> None:
    first, second = open_sequence(version_3(tmp_path / "set", episode, video))
    for one, frames in ((first, range(FRAMES // 2)), (second, range(FRAMES // 2, FRAMES))):
        path, task = signals_of(one)
        assert path.frames.tolist() == one.clip.frames.tolist() == [*frames]
        np.testing.assert_allclose(path.base_from_view, episode.base_from_view[path.frames], atol=1e-9)
        assert task.instruction == episode.task.instruction


def changed(folder: Path, change: Callable[[dict[str, list[object]]], None]) -> Path:
    path = folder / "data/chunk-000/episode_000003.parquet"
    columns = pq.read_table(path).to_pydict()
    change(columns)
    pq.write_table(pa.table(columns), path)
    return folder


def test_clocks_that_disagree_and_videos_that_are_too_short(
    episode: RenderedEpisode, video: Path, tmp_path: Path
) -> None:
    def slower(columns: dict[str, list[object]]) -> None:
        columns["timestamp"] = [1.1 * k / FPS for k in range(FRAMES)]

    with pytest.raises(UsageError, match=r"the clocks of video and table disagree \(1\)"):
        open_sequence(changed(version_2(tmp_path / "a", episode, video), slower))

    def longer(columns: dict[str, list[object]]) -> None:
        for name, values in columns.items():
            last = values[-1]
            values += [last] * 5 if name not in ("timestamp", "frame_index") else []
        columns["frame_index"] = [*range(FRAMES + 5)]
        columns["timestamp"] = [k / FPS for k in range(FRAMES + 5)]

    with pytest.raises(UsageError, match=r"the video is shorter than the table \(1\)"):
        open_sequence(changed(version_2(tmp_path / "b", episode, video), longer))


def test_an_episode_that_cannot_be_used_is_counted_beside_the_others(
    episode: RenderedEpisode, video: Path, tmp_path: Path
) -> None:
    folder = tables(tmp_path / "set", episode, video)
    for name in ("second", "third"):
        (folder / f"{name}.csv").write_text((folder / "first.csv").read_text())
    (folder / "third.json").write_text((folder / "first.json").read_text())
    (one,) = open_sequence(folder)
    assert one.manifest.notes == ("episodes left out: no instruction (1), no video or images (1)",)


def table(episode: RenderedEpisode) -> EpisodeTable:
    return EpisodeTable(
        name="one", pictures=(), base_from_view=episode.base_from_view, opening=episode.opening,
        instruction="do it", step_rows=np.array([0, 5]), step_texts=("reach", "take"), times_s=np.arange(FRAMES) / FPS,
        numbers=np.arange(FRAMES),
    )  # fmt: skip


def jumping(poses: np.ndarray) -> np.ndarray:
    poses = poses.copy()
    poses[20, :3, 3] += 1
    return poses


BAD: dict[str, Callable[[EpisodeTable], EpisodeTable]] = {
    "no instruction": lambda t: replace(t, instruction=" "),
    "one row only": lambda t: replace(
        t, base_from_view=t.base_from_view[:1], opening=t.opening[:1], times_s=None, numbers=None
    ),
    "frames are missing in the table": lambda t: replace(t, numbers=np.delete(np.arange(FRAMES + 1), 7)),
    "poses are missing": lambda t: replace(
        t, base_from_view=np.where((np.arange(FRAMES) == 4)[:, None, None], np.nan, t.base_from_view)
    ),
    "openings are missing": lambda t: replace(t, opening=np.where(np.arange(FRAMES) == 4, np.nan, t.opening)),
    "the opening is not between closed and open": lambda t: replace(t, opening=14 * t.opening),
    "the gripper never moves": lambda t: replace(t, opening=0 * t.opening + 0.5),
    "the effector never moves": lambda t: replace(t, base_from_view=t.base_from_view[:1].repeat(FRAMES, axis=0)),
    "the effector jumps": lambda t: replace(t, base_from_view=jumping(t.base_from_view)),
    "the times do not rise": lambda t: replace(t, times_s=np.zeros(FRAMES)),
    "one step only": lambda t: replace(t, step_texts=("reach",), step_rows=np.array([0])),
}


@pytest.mark.parametrize("why", BAD)
def test_what_makes_an_episode_unusable(why: str, episode: RenderedEpisode) -> None:
    assert why_unusable(table(episode)) == ""
    assert why_unusable(BAD[why](table(episode))) == why


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pose": "[x, y]"}, "episodes.pose names 2 columns"),
        ({"pose": "[a, y, z, qx, qy, qz, qw]"}, "has no column 'a'"),
        ({"axes": "up"}, "axes must be three different signed axes"),
        ({"open": "1"}, "open and closed are both 1"),
        ({"layout": "other"}, "episodes.layout"),
        ({"files": "'*.tsv'"}, "has no episodes"),
    ],
)
def test_a_manifest_that_does_not_fit_is_told(
    change: dict[str, str], said: str, episode: RenderedEpisode, video: Path, tmp_path: Path
) -> None:
    folder = tables(tmp_path / "set", episode, video)
    lines = (folder / "sequence.yaml").read_text().splitlines()
    (name,) = change
    kept = [line for line in lines if not line.startswith(f"  {name}:")]
    (folder / "sequence.yaml").write_text("\n".join([*kept, f"  {name}: {change[name]}"]) + "\n")
    with pytest.raises(UsageError, match=said):
        open_sequence(folder)


def test_hands_of_hdf5_files(episode: RenderedEpisode, video: Path, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "0.hdf5", "w") as file:
        file["transforms/rightHand"] = episode.base_from_view
        file.attrs["llm_description"] = "fold the towel"
    (tmp_path / "0.mp4").write_bytes(video.read_bytes())
    (one,) = open_sequence(
        manifest(tmp_path, "**/*.mp4", layout="egodex", form="matrix", pose="[rightHand]", kind="hand")
    )
    path, task = signals_of(one)
    assert path.effector == "hand" and np.isnan(path.opening).all() and task.instruction == "fold the towel"
    np.testing.assert_allclose(path.base_from_view, episode.base_from_view, atol=1e-9)


DATA = Path(os.environ.get("SPATIAL_ENGINE_DATA", "nowhere"))


@pytest.mark.skipif(not (DATA / "bridge_octo").is_dir(), reason="needs the dataset")
def test_bridge(tmp_path: Path) -> None:
    """In 8 of 17 episodes the gripper does not move."""
    text = "name: bridge\nimages: image0_*.jpg\nepisodes: {layout: bridge, axes: '-y,-z,+x'}\n"
    (tmp_path / "bridge.yaml").write_text(text)
    found = open_sequence(DATA / "bridge_octo", manifest=tmp_path / "bridge.yaml")
    assert len(found) == 9 and found[0].manifest.notes == ("episodes left out: the gripper never moves (8)",)
    path, task = signals_of(found[0])
    assert len(path.frames) == 10 and task.instruction and task.success is None


@pytest.mark.skipif(not (DATA / "gr00t_picknplace").is_dir(), reason="needs the dataset")
def test_a_data_set_of_joints_has_no_poses(tmp_path: Path) -> None:
    stated = Episodes(layout="lerobot", axes="+x,+y,+z", pose=tuple("xyzabc"))
    assert stated.form == "rpy"
    pose = ", ".join("xyzabc")
    (tmp_path / "robot.yaml").write_text(
        f"name: robot\nimages: observation.images.ego_view\nepisodes: {{layout: lerobot, {AXES}, pose: [{pose}]}}\n"
    )
    with pytest.raises(UsageError, match="has no column 'x'"):
        open_sequence(DATA / "gr00t_picknplace", manifest=tmp_path / "robot.yaml")
