"""With a torch network, the result of a picture is bitwise independent of the other pictures of its batch, if all
batches have one shape."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from experts.clip import Clip, Picture
from experts.runtime.device import Placement, place
from experts.runtime.per_image import call_many, call_one
from experts.signals import NoEstimate, Signal, Signals
from tests.experts.runtime.test_per_image import CLIPS, Greys

torch = pytest.importorskip("torch")


class Network(Greys):
    """Convolutions and attention on pictures of noise."""

    def __init__(self, on_gpu: bool) -> None:
        super().__init__(batch_size=4)
        # the CPU replaces a GPU, so that several pictures share a call
        self.placement = Placement(device="cuda" if on_gpu else "cpu")
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.patches = torch.nn.Sequential(
            torch.nn.Conv2d(3, 64, 3, padding=1), torch.nn.GELU(), torch.nn.Conv2d(64, 64, 8, 8)
        )
        self.attention = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
        self.results: dict[str, np.ndarray] = {}

    def pictures(self, clip: Clip, signals: Signals) -> Any:
        for frame, rgb in clip.read():
            side = 8 * clip.width_px
            yield frame, np.random.default_rng(int(rgb.max())).integers(0, 256, (side, side, 3), dtype=np.uint8)

    def infer(self, pictures: Sequence[Picture]) -> list[np.ndarray]:
        with torch.no_grad():
            pixels = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).float() / 255
            tokens = self.patches(pixels).flatten(2).transpose(1, 2)
            return list(self.attention(tokens).numpy())

    def finish(self, clip: Clip, signals: Signals, raw: Mapping[int, np.ndarray]) -> Mapping[str, Signal | NoEstimate]:
        self.results |= {f"{clip.name} {frame}": result for frame, result in raw.items()}
        return {"gravity": NoEstimate(reason="")}


@pytest.mark.parametrize("on_gpu", [True, False])
def test_results_do_not_depend_on_the_batch(on_gpu: bool) -> None:
    place("cpu")
    together, alone = Network(on_gpu), Network(on_gpu)
    list(call_many(together, [(clip, {}) for clip in CLIPS]))
    for clip in reversed(CLIPS):
        call_one(alone, clip, {})
    assert len(together.results) == 11
    for name, result in together.results.items():
        np.testing.assert_array_equal(result, alone.results[name], err_msg=name)


def test_placement_on_a_cpu_uses_one_thread() -> None:
    torch.set_num_threads(2)
    place("cpu")
    assert torch.get_num_threads() == 1
