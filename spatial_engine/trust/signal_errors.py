"""How far each signal of a clip is from truth in its own σ, and how often it is plainly wrong."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from experts.clip import Clip
from experts.signals import NoEstimate, Signals
from spatial_engine.trust.signal_errors_camera import camera_errors
from spatial_engine.trust.signal_errors_pixel import pixel_errors
from spatial_engine.trust.signal_errors_range import range_errors
from spatial_engine.trust.signal_errors_record import SignalErrors
from spatial_engine.trust.true_sequence import TrueClip
from templates.scene.marks import spread_frames
from templates.scene.scene import Scene

_DENSE = 8
"""Frames of which true depth is read, ..."""
_PAIRS = 4
"""... among them those of so many matched pairs."""


def signal_errors(clip: Clip, signals: Signals, truth: TrueClip) -> list[SignalErrors]:
    """One record per quantity that both the signals and truth know; errors of which truth is unsure are counted and
    left out. The same inputs give the same records.

    Signals are taken as their experts gave them: nothing is refused, no disagreement is in their σ. A check signal
    (`camera_path_check`) is not looked at: its expert is measured where it speaks first.
    """
    kept = {name: s for name, s in signals.items() if not name.endswith("_check") and not isinstance(s, NoEstimate)}
    mine = Scene(clip=clip, signals=kept, no_estimates={})
    unsound = truth.unsound
    dense = _frames(mine, unsound)
    true = truth.scene(dense)
    found = chain(camera_errors(mine, true, unsound), range_errors(mine, true, dense), pixel_errors(mine, true, dense))
    return [each for each in found if each.counted or each.undecided or each.gross]


def _frames(mine: Scene, unsound: frozenset[int]) -> Sequence[int]:
    """Sound frames, evenly spread, and those of a few matched pairs; the first frame, in which most tracks begin."""
    sound = mine.clip.frames[~np.isin(mine.clip.frames, sorted(unsound))]
    matches = np.empty((0, 2), dtype=np.int64) if mine.matches is None else mine.matches.pairs
    pairs = matches[np.isin(matches, sound).all(axis=1)]
    matched = {int(f) for k in spread_frames(np.arange(len(pairs)), _PAIRS) for f in pairs[k]}
    return sorted(matched | set(spread_frames(sound, max(2, _DENSE - len(matched)))))
