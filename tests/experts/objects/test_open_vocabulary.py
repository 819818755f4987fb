"""The adapter on rendered scenes with the truth in upstream's formats: ids, boxes, refusals."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import experts.runtime.model_expert as model_expert
from experts.clip import Clip
from experts.objects.detections import DetectionSettings
from experts.objects.open_vocabulary import NAMES, OpenVocabularyExpert, OpenVocabularySettings
from experts.objects.text_detectors import fitting, texts_of
from experts.registry import EXPERTS
from experts.runtime.device import Placement
from experts.runtime.model_expert import missing_package
from experts.runtime.per_image import PerImageExpert, call_many
from experts.signals import NoEstimate, Objects, Scale, Signal, ValidArea
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.boxes import sliding
from tests.experts.objects.test_object_boxes import orbit
from tests.experts.rendered_objects import IdealNetworks, box, staged

LABELS = ("cupboard", "crate", "box", "unicorn")
SETTINGS = OpenVocabularySettings(labels=LABELS, frames=6)


def scene_of(frames: int = 6) -> RenderedScene:
    """A cupboard, two boxes of one name, and a crate that slides."""
    feet = np.stack([np.linspace(2.3, 3.1, frames), np.full(frames, 2.6), np.zeros(frames)], axis=1)
    crate = sliding(box("crate", (0.3, 0.3, 0.3), (0, 0)), feet, np.zeros(frames))
    still = [
        box("cupboard", (0.9, 0.5, 1.0), (3.3, 4.2), yaw_deg=15),
        box("box", (0.45, 0.35, 0.3), (2.3, 3.4), yaw_deg=30),
        box("box", (0.45, 0.35, 0.3), (3.7, 3.2), yaw_deg=-20),
    ]
    return staged(still, orbit(frames, span_rad=0.5), [crate])


@pytest.fixture(scope="module")
def scene() -> RenderedScene:
    return scene_of()


@pytest.fixture(scope="module")
def clip(scene: RenderedScene) -> Clip:
    return as_clip(scene)


@pytest.fixture(scope="module")
def signals(scene: RenderedScene, clip: Clip) -> dict[str, Signal | NoEstimate]:
    known = true_signals(scene, clip)
    depth: Any = known["depth"]
    honest = replace(depth, relative_sigma=np.full_like(depth.z, 0.005))
    return {"depth": honest, "camera_path": known["camera_path"], "gravity": known["gravity"]}


@pytest.fixture(scope="module")
def ideal(scene: RenderedScene, clip: Clip) -> IdealNetworks:
    return IdealNetworks(scene, clip, LABELS)


def expert_with(ideal: IdealNetworks, settings: OpenVocabularySettings = SETTINGS) -> OpenVocabularyExpert:
    expert = OpenVocabularyExpert(settings)
    expert.model, expert.loaded_identity = ideal.networks, "random"
    ideal.calls.clear()
    return expert


def objects_of(result: Any) -> Objects:
    found = result["objects"]
    assert isinstance(found, Objects), found
    return found


@pytest.mark.parametrize("padded", [False, True])
def test_exact_predictions_give_exact_objects(
    scene: RenderedScene, clip: Clip, signals: dict[str, Any], padded: bool
) -> None:
    """Boxes, names, masks, tracks and positions, from both detectors' formats."""
    ideal = IdealNetworks(scene, clip, LABELS, padded_to_square=padded)
    found = objects_of(expert_with(ideal)(clip, signals))
    assert sorted(found.labels) == ["box", "box", "crate", "cupboard"]
    assert found.ids.dtype == np.int32 and found.ids.shape == (6, 240, 320)
    true = np.stack([scene.object_ids(int(f)) for f in found.frames])
    poses = scene.world_from_objects(0)
    assert found.size is not None and found.size_sigma is not None and found.centre_sigma is not None
    for k, label in enumerate(found.labels):
        mine = found.ids == k
        which = int(np.bincount(true[mine & (true >= 0)]).argmax())
        assert scene.objects[which].name == label
        assert (mine & (true == which)).sum() > 0.93 * (mine | (true == which)).sum()
        pose = found.world_from_object[:, k]
        if label == "crate":  # it moves: its position is unknown
            assert np.isnan(pose).all() and np.isnan(found.size[k]).all() and np.isnan(found.centre_sigma[k])
            continue
        assert (pose == pose[0]).all()
        offset = pose[0, :3, 3] - poses[which, :3, 3]
        assert np.abs(offset).max() < 3 * found.centre_sigma[k]
        side = np.abs(pose[0, :3, :3].T @ poses[which, :3, :3]).argmax(axis=1)
        error = found.size[k] - scene.objects[which].size_m[side]
        assert (np.abs(error) < 3 * found.size_sigma[k]).all()
    assert found.score is not None and np.nanmin(found.score) == pytest.approx(0.9, abs=1e-3)


