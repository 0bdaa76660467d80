"""A widget's module stands alone: its files joined, each once and after those it imports."""

import pytest

from inside.widgets.web_module import joined_module


@pytest.fixture
def main(tmp_path):
    """Three files, the first imported by both others."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one.js").write_text("export const one = 1;\n")
    (tmp_path / "parts" / "two.js").write_text(
        'import {\n  one,\n} from "../parts/one.js";\nexport const two = one + one;\n')
    (tmp_path / "main.js").write_text(
        'import { two } from "./parts/two.js";\nimport { one } from "./parts/one.js";\n'
        "export default one + two;\n")
    return tmp_path / "main.js"


def test_each_file_stands_once_and_after_those_it_imports(main):
    assert joined_module(main) == (
        "export const one = 1;\nexport const two = one + one;\nexport default one + two;\n")


def test_a_missing_file_is_named_with_the_remedy(main):
    (main.parent / "parts" / "one.js").unlink()
    with pytest.raises(ImportError, match=r"one\.js is missing; use `inside` from a clone") as e:
        joined_module(main)
    assert "\n" not in str(e.value)
