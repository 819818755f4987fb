"""The package depth_anything_3 with random weights: inputs, outputs and refusals."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("depth_anything_3", reason="depth_anything_3 is not installed")

import experts.depth.da3_upstream as da3_upstream
from experts.clip import Clip, OpeningOptions
from experts.depth.da3_prediction import DecodingSettings, decoded, metric_depth, processed_size, sky_of
from experts.depth.da3_upstream import VARIANTS, Variant
from experts.depth.depth_anything_3 import DepthAnything3Expert, DepthAnything3Settings
from experts.expert import SetupProblem
from experts.runtime.device import Placement
from experts.runtime.per_window import call_many, predicted_alone
from experts.runtime.windows import Window, WindowSettings
from experts.signals import CameraPath, Depth, NoEstimate
from spatial_engine.rendering import RenderedScene, as_clip
from spatial_engine.rendering.rooms import random_room

TINY_METRIC = """
__object__: {path: depth_anything_3.model.da3, name: DepthAnything3Net, args: as_params}
net:
  __object__: {path: depth_anything_3.model.dinov2.dinov2, name: DinoV2, args: as_params}
  name: vits
  out_layers: [2, 5, 8, 11]
  alt_start: -1
  qknorm_start: -1
  rope_start: -1
  cat_token: false
head:
  __object__: {path: depth_anything_3.model.dpt, name: DPT, args: as_params}
  dim_in: 384
  output_dim: 1
  features: 32
  out_channels: [24, 48, 96, 96]