@pytest.mark.long(sample=True)
def test_the_three_steps_batch_over_clips(ideal: IdealNetworks, clip: Clip, signals: dict[str, Any]) -> None:
    expert = expert_with(ideal)
    assert isinstance(expert, PerImageExpert)
    alone = objects_of(expert(clip, signals))
    expert.placement = Placement(device="cuda")
    ideal.calls.clear()
    both = [objects_of(result) for result in call_many(expert, [(clip, signals), (clip, signals)])]
    assert max(ideal.calls) == SETTINGS.batch
    for one in both:
        np.testing.assert_array_equal(one.ids, alone.ids)
        np.testing.assert_array_equal(one.world_from_object, alone.world_from_object)


def test_batches_are_halved_when_memory_runs_out(ideal: IdealNetworks, clip: Clip) -> None:
    class Small(IdealNetworks):
        def __call__(self, pictures: Any) -> Any:
            if len(pictures) > 1:
                raise MemoryError
            return super().__call__(pictures)

    small = Small(ideal.scene, clip, LABELS)
    expert = expert_with(small)
    expert.placement = Placement(device="cuda")
    assert objects_of(expert(clip, {})).labels
    assert set(small.calls) == {1}


def test_without_depth_or_path_objects_have_no_position(
    ideal: IdealNetworks, clip: Clip, signals: dict[str, Any]
) -> None:
    per_frame = replace(signals["depth"], scale=Scale(kind="per_frame"))
    lost = replace(signals["camera_path"], motion="unresolved")
    gone = NoEstimate(reason="too little parallax")
    for inputs in (
        {},
        {**signals, "depth": per_frame},
        {**signals, "camera_path": lost},
        {**signals, "depth": gone},
    ):
        found = objects_of(expert_with(ideal)(clip, inputs))
        assert "cupboard" in found.labels and "box" not in found.labels  # two boxes could be swapped
        assert np.isnan(found.world_from_object).all() and np.isnan(found.size).all()


def test_a_rotating_camera_is_at_the_origin(ideal: IdealNetworks, clip: Clip, signals: dict[str, Any]) -> None:
    path = signals["camera_path"]
    poses = path.world_from_cam[[0] * 6].copy()
    poses[:, :3, 3] = np.nan
    z = signals["depth"].z[[0] * 6]
    still = {
        "camera_path": replace(path, world_from_cam=poses, motion="static"),
        "depth": replace(signals["depth"], z=z),
        "gravity": signals["gravity"],
    }
    found = objects_of(expert_with(ideal)(clip, still))
    cupboard = found.labels.index("cupboard")
    assert np.isfinite(found.world_from_object[:, cupboard]).all()


def test_without_gravity_boxes_need_not_be_upright(ideal: IdealNetworks, clip: Clip, signals: dict[str, Any]) -> None:
    doubtful = replace(signals["gravity"], sigma_rad=np.full(6, 0.3))
    found = objects_of(expert_with(ideal)(clip, {**signals, "gravity": doubtful}))
    assert np.isfinite(found.world_from_object[:, found.labels.index("cupboard")]).all()


def test_frames_are_those_that_have_depth(ideal: IdealNetworks, clip: Clip, signals: dict[str, Any]) -> None:
    depth = signals["depth"]
    some = replace(depth, frames=depth.frames[1:4], z=depth.z[1:4], relative_sigma=depth.relative_sigma[1:4])
    found = objects_of(expert_with(ideal)(clip, {**signals, "depth": some}))
    assert found.frames.tolist() == [1, 2, 3]


def test_one_frame(scene: RenderedScene, ideal: IdealNetworks, signals: dict[str, Any]) -> None:
    short = replace(as_clip(scene), frames=np.array([2]), times_s=None)
    found = objects_of(expert_with(ideal)(short, signals))
    assert found.frames.tolist() == [2] and len(found.labels) == 4


def test_objects_that_are_detected_once_are_dropped(scene: RenderedScene, clip: Clip, signals: dict[str, Any]) -> None:
    ideal = IdealNetworks(scene, clip, LABELS, missed={f: {0} for f in range(5)})
    found = objects_of(expert_with(ideal)(clip, signals))
    assert sorted(found.labels) == ["box", "box", "crate"]


def test_burnt_in_overlays_have_no_objects(ideal: IdealNetworks, clip: Clip) -> None:
    valid = np.ones((120, 160), dtype=bool)
    valid[:, 100:] = False
    area = ValidArea(valid=valid, provenance=OpenVocabularyExpert().provenance())
    found = objects_of(expert_with(ideal)(clip, {"valid_area": area}))
    assert (found.ids[:, :, 200:] == -1).all() and (found.ids >= 0).any()


