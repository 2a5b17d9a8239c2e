"""Where do prompts come from, and how does material get into them?

A prompt is a file ``prompts/<graph>/<node>.<system|user>.md``. Its first line is an HTML comment that names the
prompt and its variables; the rest is a strict ``string.Template``. Material (conversations, notes, resources) stands
in user messages only, framed as data: a frame cannot be closed from within, so a text cannot pass for an instruction
of ours.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from reme_graphs.errors import PromptError

HEAD = re.compile(r"<!--\s*(?P<name>[\w/.-]+)\s*:\s*(?P<variables>[\w,\s]*?)\s*-->\n?")
FRAME_TAG = re.compile(r"<(?=/?\s*material\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file."""

    name: str
    text: str
    variables: frozenset[str]


def load(name: str) -> Prompt:
    """Load a prompt, for example ``auto_memory/write_note.user``.

    Raises:
        PromptError: no such prompt, or its first line does not fit its text.
    """
    return _load(name)


def render(name: str, **values: str) -> str:
    """Render a prompt with exactly its variables.

    Raises:
        PromptError: a variable is missing or unknown.
    """
    prompt = load(name)
    if set(values) != prompt.variables:
        raise PromptError(f"{name} wants {sorted(prompt.variables)}, was given {sorted(values)}")
    return Template(prompt.text).substitute(values)


def frame(label: str, text: str) -> str:
    """Return the text as data: delimited, and unable to end its delimiter.

    Args:
        label: what it is, for example a workspace path.
        text: the material.
    """
    name = label.replace('"', "'").replace("\n", " ").replace("<", "(").replace(">", ")")
    return f'<material name="{name}">\n{escape(text)}\n</material>'


def escape(text: str) -> str:
    """Return the text without anything that reads as the edge of a frame."""
    return FRAME_TAG.sub("&lt;", text)


@cache
def _load(name: str) -> Prompt:
    path = folder() / f"{name}.md"
    if not path.is_file():
        raise PromptError(f"there is no prompt {name!r}")
    whole = path.read_text(encoding="utf-8")
    head = HEAD.match(whole)
    if not head or head["name"] != name:
        raise PromptError(f"the first line of prompt {name!r} does not name it")
    text = whole[head.end() :].strip("\n") + "\n"
    variables = frozenset(filter(None, (part.strip() for part in head["variables"].split(","))))
    if variables != frozenset(Template(text).get_identifiers()):
        raise PromptError(f"the first line of prompt {name!r} names other variables than its text uses")
    return Prompt(name, text, variables)


@cache
def folder() -> Path:
    """Return the folder of the prompts: inside an installed package, else beside the sources."""
    here = Path(__file__).resolve().parent
    return next(path for path in (here / "_prompts", here.parent / "prompts") if path.is_dir())
