"""The code of Orient Anything V1 and V2: networks with random weights, and conversion of their conventions."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-experts")
pytest.importorskip("transformers", reason="transformers is not installed: make test-experts")

import experts.objects.orient_anything as adapter  # noqa: E402
from experts.objects.dinov2_orientation import make_network, with_names_of  # noqa: E402
from experts.objects.object_angles import AngleSettings, angles_from_logits, circular_mean, count_fronts, rotation_of  # noqa: E402
from experts.objects.orient_anything import OrientAnythingExpert  # noqa: E402
from experts.runtime.worker import Worker  # noqa: E402
from experts.signals import NoEstimate, ObjectOrientation  # noqa: E402
from spatial_engine.rendering.orientation_logits import density, ideal_logits  # noqa: E402
from tests.accept.tiny_orient_anything_v2 import without_rembg  # noqa: E402
from tests.experts.objects.test_orient_anything import SMALL, as_clip, scene, signals_of  # noqa: E402

Checkout = Callable[[str], Path]
TINY = Path(__file__).parent / "tiny_orient_anything_v2.py"
RNG = np.random.default_rng(0)
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # upstream's and its packages' own
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::SyntaxWarning"),
]


# --- V1 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [722, 902])
def test_our_v1_network_equals_upstreams(checkout: Checkout, outputs: int) -> None:
    """With the same parameters and pictures, the logits are the same."""
    checkout("Orient-Anything")
    import vision_tower
    from transformers import Dinov2Config

    config = Dinov2Config(hidden_size=384, num_hidden_layers=12, num_attention_heads=6, image_size=518, patch_size=14)
    vision_tower.FLIP_DINOv2.from_pretrained = classmethod(lambda cls, *_, **__: cls(config))
    theirs = vision_tower.DINOv2_MLP(
        dino_mode="small", in_dim=384, out_dim=outputs, evaluate=True, mask_dino=False, frozen_back=False
    ).eval()
    ours = make_network(384, outputs)
    ours.load_state_dict(with_names_of(ours.state_dict(), theirs.state_dict()))
    pixels = torch.from_numpy(RNG.normal(size=(2, 3, 224, 224)).astype(np.float32))
    with torch.no_grad():
        np.testing.assert_allclose(ours(pixels), theirs({"pixel_values": pixels}), atol=1e-4)


# --- V2 -------------------------------------------------------------------------------------------------------------


def request(folder: Path) -> dict[str, Any]:
    return {"upstream": str(folder), "weights": None, "device": "cpu", "dtype": "float32", "seed": 0}


def test_v2_network_through_the_worker(checkout: Checkout) -> None:
    """Runs the interpreter, the pipes and upstream's network with its smallest backbone."""
    folder = checkout("Orient-Anything-V2")
    pictures = RNG.integers(0, 256, (2, 518, 518, 3), dtype=np.uint8)
    with Worker(sys.executable, TINY, timeout_s=200.0) as worker:
        worker.load(request(folder))
        _, arrays = worker.call(request(folder), {"pictures": pictures})
        _, alone = worker.call(request(folder), {"pictures": pictures[1:]})
    assert arrays["logits"].shape == (2, 900) and arrays["logits"].dtype == np.float32
    assert np.isfinite(arrays["logits"]).all()
    np.testing.assert_allclose(alone["logits"][0], arrays["logits"][1], atol=1e-3)


def test_v2_from_clip_to_signal(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = checkout("Orient-Anything-V2")
    monkeypatch.setenv("SPATIAL_ENGINE_UPSTREAM_ORIENT_ANYTHING_V2", str(folder))

    def tiny(python: str, script: Path, timeout_s: float, **named: Any) -> Worker:
        return Worker(python, TINY, timeout_s, **named)

    monkeypatch.setattr(adapter, "Worker", tiny)
    world = scene(frames=1)
    expert = OrientAnythingExpert(SMALL, "v2")
    expert.load("random", "cpu")
    try:
        signal = expert(as_clip(world), signals_of(world))["object_orientation"]
    finally:
        expert.close()
    assert isinstance(signal, NoEstimate | ObjectOrientation)
    if isinstance(signal, ObjectOrientation):  # random weights may find no front
        assert set(np.unique(signal.fronts)) <= {-1, 0, 1, 2, 4}


def test_v2_rotations_equal_upstreams(checkout: Checkout) -> None:
    """Its frame is (towards the viewer, right, up)."""
    checkout("Orient-Anything-V2")
    without_rembg()
    from utils.app_utils import azi_ele_rot_to_Obj_Rmatrix_batch

    angles = RNG.uniform([0, -85, -175], [360, 85, 175], (50, 3))
    theirs = azi_ele_rot_to_Obj_Rmatrix_batch(*torch.from_numpy(angles.T)).numpy()
    ours = np.stack([rotation_of(*np.deg2rad(triple)) for triple in angles])
    in_their_frame = np.stack([-ours[:, 2], ours[:, 0], -ours[:, 1]], axis=1)
    np.testing.assert_allclose(in_their_frame, theirs, atol=1e-5)


def test_v2_bins_equal_upstreams(checkout: Checkout) -> None:
    """Compared with upstream's post-processing of ideal logits."""
    checkout("Orient-Anything-V2")
    without_rembg()
    from utils.app_utils import inf_single_batch

    class Ideal:
        def get_device(self) -> str:
            return "cpu"

        def __call__(self, pictures: Any) -> Any:
            return torch.from_numpy(logits)[None]

    for azimuth, polar, rotation, fronts in [(37, -20, 15, 1), (301, 40, -70, 1), (80, 5, 10, 2), (33, 5, 100, 4)]:
        logits = ideal_logits(900, *np.deg2rad([azimuth, polar, rotation]), fronts=fronts, kappa=3.0)
        theirs = inf_single_batch(Ideal(), torch.zeros(1, 1, 3, 2, 2))
        ours = angles_from_logits(logits, AngleSettings())
        assert int(theirs["ref_alpha_pred"]) == ours.fronts == fronts
        difference = np.deg2rad(float(theirs["ref_az_pred"])) - ours.azimuth_rad
        assert abs(np.angle(np.exp(1j * fronts * difference))) < np.deg2rad(1.0) * fronts
        assert np.rad2deg(ours.polar_rad) == pytest.approx(float(theirs["ref_el_pred"]), abs=0.6)
        assert np.rad2deg(ours.rotation_rad) == pytest.approx(float(theirs["ref_ro_pred"]), abs=0.6)


def test_v2_number_of_fronts_equals_upstreams(checkout: Checkout) -> None:
    """For distributions of several widths and numbers of fronts, away from upstream's thresholds."""
    checkout("Orient-Anything-V2")
    without_rembg()
    from utils.app_utils import val_fit_alpha

    agreed = 0
    for fronts in (1, 2, 4):
        for kappa in (0.05, 1.0, 2.0, 4.0, 8.0):
            probability = density(360, float(RNG.uniform(0, 2 * np.pi)), fronts, kappa)
            theirs = int(val_fit_alpha([0.8 * probability / probability.max()])[0])
            agreed += theirs == count_fronts(probability, AngleSettings())
            assert circular_mean(probability, 0, fronts)[1] > 0
    assert agreed == 15
