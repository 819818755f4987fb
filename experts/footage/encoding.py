"""Encodes pictures as a video file."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from experts.clip import Picture

_CLOCK = 90000
"""Ticks a second of the time stamps that are written."""


def write_mp4(
    path: Path,
    pictures: Iterable[Picture],
    times_s: Sequence[float],
    *,
    fps: float,
    crf: int = 20,
    preset: str = "slow",
) -> None:
    """H.264 in MP4: RGB pictures of one even size, each shown at its time. Equal input gives equal bytes.

    `fps` is the nominal frame rate; `times_s` ascend, and may be uneven.
    """
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1001))
        stream.pix_fmt = "yuv420p"
        # The same bytes each time: with its macroblock tree, x264 reads memory that it has not written.
        stream.options = {"crf": str(crf), "preset": preset, "threads": "1", "x264-params": "mbtree=0"}
        stream.codec_context.time_base = Fraction(1, _CLOCK)
        for picture, time_s in zip(pictures, times_s, strict=True):
            if not stream.codec_context.is_open:
                stream.height, stream.width = picture.shape[:2]
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts, frame.time_base = round(float(time_s) * _CLOCK), Fraction(1, _CLOCK)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
