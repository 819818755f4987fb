"""Makes tiny films and image folders, and pictures that can be told apart after compression."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

WIDTH, HEIGHT = 96, 64


def texture(seed: int, height: int = HEIGHT, width: int = WIDTH) -> np.ndarray:
    """A picture of blurred noise, (height, width, 3) uint8."""
    import cv2

    noise = np.random.default_rng(seed).uniform(0, 255, (height // 8 + 2, width // 8 + 2, 3)).astype(np.float32)
    return np.clip(cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC), 0, 255).astype(np.uint8)


def numbered(number: int, height: int = HEIGHT, width: int = WIDTH) -> np.ndarray:
    """A picture that says its number in eight black and white bars, the lowest bit at the left."""
    picture = np.full((height, width, 3), 128, dtype=np.uint8)
    for bit in range(8):
        picture[: height // 2, bit * width // 8 : (bit + 1) * width // 8] = 255 * (number >> bit & 1)
    return picture


def number_of(picture: np.ndarray) -> int:
    """Reads what `numbered` wrote."""
    height, width = picture.shape[:2]
    bars = [picture[: height // 2, bit * width // 8 + 2 : (bit + 1) * width // 8 - 2].mean() for bit in range(8)]
    return sum((mean > 128) << bit for bit, mean in enumerate(bars))


def panning(seed: int, frames: int, step_px: int = 1) -> list[np.ndarray]:
    """A camera that pans over one texture."""
    wide = texture(seed, width=WIDTH + frames * step_px)
    return [wide[:, k * step_px : k * step_px + WIDTH] for k in range(frames)]


def write_video(
    path: Path,
    pictures: Iterable[np.ndarray],
    *,
    codec: str = "libx264",
    pts: Sequence[int] | None = None,
    ticks_per_s: int = 10,
    rotation_deg: int = 0,
    options: dict[str, str] | None = None,
) -> Path:
    """Encodes; frame k is shown at pts[k] (default k) ticks."""
    pictures = list(pictures)
    height, width = pictures[0].shape[:2]
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=ticks_per_s, options=options or {})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv444p" if width % 2 else "yuv420p"
        stream.codec_context.time_base = Fraction(1, ticks_per_s)
        if rotation_deg:
            stream.set_display_rotation(rotation_deg)
        for number, picture in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), "rgb24")
            frame.pts, frame.time_base = (number if pts is None else pts[number]), Fraction(1, ticks_per_s)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def write_images(folder: Path, pictures: Iterable[np.ndarray], pattern: str = "{:04d}.png") -> list[Path]:
    """One file a picture."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, picture in enumerate(pictures):
        paths.append(folder / pattern.format(number))
        Image.fromarray(picture).save(paths[-1])
    return paths
