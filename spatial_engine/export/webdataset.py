"""WebDataset: tar files of samples, for training that streams. A sample is a question with its pictures and videos.

Files of one sample have its key before the first dot: KEY.json, KEY.0.jpg, KEY.1.png, ... in the order of `media`.
"""

import json
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.question_line import plain
from spatial_engine.dataset.shards import SHARD_MB, write_shards
from spatial_engine.evaluation.baselines import oracle_text
from spatial_engine.export.export_card import write_export_card
from spatial_engine.export.exporter import Exported, questions_by_split
from spatial_engine.language.reasoning import thought
from templates.question import Question

_LOADING = """\
```python
from pathlib import Path

import webdataset

files = sorted(map(str, Path("data").glob("*.tar")))  # train-*.tar: the split for training
for sample in webdataset.WebDataset(files, shardshuffle=False).decode("pil"):
    question = sample["json"]
    print(question["instructions"], question["prompt"], question["options"], question["reply"])
    print([sample.get(name) for name in question["files"]])
    break
```

Or without `webdataset`:

```python
import json
import tarfile
from pathlib import Path

for path in sorted(Path("data").glob("*.tar")):
    with tarfile.open(path) as tar:
        contents = {member.name: tar.extractfile(member).read() for member in tar}
    questions = [json.loads(content) for name, content in contents.items() if name.endswith(".json")]
    pictures = [contents[f"{question['id']}.{name}"] for question in questions for name in question["files"]]
```

Or `load_dataset("webdataset", data_files="data/train-*.tar", split="train", streaming=True)` by `datasets`. `json`
holds the question with all its fields; `files` there names its pictures and videos, in the order of `media`: `0.jpg` is
the first. `instructions` and `prompt` are what is asked, `reply` is the right answer between answer tags."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The files of one question."""

    files: tuple[tuple[str, bytes], ...]
    """Names and contents."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(len(content) for _, content in self.files)


def export_webdataset(dataset: Dataset, folder: Path, *, shard_mb: int = SHARD_MB, reasoning: str = "none") -> Exported:
    """Writes `data/SPLIT-00000-of-00001.tar` (more of them above `shard_mb`) and a card. Holds every question."""
    (folder / "data").mkdir()
    counts = {
        split: write_shards(
            folder / "data",
            split,
            "tar",
            (sample(question, dataset.path, reasoning) for question in questions),
            size=lambda one: one.size,
            shard_mb=shard_mb,
            write=_write_tar,
        )
        for split, questions in questions_by_split(dataset).items()
    }
    written = write_export_card(dataset, folder, splits=counts, ending="tar", loading=_LOADING)
    return Exported(rows=sum(counts.values()), left_out={}, files=("data", *written), splits=counts)


def sample(question: Question, folder: Path, reasoning: str = "none") -> Sample:
    """The files of a question; `folder` is the dataset's. Hints that no prompt shows stay in the dataset."""
    media = [folder / medium["path"] for medium in question.media]
    names = [f"{number}{path.suffix.lower()}" for number, path in enumerate(media)]
    fields = plain(replace(question, hints=()).to_json())
    record = {**fields, "files": names, "reply": thought(question, reasoning) + oracle_text(question)}
    text = json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    files = [("json", text), *((name, path.read_bytes()) for name, path in zip(names, media, strict=True))]
    return Sample(files=tuple((f"{question.id}.{name}", content) for name, content in files))


def _write_tar(path: Path, samples: Iterable[Sample]) -> int:
    """Writes a tar file without times, owners and other traces of this machine; returns the number of samples."""
    count = 0
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for one in samples:
            for name, content in one.files:
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, BytesIO(content))
            count += 1
    return count
