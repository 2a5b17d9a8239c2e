"""Which LangChain tools does a store offer to a model, and how does each answer?

Every tool answers with content and artifact ``{"success", "answer", "metadata"}``. A caller's mistake comes back as
a message of status ``error`` that carries the artifact too, in any agent without configuration; a bug propagates.
The docstrings and argument descriptions below are what a model reads.
"""

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping
from contextvars import copy_context
from typing import Annotated, Any, Literal

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tools.base import ArgsSchema, create_schema_from_function
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field, ValidationError

import reme_store
from reme_store import daily
from reme_store.errors import InvalidRequestError
from reme_store.models import Answer

NotePath = Annotated[str, Field(description="Workspace-relative path of a note, for example digest/wiki/solar.md")]
AnyPath = Annotated[str, Field(description="Workspace-relative path of a file or folder")]
Day = Annotated[str, Field(description="Day as YYYY-MM-DD; empty means today")]
Metadata = Annotated[dict[str, Any], Field(description="Front matter keys with their values")]
SearchFilter = Annotated[
    dict[str, Any],
    Field(
        description="Narrow the search: path (folder or note), start_date, end_date (YYYY-MM-DD), "
        "any other key is a front matter value"
    ),
]


# ---- what a model reads -------------------------------------------------------------------------


def search(
    store: Any,
    query: Annotated[str, Field(description="What to look for, in any language; words, names, identifiers")],
    limit: Annotated[int, Field(description="Most hits to return")] = 5,
    min_score: Annotated[float, Field(description="Leave out hits below this score")] = 0.0,
    search_filter: SearchFilter = {},  # noqa: B006  # a schema default; never changed
    fusion: Annotated[Literal["convex", "rrf"], Field(description="How keyword and vector rankings merge")] = "convex",
    vector_weight: Annotated[float | None, Field(description="Share of the vector ranking, 0 to 1")] = None,
    candidate_multiplier: Annotated[float, Field(description="Candidates looked at, as a multiple of limit")] = 3.0,
    expand_links: Annotated[bool, Field(description="Also name the notes linked with each hit")] = True,
    max_links_per_direction: Annotated[int, Field(description="Most linked notes named per hit and direction")] = 10,
) -> Answer:
    """Search the memory: passages of notes that match the query, best first, with lines and linked notes."""
    return _answer(
        store.search(
            query=query,
            limit=limit,
            min_score=min_score,
            search_filter=search_filter,
            fusion=fusion,
            vector_weight=vector_weight,
            candidate_multiplier=candidate_multiplier,
            expand_links=expand_links,
            max_links_per_direction=max_links_per_direction,
        )
    )


def node_search(
    store: Any,
    query: Annotated[str, Field(description="Name or description of what is looked for")],
    limit: Annotated[int, Field(description="Most notes to return")] = 20,
) -> Answer:
    """Find lasting (digest) notes by what they are about: one line a note with path, score, name and description."""
    return _answer(store.node_search(query=query, limit=limit))


def traverse(
    store: Any,
    path: Annotated[str | list[str], Field(description="Note or notes to start from")],
    depth: Annotated[int, Field(description="How many links to follow")] = 1,
    direction: Annotated[
        Literal["both", "forward", "backward"], Field(description="Follow outgoing links, incoming links, or both")
    ] = "both",
    predicate: Annotated[str, Field(description="Follow only links of this relation; empty means all")] = "",
) -> Answer:
    """Walk the links between notes: which notes a note links to and which link to it."""
    return _answer(store.traverse(path=path, depth=depth, direction=direction, predicate=predicate))


def read(
    store: Any,
    path: NotePath,
    start_line: Annotated[int | None, Field(description="First line, from 1; leave out for the start")] = None,
    end_line: Annotated[int | None, Field(description="Last line, inclusive; leave out for the end")] = None,
) -> Answer:
    """Read a note, or some of its lines."""
    return _answer(store.read(path=path, start_line=start_line, end_line=end_line))


def read_image(store: Any, path: Annotated[str, Field(description="Workspace-relative path of an image")]) -> Answer:
    """Read an image of up to 5 MB as base64."""
    return _answer(store.read_image(path=path))


