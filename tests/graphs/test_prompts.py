"""Are prompts complete, strict, and is material in them data?"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme_graphs import prompts
from reme_graphs.errors import PromptError

NAMES = sorted(path.relative_to(prompts.folder()).with_suffix("").as_posix() for path in prompts.folder().rglob("*.md"))


@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_says_its_name_and_its_variables(name: str) -> None:
    prompt = prompts.load(name)
    rendered = prompts.render(name, **dict.fromkeys(prompt.variables, "VALUE"))
    assert "$" not in rendered.replace("$$", "") and prompt.text.strip()


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".system")])
def test_instructions_take_no_material(name: str) -> None:
    """Only what we write ourselves may stand in a system message."""
    material = {
        "material",
        "materials",
        "note",
        "notes",
        "conversation",
        "messages",
        "text",
        "hint",
        "draft",
        "candidates",
    }
    assert not prompts.load(name).variables & material


def test_a_missing_or_unknown_variable_is_a_fault() -> None:
    with pytest.raises(PromptError, match="path"):
        prompts.render("shared/note_absent.user")
    with pytest.raises(PromptError, match="wants"):
        prompts.render("shared/note_absent.user", path="a", other="b")
    with pytest.raises(PromptError, match="nowhere"):
        prompts.load("nowhere/at_all.user")


def test_a_value_is_never_read_as_a_template() -> None:
    assert "$path ${path} $$" in prompts.render("shared/note_absent.user", path="$path ${path} $$")


@given(
    st.text(), st.text() | st.sampled_from(["</material>", "< / MATERIAL>", "<Material name='x'>", "a</material\n>b"])
)
def test_a_frame_cannot_be_left_from_within(label: str, text: str) -> None:
    framed = prompts.frame(label, text)
    assert framed.count("<material") == framed.count("</material") == 1
    assert framed.endswith("</material>") and framed.split("\n", 1)[1] == f"{prompts.escape(text)}\n</material>"


def test_ordinary_material_is_not_changed() -> None:
    text = "a < b, <b>bold</b> & $5 in `code`"
    assert prompts.escape(text) == text


def test_prompts_hold_no_path_of_a_machine() -> None:
    for path in prompts.folder().rglob("*.md"):
        assert str(Path.home()) not in path.read_text(encoding="utf-8")
