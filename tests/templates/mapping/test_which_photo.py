"""The photo in which a tracked point appears nearest to an edge, on the made-up world with one moving group."""

from dataclasses import replace

import numpy as np

from experts.signals import Objects
from templates.mapping.which_photo import TracksTowardsEdge, WhichPhoto
from templates.truth import verdict
from tests.templates import worlds

WHICH = WhichPhoto()
SCENE = worlds.scene(worlds.signals())
TOWARDS = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}


def test_the_nearest_photo_is_named_by_the_track_and_by_true_depth() -> None:
    found = [draft for seed in range(3) for draft in worlds.drafts(worlds.ask(WHICH, worlds.signals(), seed=seed))]
    tracks = SCENE.tracks
    assert tracks is not None and len({draft.fact["edge"] for draft in found}) >= 2
    for draft in found:
        columns = np.searchsorted(tracks.frames, draft.fact["frames"])
        row = np.nanargmin(np.linalg.norm(tracks.xy_px[:, columns[0]] - draft.fact["points_px"][0], axis=1))
        along = tracks.xy_px[row, columns[1:]] @ TOWARDS[draft.fact["edge"]]
        best, second = np.sort(along)[[-1, -2]]
        assert draft.answer.text == str(2 + np.argmax(along)) and best - second >= 0.03 * 800  # type: ignore[attr-defined]
        assert verdict(WHICH, "choice", dict(draft.fact), draft.answer, SCENE) is True


def test_a_lead_that_nobody_sees_and_hidden_points_are_refused() -> None:
    facts = WHICH.propose(SCENE, np.random.default_rng(0), 20)
    assert isinstance(facts, TracksTowardsEdge)
    assert (WHICH.measure(facts, SCENE).why == "").any()
    tracks = SCENE.tracks
    assert tracks is not None
    still = replace(tracks, xy_px=np.repeat(tracks.xy_px[:, :1], len(tracks.frames), axis=1))
    hidden = replace(tracks, visible=np.zeros_like(tracks.visible))
    for changed, reason in (
        (still, "appears about as near to the edge in two photos"),
        (hidden, "point is not seen in all photos"),
    ):
        scene = worlds.scene({**worlds.signals(), "tracks": changed})
        assert reason in set(WHICH.measure(facts, scene).why.tolist())
        assert not (WHICH.measure(facts, scene).why == "").any()


def test_with_known_objects_a_mark_still_needs_a_track_that_is_seen() -> None:
    """Without a track of its own, it would be taken for the first track of the clip."""
    facts, tracks = WHICH.propose(SCENE, np.random.default_rng(0), 20), SCENE.tracks
    assert isinstance(facts, TracksTowardsEdge) and tracks is not None
    objects = worlds.signals()["objects"]
    assert isinstance(objects, Objects)
    none = replace(
        objects, labels=(), ids=np.full_like(objects.ids, -1), box_px=None, outlier_probability=None, size=None,
        world_from_object=objects.world_from_object[:, :0], centre_sigma=None, size_sigma=None,
    )  # fmt: skip
    lost = replace(tracks, xy_px=np.full_like(tracks.xy_px, 5.0))
    hidden = replace(tracks, visible=np.zeros_like(tracks.visible))
    for changed, reason in ((lost, "point is not tracked"), (hidden, "point is not seen in all photos"), (tracks, "")):
        scene = worlds.scene({**worlds.signals(), "objects": none, "tracks": changed})
        assert {*WHICH.measure(facts, scene).why.tolist()} == {reason}