def write(
    store: Any,
    path: NotePath,
    content: Annotated[str, Field(description="The body of the note, in Markdown")],
    name: Annotated[str, Field(description="Front matter name; empty keeps what is there")] = "",
    description: Annotated[str, Field(description="Front matter description; empty keeps what is there")] = "",
    metadata: Annotated[dict[str, Any], Field(description="Further front matter keys")] = {},  # noqa: B006  # a schema default
    overwrite: Annotated[bool, Field(description="Replace the body of an existing note")] = False,
    expected_version: Annotated[str, Field(description="Only if the note still has this version (from read)")] = "",
) -> Answer:
    """Write a new note; with overwrite, replace the body of an existing one and merge its front matter."""
    return _answer(
        store.write(
            path=path,
            content=content,
            name=name,
            description=description,
            metadata=metadata,
            overwrite=overwrite,
            expected_version=expected_version,
        )
    )


def append(store: Any, path: NotePath, content: Annotated[str, Field(description="Text to add")]) -> Answer:
    """Add text at the end of a note, starting on a new line."""
    return _answer(store.append(path=path, content=content))


def prepend(store: Any, path: NotePath, content: Annotated[str, Field(description="Text to add")]) -> Answer:
    """Add text at the start of a note's body, below its front matter."""
    return _answer(store.prepend(path=path, content=content))


def edit(
    store: Any,
    path: NotePath,
    old: Annotated[str, Field(description="Exact text to replace; it must occur once unless replace_all")],
    new: Annotated[str, Field(description="Text to put in its place")],
    replace_all: Annotated[bool, Field(description="Replace every occurrence")] = False,
) -> Answer:
    """Replace one exact piece of a note's body. Read the note first."""
    return _answer(store.edit(path=path, old=old, new=new, replace_all=replace_all))


def move(
    store: Any,
    src_path: Annotated[str, Field(description="Note or folder to move")],
    dst_path: Annotated[str, Field(description="New workspace-relative path, with its folder")],
    overwrite: Annotated[bool, Field(description="Replace a note that is there")] = False,
    retarget: Annotated[bool, Field(description="Rewrite the links that point to it")] = True,
) -> Answer:
    """Move or rename a note or folder; links to it follow."""
    return _answer(store.move(src_path=src_path, dst_path=dst_path, overwrite=overwrite, retarget=retarget))


def delete(
    store: Any,
    path: AnyPath,
    recursive: Annotated[bool, Field(description="Delete a folder with all it holds")] = False,
) -> Answer:
    """Delete a note or folder; it goes to a trash. Names the links left behind."""
    return _answer(store.delete(path=path, recursive=recursive))


def list_(
    store: Any,
    path: AnyPath,
    recursive: Annotated[bool, Field(description="Include everything below")] = False,
    limit: Annotated[int, Field(description="Most entries to return")] = 100,
) -> Answer:
    """List the files and folders of a folder."""
    return _answer(store.list(path=path, recursive=recursive, limit=limit))


def stat(store: Any, path: AnyPath) -> Answer:
    """Tell whether a path exists, what it is, its size and when it changed."""
    return _answer(store.stat(path=path))


def upload(
    store: Any,
    path: Annotated[str, Field(description="Workspace-relative path to write")],
    source: Annotated[str, Field(description="File outside, in a folder the host allowed")],
) -> Answer:
    """Copy a file from outside into the workspace."""
    return _answer(store.upload(path=path, source=source))


def download(
    store: Any,
    path: AnyPath,
    destination: Annotated[str, Field(description="File outside, in a folder the host allowed")],
) -> Answer:
    """Copy a file of the workspace to a place outside."""
    return _answer(store.download(path=path, destination=destination))


def frontmatter_read(store: Any, path: NotePath) -> Answer:
    """Read the front matter of a note."""
    return _answer(store.frontmatter_read(path=path))


def frontmatter_update(store: Any, path: NotePath, metadata: Metadata) -> Answer:
    """Set front matter keys of a note; other keys and the body stay."""
    return _answer(store.frontmatter_update(path=path, metadata=metadata))


