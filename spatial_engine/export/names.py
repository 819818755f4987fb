"""What an export is called where names must be plain."""

import re
from pathlib import Path


def slug(dataset: Path) -> str:
    """Lower-case letters, digits and "_": spatial_ and a data set's folder, of OUT/dataset the folder OUT."""
    path = dataset.resolve()
    name = path.parent.name if path.name == "dataset" else path.name
    return "_".join(["spatial", *re.findall(r"[a-z0-9]+", name.lower())])
