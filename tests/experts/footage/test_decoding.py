"""Images are read upright and in RGB, or are an error."""

from pathlib import Path

import numpy as np
import pytest

from experts.footage.decoding import DecodingError, ImageReader
from tests.films import HEIGHT, WIDTH, texture, write_images


def image_reader(*paths: Path) -> ImageReader:
    """A reader of images of the usual size."""
    sizes = tuple(path.stat().st_size for path in paths)
    return ImageReader(paths=paths, width_px=WIDTH, height_px=HEIGHT, file_bytes=sizes)


def test_images_are_read_upright_in_rgb(tmp_path: Path) -> None:
    from PIL import Image

    picture = texture(4)
    grey, turned = tmp_path / "grey.png", tmp_path / "turned.png"
    Image.fromarray(picture[..., 0]).save(grey)
    exif = Image.Exif()
    exif[0x0112] = 6  # stored on its side: must be rotated clockwise
    Image.fromarray(np.ascontiguousarray(np.rot90(picture))).save(turned, exif=exif)
    (plain,) = write_images(tmp_path, [picture])
    reader = image_reader(plain, grey, turned)
    a, b, c = reader.read([0, 1, 2])
    np.testing.assert_array_equal(a, picture)
    np.testing.assert_array_equal(b, np.repeat(picture[..., :1], 3, axis=2))
    np.testing.assert_array_equal(c, picture)


def test_a_missing_damaged_or_resized_image_is_an_error(tmp_path: Path) -> None:
    paths = write_images(tmp_path, [texture(0), texture(1), texture(2, height=80), texture(3)])
    paths[0].write_bytes(paths[0].read_bytes()[:200])
    reader = image_reader(*paths)
    paths[3].unlink()
    for frame, cause in ((0, "cannot be decoded"), (2, "has changed size"), (3, "is gone")):
        with pytest.raises(DecodingError, match=cause):
            list(reader.read([frame]))
    assert next(reader.read([1])).shape == (64, 96, 3)
