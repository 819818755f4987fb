from dataclasses import replace

from spatial_engine.dataset import media
from templates.question import Drawing, Mark, Photo
from tests.spatial_engine.drafts import clip


def test_ids_depend_on_the_content_of_media_only():
    photo = Photo(frame=3, marks=(Mark(text="A", xy_px=(1.5, 2.0)),))
    path = Drawing(polylines=(((0.0, 0.0), (1.0, 1.0)),))
    ids = {
        media.medium_id("a" * 16, photo),
        media.medium_id("b" * 16, photo),
        media.medium_id("a" * 16, replace(photo, frame=4)),
        media.medium_id("a" * 16, replace(photo, marks=())),
        media.medium_id("a" * 16, path),
    }
    assert len(ids) == 5
    assert media.medium_id("a" * 16, path) == media.medium_id("b" * 16, path)


def test_frames_are_read_once_each_and_in_order(tmp_path):
    footage = clip()
    wanted = []

    class Recording:
        def read(self, frames):
            wanted.append(list(frames))
            yield from footage.reader.read(frames)

    shown = [Photo(frame=f, marks=(Mark(text=t, xy_px=(9.0, 9.0)),)) for t in "AB" for f in (7, 2)]
    media.render(replace(footage, reader=Recording()), shown, tmp_path)
    media.render(replace(footage, reader=Recording()), shown, tmp_path)
    assert wanted == [[2, 7]]
    assert len(list(tmp_path.iterdir())) == 4
