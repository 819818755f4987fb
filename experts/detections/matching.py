"""Which frame of a clip a file of detections means: by the name of the picture, or by the number of the frame."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from experts.detections.stated import Frame, StatedFile, StatedFrame

_Find = Callable[[Frame], int | None]


def matched(file: StatedFile, pictures: Sequence[str], count: int, video: str = "") -> dict[int, list[StatedFrame]]:
    """The frames of a source by index. What means no frame is left out of the file.

    Args:
        file: what is stated.
        pictures: names of the source's pictures, in order; none for a video.
        count: number of frames of the source.
        video: name of the video without its ending; programs number its frames after it ("room_12.txt").
    """
    named = bool(pictures)
    find = _of_pictures(pictures) if named else _by_number(file, count, video)
    out: dict[int, list[StatedFrame]] = {}
    for one in file.frames:
        frame = find(one.frame)
        if frame is None or not 0 <= frame < count:
            reason = "no picture has its name" if named else "no clip has a frame of its name or number"
            if one.detections:
                file.left_out[reason] += len(one.detections)
        else:
            out.setdefault(frame, []).append(one)
    return out


def _of_pictures(pictures: Sequence[str]) -> _Find:
    """By name, name without ending, and for names that are numbers ("7", "frame_7") by the number at the end, as far as
    each is unique."""
    keys: list[dict[str, int]] = []
    for key in _KEYS:
        found = [key(name) for name in pictures]
        often = Counter(found)
        keys.append({text: frame for frame, text in enumerate(found) if text and often[text] == 1})

    def find(frame: Frame) -> int | None:
        if frame.number is not None:
            return frame.number
        keys_of = (_name(frame.name), _stem(frame.name), _frame_number(frame.name))
        matches = (known.get(key) for key, known in zip(keys_of, keys, strict=True) if key)
        return next((match for match in matches if match is not None), None)

    return find


def _by_number(file: StatedFile, count: int, video: str) -> _Find:
    """By the number that is stated, or that the name is. Names that count from 1, as those of ffmpeg do, are recognised
    where they name a last frame that would not exist."""
    named = [
        int(text) for one in file.frames if one.frame.number is None and (text := _frame_number(one.frame.name, video))
    ]
    first = 1 if named and min(named) > 0 and max(named) == count else 0

    def find(frame: Frame) -> int | None:
        if frame.number is not None:
            return frame.number
        text = _frame_number(frame.name, video)
        return int(text) - first if text else None

    return find


def _name(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name


def _stem(name: str) -> str:
    file = PurePosixPath(_name(name))
    return file.stem if re.fullmatch(r"\.\w{1,5}", file.suffix) and not file.suffix[1:].isdigit() else file.name


def _number_text(name: str) -> str:
    """The number at the end of a name without its ending, without leading zeros; "" if there is none."""
    found = re.search(r"(\d{1,15})\D*$", _stem(name))
    return "" if found is None else str(int(found[1]))


def _frame_number(name: str, video: str = "") -> str:
    """The number of a frame, where the name is that of one: "12", "frame_000012", "img_0012.jpg"; else "". IMG_2.jpg is
    a photo of a camera, and no second frame."""
    prefix = re.sub(r"\d+\D*$", "", _stem(name)).rstrip("_-. ")
    return _number_text(name) if prefix in (*_OF_FRAMES, video) else ""


_OF_FRAMES = ("", "frame", "Frame", "frames", "f", "image", "img", "out", "output", "thumb")
"""What stands before the number in the names that programs give to the frames of a video."""
_KEYS = (_name, _stem, _number_text)
