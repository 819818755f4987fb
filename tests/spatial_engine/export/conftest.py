from dataclasses import replace

import pytest

from spatial_engine.dataset.writing import write_dataset
from tests.spatial_engine.drafts import NASTY, clip, clip_questions, route, tables, walk


@pytest.fixture(scope="session")
def every_format(tmp_path_factory):
    """A dataset of two clips with every format, metric plans among them; the words about it are hostile."""
    some = clip_questions(count=2)
    more = (walk(6), walk(8, step_fraction=None), route(1))
    other = clip_questions("d" * 16, count=1)
    clips = [replace(some, asked=tables(*some.asked, *more)), other]
    return write_dataset(tmp_path_factory.mktemp("all") / "every format!", clips, lambda id: clip(id, NASTY), seed=1)
