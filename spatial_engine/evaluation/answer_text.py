"""An answer as a model that keeps to the protocol writes it."""

import json

from templates.measured import Json


def tagged(value: Json) -> str:
    """ "<answer>B</answer>", "<answer>[3, 2]</answer>", '<answer>{"roll": 2.2}</answer>'."""
    return f"<answer>{bare(value)}</answer>"


def bare(value: Json) -> str:
    """What stands between the tags: words as they are, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
