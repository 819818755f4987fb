"""Results are made again if the code changes, and only then."""

from pathlib import Path

import pytest

from benchmarks.trust import ablation, verdicts
from benchmarks.trust.code_hash import ROOT, digest


@pytest.mark.parametrize("pattern", sorted({*verdicts.CODE, *verdicts._DRAWING, *ablation._CODE}))
def test_every_pattern_matches_files(pattern: str) -> None:
    assert any(ROOT.glob(pattern))


def test_words_do_not_change_the_hash_and_code_data_and_names_do(tmp_path: Path) -> None:
    module, data = tmp_path / "gate.py", tmp_path / "factors.json"

    def of(code: str, numbers: str = "{}") -> str:
        module.write_text(code)
        data.write_text(numbers)
        return digest(("*.py", "*.json"), tmp_path)

    first = of(
        '"""Gate."""\nlimit = 2\n"""In pixels."""\n\n\ndef passes(x: int) -> bool:\n    """Docs."""\n    return x < 2\n'
    )
    assert first == of("limit = 2  # pixels\ndef passes(x: int) -> bool:\n    return x < 2\n")
    assert first != of("limit = 3\ndef passes(x: int) -> bool:\n    return x < 2\n")
    assert first != of("limit = 2\ndef passes(x: int) -> bool:\n    return x < 2\n", '{"a": 1}')
    of("limit = 2\ndef passes(x: int) -> bool:\n    return x < 2\n")
    module.rename(tmp_path / "other.py")
    assert first != digest(("*.py", "*.json"), tmp_path)
