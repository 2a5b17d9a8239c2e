"""What does a model read about each tool: what it does, and which arguments it takes?

One class a tool, named in ``TOOLS``; its docstring is the tool's description. Fields are the arguments
of the store's method of the same name.
"""

import inspect
import json
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _decoded(value: Any) -> Any:
    """Take a list or mapping that a model wrote as JSON text for what it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


Decoded: Final = BeforeValidator(_decoded)

NotePath = Annotated[str, Field(description="Workspace-relative path of a note, for example digest/wiki/solar.md")]
AnyPath = Annotated[str, Field(description="Workspace-relative path of a file or folder, for example digest/wiki")]
Day = Annotated[str, Field(description="Day as YYYY-MM-DD; empty means today")]
Version = Annotated[str, Field(description="A version that history names for this path")]
Metadata = Annotated[dict[str, Any], Decoded]


def _told_plainly(schema: dict[str, Any]) -> None:
    """Leave out the keyword that some providers refuse; the check itself stays."""
    schema.pop("additionalProperties", None)


class Arguments(BaseModel):
    """Arguments of a tool; a name that is not among them is a mistake."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_told_plainly)


class Search(Arguments):
    """Search the memory for passages about something: words, names, identifiers, in any language.

    Answers the best passages first, each with path:start-end, the text (every line of it marked with >), and the notes
    linked with it. Read a note with read before you rely on more than the passage.
    """

    query: str = Field(description="What to look for; a few telling words find more than a sentence")
    limit: int = Field(5, description="Most passages to answer")
    min_score: float = Field(0.0, description="Leave out passages that score less")
    search_filter: Metadata = Field(
        {},
        description="Narrow the search. path: folder or note; start_date, end_date: YYYY-MM-DD; "
        "any other key: a front matter value the note must have, for example tags",
    )
    fusion: Literal["convex", "rrf"] = Field(
        "convex", description="How keyword and vector rankings merge, where there are vectors"
    )
    vector_weight: float | None = Field(None, description="Share of the vector ranking, 0 to 1; leave out for default")
    candidate_multiplier: float = Field(3.0, description="Candidates looked at, as a multiple of limit")
    expand_links: bool = Field(True, description="Also name the notes linked with each passage's note")
    max_links_per_direction: int = Field(10, description="Most linked notes to name a passage and direction")


class NodeSearch(Arguments):
    """Find lasting notes (digest/) by what they are called and described as.

    Answers one line a note: path score name description. Use it to see whether there is a note about something.
    """

    query: str = Field(description="Name or short description of what the note would be about")
    limit: int = Field(20, description="Most notes to answer")


class Traverse(Arguments):
    """Walk the links between notes: which notes a note links to, and which link to it.

    A target that has no note yet is answered too and marked so.
    """

    path: Annotated[str | list[str], Decoded] = Field(description="Path of the note to start from, or a list of them")
    depth: int = Field(1, description="How many links to follow in a row")
    direction: Literal["both", "forward", "backward"] = Field(
        "both", description="forward: links out of a note; backward: links to it"
    )
    predicate: str = Field("", description="Follow only links of this relation, for example derived_from; empty: all")


class Read(Arguments):
    """Read a note, or some of its lines. The metadata names its version and its number of lines."""

    path: NotePath
    start_line: int | None = Field(None, description="First line, from 1; leave out for the start")
    end_line: int | None = Field(None, description="Last line, inclusive; leave out for the end")


class ReadImage(Arguments):
    """Read an image of at most 5 MB as base64."""

    path: str = Field(description="Workspace-relative path of an image, for example resource/2026-03-05/plan.png")