@pytest.mark.parametrize("why", ["low", "nan", "other names", "no masks"])
def test_without_detections_there_is_no_estimate(scene: RenderedScene, clip: Clip, why: str) -> None:
    names = ("unicorn",) if why == "other names" else LABELS
    ideal = IdealNetworks(scene, clip, names, score=0.1 if why == "low" else 0.9)

    class Odd(IdealNetworks):
        def __call__(self, pictures: Any) -> Any:
            return [(boxes, scores * np.float32("nan")) for boxes, scores in super().__call__(pictures)]

    class Blind(IdealNetworks):
        def segment(self, pictures: Any, boxes_px: Any) -> Any:
            return [(logits * np.float32("nan"), sure) for logits, sure in super().segment(pictures, boxes_px)]

    ideal = {"nan": Odd, "no masks": Blind}.get(why, IdealNetworks)(scene, clip, names, score=ideal.score)
    result = expert_with(ideal, replace(SETTINGS, labels=names))(clip, {})["objects"]
    assert isinstance(result, NoEstimate) and result.reason == "no objects found"
    assert names[0] in result.detail and "6 frames" in result.detail and "labels" in result.remedy


def test_without_frames_there_is_no_estimate(ideal: IdealNetworks, clip: Clip) -> None:
    nothing = replace(clip, frames=np.zeros(0, dtype=np.int64), times_s=None)
    result = expert_with(ideal)(nothing, {})["objects"]
    assert isinstance(result, NoEstimate) and result.reason == "no frames"


def test_two_runs_return_the_same_bytes(ideal: IdealNetworks, clip: Clip, signals: dict[str, Any]) -> None:
    one, two = (objects_of(expert_with(ideal)(clip, signals)) for _ in range(2))
    for name in ("ids", "world_from_object", "size", "size_sigma", "centre_sigma", "score"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    assert one.provenance == two.provenance


def test_the_expert_is_registered_with_its_weights_and_licences() -> None:
    expert = EXPERTS.load("open_vocabulary")()
    assert expert.weight_names == ("grounding-dino-base", "sam2.1-hiera-small")
    assert EXPERTS.load("open_vocabulary")(variant="owlv2").weight_names[0] == "owlv2-base"
    assert expert.settings.detection.score == 0.35 and expert.commercial_ok
    provenance = expert.provenance()
    assert provenance.sigma == "raw" and provenance.settings["labels"] == NAMES
    assert pickle.loads(pickle.dumps(expert)).settings == expert.settings


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="there are: grounding_dino, owlv2"):
        OpenVocabularyExpert(variant="yolo")
    for labels in ((), ("a. b",), (" ",)):
        with pytest.raises(ValueError, match="labels"):
            OpenVocabularyExpert(OpenVocabularySettings(labels=labels))
    strict = OpenVocabularyExpert(OpenVocabularySettings(detection=DetectionSettings(score=0.7)))
    assert strict.detection.score == 0.7


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_expert, "find_spec", lambda name: None if name == "transformers" else object())
    problem = missing_package(OpenVocabularyExpert.packages)
    assert problem is not None and problem.remedy == "pip install transformers==5.23.0"


class Words:
    """A tokenizer of one or two tokens per word."""

    cls_token_id, sep_token_id = 101, 102

    def convert_tokens_to_ids(self, token: str) -> int:
        return {".": 1012}[token]

    def __call__(self, text: str, add_special_tokens: bool) -> dict[str, list[int]]:
        assert not add_special_tokens
        return {"input_ids": [2000 + len(word) for word in text.split() for _ in range(1 + (len(word) > 6))]}


def test_names_and_their_tokens() -> None:
    ((ids, spans),) = texts_of(("Chair", "traffic light", "cup"), Words(), 256)
    assert ids == [101, 2005, 1012, 2007, 2007, 2005, 1012, 2003, 1012, 102]
    assert spans == [(1, 2), (3, 6), (7, 8)]
    texts = texts_of(("chair", "traffic light", "cup"), Words(), 8)
    assert [len(spans) for _, spans in texts] == [2, 1] and all(len(ids) <= 8 for ids, _ in texts)


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [((480, 640), (800, 1066)), ((720, 1280), (750, 1333)), ((1280, 720), (1333, 750)), ((64, 64), (800, 800))],
)
def test_sides_are_upstreams(shape: tuple[int, int], wanted: tuple[int, int]) -> None:
    assert fitting(*shape, 800, 1333) == wanted