def frontmatter_delete(
    store: Any, path: NotePath, keys: Annotated[list[str], Field(description="Front matter keys to remove")]
) -> Answer:
    """Remove front matter keys of a note."""
    return _answer(store.frontmatter_delete(path=path, keys=keys))


def tags_list(store: Any) -> Answer:
    """List all tags with how many notes have them."""
    return _answer(store.tags_list())


def tags_stat(store: Any, tag: Annotated[str, Field(description="A tag, without #")]) -> Answer:
    """List the notes that have a tag."""
    return _answer(store.tags_stat(tag=tag))


def daily_create(
    store: Any,
    date: Day = "",
    session_id: Annotated[str, Field(description="Session the note is for; empty means the day's own page")] = "",
    name: Annotated[str, Field(description="Front matter name of a new note")] = "",
    description: Annotated[str, Field(description="Front matter description of a new note")] = "",
) -> Answer:
    """Make the daily note of a session, or the page of a day; an existing one is left untouched."""
    return daily.daily_create(store, date, session_id, name, description)


def daily_list(store: Any, date: Day = "") -> Answer:
    """List the notes of a day with their names and descriptions."""
    return daily.daily_list(store, date)


def daily_reindex(store: Any, date: Day = "") -> Answer:
    """Renew the list of notes on a day's page; other text of the page stays."""
    return daily.daily_reindex(store, date)


def proactive(
    store: Any,
    date: Day = "",
    include_content: Annotated[bool, Field(description="Also return the raw YAML")] = True,
) -> Answer:
    """Read the topics of interest proposed for a day."""
    return daily.proactive(store, date, include_content)


def reindex(store: Any) -> Answer:
    """Reread every file of the workspace into the index."""
    return _answer(store.reindex())


def history(store: Any, path: AnyPath) -> Answer:
    """List the earlier versions of a note: when, by which tool or graph, in which run, and why it changed."""
    return _answer(store.history(path=path))


def diff(store: Any, path: AnyPath, version: Annotated[str, Field(description="A version from history")]) -> Answer:
    """Show what changed in a note since a version."""
    return _answer(store.diff(path=path, version=version))


def restore(store: Any, path: AnyPath, version: Annotated[str, Field(description="A version from history")]) -> Answer:
    """Bring a note back to an earlier version."""
    return _answer(store.restore(path=path, version=version))


def undo_run(store: Any, run_id: Annotated[str, Field(description="A run from history")]) -> Answer:
    """Undo every change that one run made."""
    return _answer(store.undo_run(run_id=run_id))


def health_check(store: Any) -> Answer:
    """Check that the index is what the files say, and report problems."""
    return _answer(store.health_check())


def version(store: Any) -> Answer:  # noqa: ARG001  # every tool takes the store
    """Tell the version of this program."""
    return Answer(f"✅ ReMe v{reme_store.__version__}", {"version": reme_store.__version__})


def help_(store: Any) -> Answer:
    """List the tools with their arguments."""
    tools = (tool for tool in create_store_tools(store) if tool.name != "help")
    lines = [render_job(tool.name, tool.description, tool_parameters(tool)) for tool in tools]
    return Answer("\n".join(lines), {"job_count": len(lines)})


FUNCTIONS: dict[str, Callable[..., Answer]] = {
    function.__name__.rstrip("_"): function
    for function in (
        search,
        node_search,
        traverse,
        read,
        read_image,
        write,
        append,
        prepend,
        edit,
        move,
        delete,
        list_,
        stat,
        upload,
        download,
        frontmatter_read,
        frontmatter_update,
        frontmatter_delete,
        tags_list,
        tags_stat,
        daily_create,
        daily_list,
        daily_reindex,
        proactive,
        reindex,
        history,
        diff,
        restore,
        undo_run,
        health_check,
        version,
        help_,
    )
}


# ---- how a tool answers -------------------------------------------------------------------------

_SCHEMAS: dict[str, ArgsSchema] = {}
_SCHEMA_LOCK = threading.Lock()