class Write(Arguments):
    """Write a new note; with overwrite, replace the body of a note that exists.

    Front matter that is there stays and is merged with what you give; a note that exists is never replaced unless
    overwrite says so. Link other notes as [[folder/name.md]], a relation as a line `relation:: [[folder/name.md]]`.
    """

    path: NotePath
    content: str = Field(description="The body, in Markdown; a front matter block at its head is merged")
    name: str = Field("", description="Front matter name: what the note is called; empty keeps what is there")
    description: str = Field("", description="Front matter description: one sentence; empty keeps what is there")
    metadata: Metadata = Field({}, description="Further front matter keys with their values")
    overwrite: bool = Field(False, description="Replace the body of a note that exists")
    expected_version: str = Field(
        "", description="Version you have read; the write is refused where the note changed since"
    )


class Append(Arguments):
    """Add text at the end of a note, on a new line."""

    path: NotePath
    content: str = Field(description="Text to add, in Markdown; begin with an empty line to leave one")


class Prepend(Arguments):
    """Add text at the beginning of a note's body, below its front matter."""

    path: NotePath
    content: str = Field(description="Text to add, in Markdown")


class Edit(Arguments):
    """Replace one exact piece of a note's body. Read the note first and copy the text from it.

    Front matter is changed with frontmatter_update.
    """

    path: NotePath
    old: str = Field(description="Text to replace, exactly as it stands; it must occur once unless replace_all")
    new: str = Field(description="Text in its place; empty removes it")
    replace_all: bool = Field(False, description="Replace every occurrence")


class Move(Arguments):
    """Move or rename a note or folder; links to it are rewritten everywhere."""

    src_path: AnyPath
    dst_path: str = Field(description="New workspace-relative path with its folder, for example digest/wiki/sun.md")
    overwrite: bool = Field(False, description="Replace a note that is at the new path")
    retarget: bool = Field(True, description="Rewrite the links to it; false leaves them as they are")


class Delete(Arguments):
    """Delete a note or folder. It goes to a trash; the answer names the notes whose links are left behind."""

    path: AnyPath
    recursive: bool = Field(False, description="Delete a folder with all it holds")


class List(Arguments):
    """List the files and folders in a folder."""

    path: str = Field(description="Workspace-relative path of a folder, for example digest; . is the workspace")
    recursive: bool = Field(False, description="Include everything below")
    limit: int = Field(100, description="Most entries to answer")


class Stat(Arguments):
    """Tell whether a path exists, whether it is a file or folder, its size and when it changed."""

    path: AnyPath


class Upload(Arguments):
    """Copy a file from outside into the workspace."""

    path: str = Field(description="Workspace-relative path of the copy, for example resource/2026-03-05/plan.pdf")
    source: str = Field(description="Absolute path of the file outside, in a folder the host allowed")


class Download(Arguments):
    """Copy a file of the workspace to a place outside."""

    path: str = Field(description="Workspace-relative path of the file")
    destination: str = Field(description="Absolute path of the new file outside, in a folder the host allowed")


class FrontmatterRead(Arguments):
    """Read the front matter of a note: its name, description, tags and other keys."""

    path: NotePath


class FrontmatterUpdate(Arguments):
    """Set front matter keys of a note. Other keys, their order and comments, and the body stay."""

    path: NotePath
    metadata: Metadata = Field(
        description='Keys with their values, for example {"status": "done", "tags": ["solar"]}; '
        "a list is replaced whole, so give all of it"
    )


class FrontmatterDelete(Arguments):
    """Remove front matter keys of a note; a key that is not there is named as missing."""

    path: NotePath
    keys: Annotated[list[str], Decoded] = Field(description="Names of the keys to remove")


class TagsList(Arguments):
    """List all tags with the number of notes that have each."""


class TagsStat(Arguments):
    """List the notes that have a tag."""

    tag: str = Field(description="The tag, with or without #")


class DailyCreate(Arguments):
    """Make the daily note of a session, or the page of a day. A note that is there already is left untouched."""

    date: Day = ""
    session_id: str = Field("", description="Session the note is for; empty means the day's own page")
    name: str = Field("", description="Front matter name of a new note; empty takes the session or day")
    description: str = Field("", description="Front matter description of a new note: one sentence")


