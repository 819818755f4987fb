"""Orient Anything V1: its network with random weights, on transformers' DINOv2."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-experts")
pytest.importorskip("transformers", reason="transformers is not installed: make test-experts")

from experts.expert import SetupProblem  # noqa: E402
from experts.objects.dinov2_orientation import make_network, with_names_of  # noqa: E402
from experts.objects.orient_anything import OrientAnythingExpert, OrientAnythingSettings  # noqa: E402
from experts.runtime.model_expert import ModelExpert  # noqa: E402
from experts.signals import NoEstimate, ObjectOrientation  # noqa: E402
from tests.experts.objects.test_orient_anything import SMALL, as_clip, scene, signals_of  # noqa: E402

OLD_NAMES = {
    "attention.q_proj": "attention.attention.query",
    "attention.k_proj": "attention.attention.key",
    "attention.v_proj": "attention.attention.value",
    "attention.o_proj": "attention.output.dense",
}
PICTURES = list(np.random.default_rng(0).integers(0, 256, (3, 224, 224, 3), dtype=np.uint8))


def built(expert: OrientAnythingExpert, folder: Path | None) -> OrientAnythingExpert:
    """The expert with weights from a checkpoint folder, or with random ones."""
    files = None if folder is None else {"orient-anything-v1": folder}
    expert.model = expert.build(files, expert.placement)
    expert.loaded_identity = "random"
    return expert


def saved(folder: Path, outputs: int, *, old: bool) -> tuple[Path, object]:
    """A checkpoint in upstream's format, and its network."""
    torch.manual_seed(1)
    network = make_network(384, outputs)
    for module in network.down_sampler.modules():  # running statistics that are not the defaults
        if isinstance(module, torch.nn.BatchNorm1d):
            module.running_mean.normal_()
    state = network.state_dict()
    if old:
        state = {_old(name): value for name, value in state.items()}
    (folder / "ronormsigma1").mkdir()
    torch.save(state, folder / "ronormsigma1" / "dino_weight.pt")
    return folder, network


def _old(name: str) -> str:
    for new, old in OLD_NAMES.items():
        name = name.replace(new, old)
    return name


@pytest.mark.parametrize("outputs", [722, 902])
@pytest.mark.parametrize("old", [True, False])
def test_checkpoints_of_either_head_and_either_naming_load(tmp_path: Path, outputs: int, old: bool) -> None:
    folder, network = saved(tmp_path, outputs, old=old)
    expert = built(OrientAnythingExpert(SMALL), folder)
    logits = expert.infer(PICTURES[:1])
    assert logits[0].shape == (outputs,) and logits[0].dtype == np.float32
    same = built(OrientAnythingExpert(SMALL), folder)
    same.model = network
    np.testing.assert_allclose(same.infer(PICTURES[:1])[0], logits[0], atol=1e-5)


def test_names_are_kept_where_this_transformers_knows_them() -> None:
    wanted = make_network(384, 722).state_dict()
    assert with_names_of(wanted, wanted).keys() == wanted.keys()


@pytest.mark.parametrize("damage", ["truncated", "pickle", "foreign"])
def test_a_file_that_is_not_a_checkpoint_is_refused(tmp_path: Path, damage: str) -> None:
    folder, _ = saved(tmp_path, 722, old=True)
    path = folder / "ronormsigma1" / "dino_weight.pt"
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:5000])
    elif damage == "pickle":
        torch.save({"down_sampler.net1.0.weight": Path("code")}, path)  # an object that is no array
    else:
        torch.save({"weight": torch.zeros(3)}, path)
    with pytest.raises(SetupProblem, match="use another file"):
        built(OrientAnythingExpert(SMALL), folder)


def test_random_weights_run_from_clip_to_signal() -> None:
    """Shapes, conventions and refusals; the values are meaningless."""
    world = scene(frames=1)
    expert = OrientAnythingExpert(OrientAnythingSettings(size="small", crops=SMALL.crops))
    assert isinstance(expert, ModelExpert)
    expert.load("random", "cpu")
    raw = expert.infer(PICTURES)
    np.testing.assert_allclose(expert.infer(PICTURES[:1])[0], raw[0], atol=1e-4)  # independent of the batch
    signal = expert(as_clip(world), signals_of(world))["object_orientation"]
    again = expert(as_clip(world), signals_of(world))["object_orientation"]
    if isinstance(signal, NoEstimate):
        assert signal == again and signal.reason
    else:
        assert isinstance(again, ObjectOrientation)
        np.testing.assert_array_equal(signal.azimuth_rad, again.azimuth_rad)
        assert signal.provenance.weights_licence == "none: random"
    expert.close()
    assert expert.model is None