def create_store_tools(store: Any, *names: str) -> list[BaseTool]:
    """Make LangChain tools over a store.

    Args:
        store: A ``FileStore``, or any object with the methods of the named tools.
        names: Which tools, in this order; none means all.

    Raises:
        InvalidRequestError: There is no tool of such a name.
    """
    unknown = [name for name in names if name not in FUNCTIONS]
    if unknown:
        raise InvalidRequestError(f"no tool named {', '.join(unknown)}; there are {', '.join(FUNCTIONS)}")
    return [_create_tool(store, name) for name in names or FUNCTIONS]


class StoreTool(StructuredTool):
    """A tool whose caller's mistakes come back as an error message with the artifact."""

    def run(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        """Run the tool once; see ``BaseTool.run``."""
        try:
            return super().run(self._without_nulls(tool_input), *args, **kwargs)
        except (InvalidRequestError, ValidationError) as error:
            return self._refusal(error, kwargs.get("tool_call_id"))

    async def arun(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        """Run the tool once in a worker thread; see ``BaseTool.arun``."""
        context = copy_context()
        return await asyncio.to_thread(context.run, self.run, tool_input, *args, **kwargs)

    def _without_nulls(self, tool_input: Any) -> Any:
        """Models send null for what they leave out."""
        if not isinstance(tool_input, dict):
            return tool_input
        fields = self._schema().model_fields
        return {
            key: value
            for key, value in tool_input.items()
            if value is not None or key not in fields or fields[key].is_required()
        }

    def _schema(self) -> type[BaseModel]:
        schema = self.args_schema
        if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
            raise TypeError(f"the schema of {self.name} is no model")
        return schema

    def _refusal(self, error: InvalidRequestError | ValidationError, tool_call_id: str | None) -> Any:
        if isinstance(error, ValidationError) and error.title != self._schema().__name__:
            raise error
        answer = f"Error: {_told(self.name, error)}"
        artifact = {"success": False, "answer": answer, "metadata": {}}
        if tool_call_id is None:
            return answer
        return ToolMessage(answer, artifact=artifact, tool_call_id=tool_call_id, name=self.name, status="error")


def _create_tool(store: Any, name: str) -> BaseTool:
    function = FUNCTIONS[name]

    def call(**arguments: Any) -> tuple[str, dict[str, Any]]:
        answer = function(store, **arguments)
        return answer.answer, {"success": True, "answer": answer.answer, "metadata": answer.metadata}

    return StoreTool(
        name=name,
        description=inspect.getdoc(function) or name,
        args_schema=_schema_of(name),
        func=call,
        response_format="content_and_artifact",
    )


def _schema_of(name: str) -> ArgsSchema:
    """Return the schema of a tool's arguments, made once.

    Its making hushes a warning for the whole process, so two threads must not do it at once.
    """
    with _SCHEMA_LOCK:
        if name not in _SCHEMAS:
            _SCHEMAS[name] = create_schema_from_function(name, FUNCTIONS[name], filter_args=["store"])
        return _SCHEMAS[name]


def _answer(value: Any) -> Answer:
    if not isinstance(value, Answer):
        raise TypeError(f"a store method answered {type(value).__name__}, not an Answer")
    return value


def _told(name: str, error: InvalidRequestError | ValidationError) -> str:
    if isinstance(error, InvalidRequestError):
        return str(error)
    faults = [f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}" for fault in error.errors()]
    return f"the arguments of {name} do not fit: {'; '.join(faults)}"


def tool_parameters(tool: BaseTool) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, as a model gets it."""
    parameters: dict[str, Any] = convert_to_openai_tool(tool)["function"]["parameters"]
    return parameters


def render_job(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """Render one line of help: ``name — description (arg:type* | arg:type=default)``."""
    required = set(parameters.get("required", []))
    arguments = [
        f"{key}:{_type_of(spec)}" + ("*" if key in required else f"={spec.get('default')!r}")
        for key, spec in parameters.get("properties", {}).items()
    ]
    return f"{name} — {description.split(chr(10), 1)[0]} ({' | '.join(arguments)})"


def _type_of(spec: Mapping[str, Any]) -> str:
    kinds = [spec.get("type")] if spec.get("type") else [option.get("type") for option in spec.get("anyOf", [])]
    return "/".join(str(kind) for kind in kinds if kind and kind != "null") or "any"