"""
"""da3metric-large with a small backbone."""
SETTINGS = DepthAnything3Settings(process_res=112, depth_frames=3, windows=WindowSettings(frames=4, overlap=2))
LOOSE = DecodingSettings(plausible_focal=(1e-12, 1e12), square_within=1e3)
"""Accepts the focal lengths of random weights."""


@pytest.fixture(scope="module")
def room() -> RenderedScene:
    return random_room(np.random.default_rng(7), frames=5, width_px=128, height_px=96)


@pytest.fixture(scope="module")
def clip(room: RenderedScene) -> Clip:
    return as_clip(room, options=OpeningOptions(intrinsics=room.intrinsics))


@pytest.fixture(scope="module")
def experts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, DepthAnything3Expert]]:
    """The three kinds of variants, with small networks."""
    path = tmp_path_factory.mktemp("config") / "tiny-metric.yaml"
    path.write_text(TINY_METRIC)
    da3_upstream.import_api().MODEL_REGISTRY["tiny-metric"] = str(path)
    made = {}
    for name, metric, anyview in (("relative", None, "da3-small"), ("small", "tiny-metric", "da3-small")):
        made[name] = DepthAnything3Expert(SETTINGS, name)
        made[name].networks = replace(VARIANTS[name], anyview=anyview, metric=metric)
    made["metric"] = DepthAnything3Expert(SETTINGS, "metric")
    made["metric"].networks = Variant(metric="tiny-metric", weights=())
    for expert in made.values():
        expert.load("random", device="cpu")
    yield made
    for expert in made.values():
        expert.close()


def predicted(expert: DepthAnything3Expert, clip: Clip, count: int) -> Any:
    size = processed_size(clip.width_px, clip.height_px, SETTINGS.process_res)
    import cv2

    pictures = [cv2.resize(picture, size) for _, picture in clip.read(clip.frames[:count].tolist())]
    return predicted_alone(expert.model, pictures)


def test_the_output_of_upstream_is_decoded(experts: dict[str, DepthAnything3Expert], clip: Clip) -> None:
    raw = predicted(experts["relative"], clip, 3)
    assert raw.depth.shape == raw.conf.shape == (3, 84, 112) and raw.depth.dtype == np.float32
    assert raw.extrinsics.shape == (3, 3, 4) and raw.intrinsics.shape == (3, 3, 3)
    assert raw.sky is None and not raw.is_metric and raw.conf.min() > 1
    np.testing.assert_allclose(raw.intrinsics[:, :2, 2], [[56, 42]] * 3)
    window = decoded(raw, np.arange(3), np.ones((84, 112), dtype=bool), LOOSE)
    assert isinstance(window, Window)
    rotations = window.world_from_cam[:, :3, :3]
    np.testing.assert_allclose(rotations @ rotations.swapaxes(1, 2), np.tile(np.eye(3), (3, 1, 1)), atol=1e-9)
    back = np.linalg.inv(window.world_from_cam)[:, :3]
    np.testing.assert_allclose(back, raw.extrinsics, atol=1e-4)


def test_upstream_does_not_resize_processed_pictures(experts: dict[str, DepthAnything3Expert]) -> None:
    process = experts["relative"].model.upstream.input_processor
    rng = np.random.default_rng(0)
    for width, height in ((640, 480), (405, 720), (160, 120), (1000, 90), (200, 200)):
        for res in (140, 504):
            size = processed_size(width, height, res)
            picture = rng.integers(0, 255, (height, width, 3), dtype=np.uint8)
            tensor, _, _ = process([picture], None, None, res, "upper_bound_resize")
            assert tuple(tensor.shape[-2:]) == size[::-1]
            ready = rng.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
            tensor, _, _ = process([ready], None, None, res, "upper_bound_resize")
            std, mean = np.array([0.229, 0.224, 0.225]), np.array([0.485, 0.456, 0.406])
            np.testing.assert_allclose(
                tensor[0].permute(1, 2, 0).numpy() * std + mean, ready / 255, atol=1e-5
            )  # unchanged


def test_two_runs_return_the_same_numbers(experts: dict[str, DepthAnything3Expert], clip: Clip) -> None:
    a, b = (predicted(experts["small"], clip, 2) for _ in range(2))
    np.testing.assert_array_equal(a.depth, b.depth)


def windows_of(clip: Clip, count: int) -> list[list[np.ndarray]]:
    """Windows of two pictures of the processed size."""
    import cv2

    pictures = [cv2.resize(picture, (112, 84)) for _, picture in clip.read(clip.frames.tolist())]
    return [pictures[first : first + 2] for first in range(count)]


FIELDS = ("depth", "conf", "extrinsics", "intrinsics", "sky")


@pytest.mark.parametrize("variant", ["relative", "small", "metric"])
def test_one_window_gives_the_bytes_of_upstreams_inference(
    experts: dict[str, DepthAnything3Expert], clip: Clip, variant: str
) -> None:
    network, (window,) = experts[variant].model, windows_of(clip, 1)
    ours = predicted_alone(network, window)
    theirs = network.upstream.inference(window, ref_view_strategy="middle", process_res=112, export_kwargs={})
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field), err_msg=field)
    assert (ours.is_metric, ours.scale_factor) == (theirs.is_metric, theirs.scale_factor)


@pytest.mark.parametrize("variant", ["relative", "small", "metric"])
def test_windows_of_several_clips_are_predicted_as_alone(
    experts: dict[str, DepthAnything3Expert], clip: Clip, variant: str
) -> None:
    network, windows = experts[variant].model, windows_of(clip, 3)
    alone = [predicted_alone(network, window) for window in windows]
    forwards, backwards = together(network, windows), together(network, windows[::-1])[::-1]
    for one, among_others, elsewhere in zip(alone, forwards, backwards, strict=True):
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(among_others, field), getattr(elsewhere, field), err_msg=field)
            if getattr(one, field) is not None:
                np.testing.assert_allclose(getattr(among_others, field), getattr(one, field), rtol=2e-3, atol=1e-4)
        assert among_others.is_metric == one.is_metric and among_others.scale_factor == elsewhere.scale_factor
    assert variant != "small" or len({one.scale_factor for one in forwards}) == 3


def together(network: Any, windows: list[list[np.ndarray]]) -> list[Any]:
    outputs = network.infer([network.prepared(window, padded=True) for window in windows])
    return [network.received(output) for output in outputs]


def test_the_sky_of_a_clip_is_filled_from_that_clip(experts: dict[str, DepthAnything3Expert], clip: Clip) -> None:
    def sky_in_the_second(module: Any, inputs: Any, output: Any) -> Any:
        output = output.clone() * 0
        output[len(output) // 2 :, ..., : output.shape[-1] // 2] = 5.0
        return output

    network, windows = experts["small"].model, windows_of(clip, 2)
    alone = predicted_alone(network, windows[0])
    head = network.upstream.model.da3_metric.head.scratch.sky_output_conv2[-1]
    hook = head.register_forward_hook(sky_in_the_second)
    try:
        first, second = together(network, windows)
    finally:
        hook.remove()
    np.testing.assert_allclose(first.depth, alone.depth, rtol=2e-3)
    sky = sky_of(second)
    assert not sky_of(first).any() and 0.4 < sky.mean() < 0.6 and len(np.unique(second.depth[sky])) == 1


def test_a_clip_of_sky_alone_costs_that_clip(experts: dict[str, DepthAnything3Expert], clip: Clip) -> None:
    class Shared(DepthAnything3Expert):
        shares_calls = True

    shared = Shared(replace(SETTINGS, windows=replace(SETTINGS.windows, batch_frames=10)), "small")
    shared.model, network = experts["small"].model, experts["small"].model.upstream.model
    dark = replace(clip, reader=Dark(), name="dark")

    def sky_where_it_is_dark(output: Any, metric_output: Any) -> Any:
        brightness = metric_output.images.mean(dim=(1, 2, 3, 4))
        assert (brightness > -1).all(), "Insufficient non-sky pixels for alignment"
        return output

    before = network._apply_depth_alignment
    metric = network.da3_metric.forward
    network.da3_metric.forward = lambda images: metric(images) | {"images": images}
    network._apply_depth_alignment = da3_upstream._for_each_window(sky_where_it_is_dark)
    try:
        reasons = [results["depth"].reason for results in call_many(shared, [(c, {}) for c in (clip, dark, clip)])]
    finally:
        network._apply_depth_alignment = before
        del network.da3_metric.forward
    assert reasons == ["focal length not plausible", "only sky", "focal length not plausible"]


class Dark:
    def read(self, frames: Any) -> Iterator[np.ndarray]:
        yield from (np.zeros((96, 128, 3), np.uint8) for _ in frames)


def test_the_nested_network_works_with_permissive_weights(experts: dict[str, DepthAnything3Expert], clip: Clip) -> None:
    import torch

    model = experts["small"].model.upstream
    assert type(model.model).__name__ == "NestedDepthAnything3Net"
    raw = predicted(experts["small"], clip, 3)
    assert raw.is_metric == 1 and isinstance(raw.scale_factor, float) and raw.sky is None
    with torch.no_grad():  # all sky on the left
        bias = model.model.da3_metric.head.scratch.sky_output_conv2[-1]
        hook = bias.register_forward_hook(lambda module, inputs, output: _half(output))
    try:
        raw = predicted(experts["small"], clip, 3)
    finally:
        hook.remove()
    sky = sky_of(raw)
    assert sky[:, :, :50].all() and not sky[:, :, 62:].any()
    assert len(np.unique(raw.depth[sky])) == 1  # filled in by upstream
    window = decoded(raw, np.arange(3), np.ones((84, 112), dtype=bool), LOOSE)
    assert isinstance(window, Window) and np.isnan(window.z[sky]).all() and np.isfinite(window.z[~sky]).all()


def _half(output: Any) -> Any:
    output = output.clone() * 0
    output[..., : output.shape[-1] // 2] = 5.0
    return output


def test_pictures_of_sky_alone_give_no_estimate(experts: dict[str, DepthAnything3Expert], clip: Clip) -> None:
    head = experts["small"].model.upstream.model.da3_metric.head.scratch.sky_output_conv2[-1]
    hook = head.register_forward_hook(lambda module, inputs, output: output * 0 + 5)
    try:
        results = experts["small"](clip, {})
    finally:
        hook.remove()
    assert {getattr(r, "reason", "") for r in results.values()} == {"only sky"}


@pytest.mark.parametrize("variant", ["relative", "small"])
def test_random_focal_lengths_are_refused(experts: dict[str, DepthAnything3Expert], clip: Clip, variant: str) -> None:
    results = experts[variant](clip, {})
    assert results.keys() == {"camera_path", "depth"}
    assert {getattr(r, "reason", "") for r in results.values()} == {"focal length not plausible"}


def test_a_plausible_focal_length_gives_a_metric_path(
    experts: dict[str, DepthAnything3Expert], clip: Clip, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = experts["small"].model.upstream.model.da3

    def camera(feats: Any, height: int, width: int, output: Any) -> Any:
        import torch

        count = feats[-1][1].shape[1]
        for name in ("ray", "ray_conf"):
            output.pop(name, None)
        output.extrinsics = torch.eye(4)[:3].repeat(1, count, 1, 1)
        k = torch.tensor([[120.0, 0, width / 2], [0, 120.0, height / 2], [0, 0, 1]])
        output.intrinsics = k.repeat(1, count, 1, 1)
        return output

    monkeypatch.setattr(model, "_process_camera_estimation", camera)
    unknown = clip.with_options(intrinsics=None)
    path = experts["small"](unknown, {})["camera_path"]
    assert isinstance(path, CameraPath) and path.scale.kind == "metric" and path.motion == "static"
    assert path.intrinsics.fx_px == pytest.approx(120 * 128 / 112, rel=1e-3)


def test_the_metric_variant_needs_a_focal_length(
    experts: dict[str, DepthAnything3Expert], clip: Clip, room: RenderedScene
) -> None:
    raw = predicted(experts["metric"], clip, 2)
    assert raw.conf is None and raw.extrinsics is None and raw.intrinsics is None and raw.sky.dtype == bool
    maps = metric_depth(raw, room.intrinsics, np.ones((84, 112), dtype=bool), LOOSE)
    assert not isinstance(maps, NoEstimate)
    known = np.isfinite(maps[0])
    focal = room.intrinsics.fx_px * 112 / 128
    np.testing.assert_allclose(maps[0][known], raw.depth[known] * focal / 300, rtol=1e-5)
    depth = experts["metric"](clip, {})["depth"]
    assert isinstance(depth, Depth) and depth.z.shape == (3, 84, 112) and depth.z.dtype == np.float32
    refused = experts["metric"](clip.with_options(intrinsics=None), {})["depth"]
    assert isinstance(refused, NoEstimate) and refused.reason == "focal length not known"


def test_weight_files_are_loaded_into_the_branches(experts: dict[str, DepthAnything3Expert], tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    parts = {"da3": experts["relative"].model.upstream, "da3_metric": experts["metric"].model.upstream}
    folders = []
    for branch, model in parts.items():
        folder = tmp_path / branch
        folder.mkdir()
        save_file({k: v + 1 for k, v in model.state_dict().items()}, folder / "model.safetensors")
        folders.append((branch, folder))
    loaded = da3_upstream.build_model("da3-small", "tiny-metric", folders, Placement())
    for branch, model in parts.items():
        ours, theirs = loaded.model.get_submodule(branch).state_dict(), model.model.state_dict()
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[k], theirs[k] + 1) for k in ours)
    with pytest.raises(SetupProblem, match="do not fit this network"):
        da3_upstream.build_model("da3-small", None, [("", folders[1][1])], Placement())


def test_files_that_upstream_saves_are_loaded(experts: dict[str, DepthAnything3Expert], tmp_path: Path) -> None:
    """Its saver writes one of the names of a shared tensor: 437 of 443."""
    import torch
    from safetensors import safe_open

    api = da3_upstream.import_api()
    saved = api.DepthAnything3(model_name="da3-small")
    with torch.no_grad():
        saved.model.head.scratch.output_conv2_aux[0][2].weight.uniform_()
    saved._save_pretrained(tmp_path)
    with safe_open(tmp_path / "model.safetensors", "pt") as file:
        assert len(file.keys()) == len(saved.state_dict()) - 6
    loaded = da3_upstream.build_model("da3-small", None, [("", tmp_path)], Placement()).model.state_dict()
    assert loaded.keys() == saved.model.state_dict().keys()
    assert all(torch.equal(loaded[name], tensor) for name, tensor in saved.model.state_dict().items())


FRESH = """
import sys
from experts.runtime.model_expert import import_torchvision
import_torchvision()
import numpy as np, torch
torch.set_num_threads(1)
from experts.depth.depth_anything_3 import DepthAnything3Expert
from experts.runtime.per_window import call_many, predicted_alone
expert = DepthAnything3Expert(variant="relative")
expert.networks = type(expert.networks)(anyview="da3-small", weights=())
expert.load("random", device="cpu")
predicted_alone(expert.model, [np.zeros((84, 112, 3), dtype=np.uint8)] * 2)
names = {name.partition(".")[0] for name in sys.modules}
print(sorted(names & {"evo", "moviepy", "gsplat", "open3d", "e3nn", "xformers"}))
"""


def test_no_copyleft_or_unused_package_is_imported() -> None:
    """evo is GPL-3."""
    done = subprocess.run(
        [sys.executable, "-c", FRESH], capture_output=True, text=True, timeout=120, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