class DailyList(Arguments):
    """List the notes of a day with their names and descriptions."""

    date: Day = ""


class DailyReindex(Arguments):
    """Renew the list of notes on a day's page; what a person wrote around the list stays."""

    date: Day = ""


class Proactive(Arguments):
    """Read the topics of interest that were proposed for a day."""

    date: Day = ""
    include_content: bool = Field(True, description="Also answer the raw YAML of the file")


class Reindex(Arguments):
    """Reread every file of the workspace into the index. Only needed where the index is suspected to be wrong."""


class History(Arguments):
    """List the earlier versions of a note: when it changed, by which tool or graph, in which run, and why."""

    path: NotePath


class Diff(Arguments):
    """Show what changed in a note since a version, as a unified diff."""

    path: NotePath
    version: Version


class Restore(Arguments):
    """Bring a note back to an earlier version. The present text stays in the history."""

    path: NotePath
    version: Version


class UndoRun(Arguments):
    """Undo every change that one run of a tool or graph made."""

    run_id: str = Field(description="The run_id that history names")


class HealthCheck(Arguments):
    """Check that the index says what the files say, and report problems of notes: broken links, unreadable blocks."""


class TellVersion(Arguments):
    """Tell the version of this program."""


class Help(Arguments):
    """List the tools with their arguments, one line a tool."""


TOOLS: Final[dict[str, type[Arguments]]] = {
    "search": Search,
    "node_search": NodeSearch,
    "traverse": Traverse,
    "read": Read,
    "read_image": ReadImage,
    "write": Write,
    "append": Append,
    "prepend": Prepend,
    "edit": Edit,
    "move": Move,
    "delete": Delete,
    "list": List,
    "stat": Stat,
    "upload": Upload,
    "download": Download,
    "frontmatter_read": FrontmatterRead,
    "frontmatter_update": FrontmatterUpdate,
    "frontmatter_delete": FrontmatterDelete,
    "tags_list": TagsList,
    "tags_stat": TagsStat,
    "daily_create": DailyCreate,
    "daily_list": DailyList,
    "daily_reindex": DailyReindex,
    "proactive": Proactive,
    "reindex": Reindex,
    "history": History,
    "diff": Diff,
    "restore": Restore,
    "undo_run": UndoRun,
    "health_check": HealthCheck,
    "version": TellVersion,
    "help": Help,
}
"""Tool name -> its arguments, in the order in which the tools are offered."""


def tool_description(name: str) -> str:
    """Return what a model or a person reads about a tool."""
    return inspect.getdoc(TOOLS[name]) or name


@cache
def tool_parameters(name: str) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, as a model gets it."""
    schema = TOOLS[name].model_json_schema()
    properties = {
        field: {key: value for key, value in spec.items() if key != "title"}
        for field, spec in schema["properties"].items()
    }
    shown: dict[str, Any] = {"properties": properties, "type": "object"}
    return {**shown, "required": schema["required"]} if schema.get("required") else shown


def render_tool(name: str) -> str:
    """Render one line of help about a tool."""
    return render_job(name, tool_description(name), tool_parameters(name))


def render_job(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """Render one line of help: ``name — description (arg:type* | arg:type=default)``."""
    return f"{name} — {description.split(chr(10), 1)[0]} ({' | '.join(render_arguments(parameters))})"


def render_arguments(parameters: Mapping[str, Any]) -> list[str]:
    """Render each argument of a schema as ``arg:type*`` or ``arg:type=default``."""
    required = set(parameters.get("required", []))
    return [
        f"{name}:{type_of(spec)}" + ("*" if name in required else f"={spec.get('default')!r}")
        for name, spec in parameters.get("properties", {}).items()
    ]


def type_of(spec: Mapping[str, Any]) -> str:
    """Return the type of an argument in a word."""
    kinds = [spec.get("type"), *(option.get("type") for option in spec.get("anyOf", []))]
    return "/".join(str(kind) for kind in kinds if kind and kind != "null") or "any"
