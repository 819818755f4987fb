"""How many objects of a name a video shows: one of 8 frames, or one of 64 of the same time."""

from dataclasses import replace

import numpy as np

from experts.signals import Objects
from templates.generate import ask_clip
from templates.mapping.how_many import HowMany, NamedInVideo
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from tests.templates import worlds

CLIP = replace(worlds.clip(), frames=np.arange(90), times_s=np.arange(90) / 24)


def three_chairs() -> Objects:
    """One in all frames, one in frames 3 and 4 alone, one from frame 50 to 60."""
    ids = np.full((90, 12, 16), -1, dtype=np.int32)
    ids[:, 2:6, 2:6], ids[3:5, 2:6, 8:12], ids[50:60, 8:12, 2:6] = 0, 1, 2
    return Objects(
        frames=CLIP.frames,
        labels=("chair",) * 3,
        ids=ids,
        world_from_object=np.full((90, 3, 4, 4), np.nan),
        provenance=worlds.SOURCE,
        complete=("*",),
    )


def test_each_video_is_counted_by_the_frames_that_it_shows() -> None:
    (scene,) = scenes_of(CLIP, {"objects": three_chairs()})
    of_length = {n: np.linspace(0, 63, n).round().astype(int).tolist() for n in (8, 16, 32, 64)}
    facts = NamedInVideo.from_json([{"frames": frames, "name": "chair"} for frames in of_length.values()])
    assert HowMany().measure(facts, scene).value[:, 0].tolist() == [2, 3, 3, 3]


def test_videos_of_a_long_clip_have_8_16_32_or_64_frames() -> None:
    found = ask_clip(CLIP, {"objects": three_chairs()}, [HowMany()], AskSettings(facts_per_template=60), 0)
    videos = [draft.media[0].frames for draft in worlds.drafts(found)]  # type: ignore[union-attr]
    assert {len(frames) for frames in videos} == {8, 16, 32, 64}
    for draft, frames in zip(worlds.drafts(found), videos, strict=True):
        count = 1 + bool({3, 4} & {*frames}) + bool({*range(50, 60)} & {*frames})
        assert int(draft.answer.to_json().answer) == count and draft.fact["frames"] == [*frames]
