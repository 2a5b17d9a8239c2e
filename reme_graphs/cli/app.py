"""How does a person or a script call a tool or a graph from the shell?

``reme <tool or graph> key=value …``, and a few commands of its own. Exit codes: 0 done, 1 refused or failed, 2 the
command line makes no sense, 130 interrupted.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import click

from reme_graphs.cli import doors, show
from reme_graphs.cli.completion import complete_words, script
from reme_graphs.cli.doors import Settings
from reme_graphs.cli.words import UsageError, absolute, parse_values, split_words
from reme_graphs.descriptions import DESCRIPTIONS
from reme_graphs.errors import GraphError
from reme_store.errors import StoreError
from reme_store.release import VERSION

DONE, FAILED, USAGE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141
COMPLETE = "_REME_COMPLETE"
VERSION_LENGTH = 64
EPILOG = (
    "'reme help' shows every tool and graph with its arguments, 'reme help search' one of them. "
    "Exit codes: 0 done, 1 refused or failed, 2 the command line makes no sense, 130 interrupted."
)

Words = tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        _let_print_anything()
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return USAGE if isinstance(error, click.UsageError) else FAILED
    except UsageError as error:
        show.tell(str(error))
        return USAGE
    except (StoreError, GraphError) as error:
        show.tell(str(error))
        return FAILED
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the last flush has nobody to miss
        return PIPE_CLOSED


def _run(arguments: list[str]) -> int:
    if COMPLETE in os.environ:
        from click.shell_completion import shell_complete  # noqa: PLC0415 - only a shell asks for it

        return shell_complete(reme, {}, "reme", COMPLETE, os.environ[COMPLETE])
    with reme.make_context("reme", arguments) as context:
        code = reme.invoke(context)
    sys.stdout.flush()
    return code if isinstance(code, int) else DONE


def _let_print_anything() -> None:
    """Show what an encoding cannot, such as a file name of broken bytes, as an escape."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


class Commands(click.Group):
    """The program's own commands, and one for each tool and graph."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every name."""
        return [*super().list_commands(ctx), *(name for name in _jobs() if name not in self.commands)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command of the program, or one for a tool or graph."""
        own = super().get_command(ctx, cmd_name)
        return own or (_job_command(cmd_name) if cmd_name in _jobs() else None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which name may have been meant."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            near = get_close_matches(name, self.list_commands(ctx), 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"nothing is called {name!r}{meant}; 'reme help' lists the tools and graphs")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names in three groups."""
        del ctx
        own = [(name, self.commands[name].get_short_help_str(100)) for name in sorted(self.commands)]
        tools = [(name, _tool_summary(name)) for name in _tools() if name not in self.commands]
        graphs = [(name, text.split(":")[0].split(".")[0]) for name, text in DESCRIPTIONS.items()]
        for title, rows in (("Commands", own), ("Tools", tools), ("Graphs", graphs)):
            with formatter.section(title):
                formatter.write_dl(rows)


def _tools() -> Mapping[str, Any]:
    from reme_store.tool_arguments import TOOLS  # noqa: PLC0415 - the schemas take a tenth of a second

    return TOOLS


def _jobs() -> list[str]:
    return [*_tools(), *(name for name in DESCRIPTIONS if name not in _tools())]


def _tool_summary(name: str) -> str:
    from reme_store.tool_arguments import tool_description  # noqa: PLC0415 - a tenth of a second

    return tool_description(name).split("\n", 1)[0]


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that stand before or after the name of any command."""
    options = (
        click.option("--workspace", metavar="FOLDER", help="Folder of the memory; otherwise REME_WORKSPACE."),
        click.option("--host", help="Where a server answers; otherwise REME_SERVICE_INFO, or a server found here."),
        click.option("--port", type=click.IntRange(0, 65535), help="Its port, 2024 by default."),
        click.option("--model", help="Who thinks; otherwise REME_MODEL, else offline. Opens the workspace itself."),
        click.option("--set", "context", multiple=True, metavar="FIELD=VALUE", help="Another setting of a run."),
        click.option("--json", "as_json", is_flag=True, default=None, help="Print everything as JSON."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message="%(version)s")
@_options
@click.pass_context
def reme(context: click.Context, /, **options: Any) -> None:
    """A memory for LLM agents that lives in Markdown files."""
    context.obj = options


def _settings(own: Mapping[str, Any]) -> Settings:
    """Return what the options before and after the name say; the later ones win."""
    before: Mapping[str, Any] = click.get_current_context().obj
    given = {name: value for options in (before, own) for name, value in options.items() if value}
    return Settings(
        workspace=given.get("workspace", ""),
        host=given.get("host", ""),
        port=given.get("port", 0),
        model=given.get("model", ""),
        context=_context([*before["context"], *own["context"]]),
        as_json=given.get("as_json", False),
        tell=show.tell,
    )


def _context(words: Sequence[str]) -> dict[str, Any]:
    if not words:
        return {}
    from reme_graphs.context import Context  # noqa: PLC0415 - LangChain takes half a second to load

    return parse_values(split_words(words), Context.model_json_schema())


def _addressed(settings: Settings, words: Words) -> tuple[Settings, dict[str, str]]:
    """Take ``host=`` and ``port=`` for the server's address: no tool or graph has such an argument."""
    values = split_words(words)
    host, port = values.pop("host", settings.host), values.pop("port", str(settings.port))
    if not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"port={port!r} is no port")
    return replace(settings, host=host, port=int(port)), values


def _finish(result: Mapping[str, Any], name: str, settings: Settings) -> int:
    show.show(result, name, as_json=settings.as_json)
    return DONE if result["success"] else FAILED


def _job_command(name: str) -> click.Command:
    """Return the command of a tool or graph."""

    @click.command(name, add_help_option=False)
    @click.help_option("-h", "--help", is_flag=True, expose_value=False, callback=_show_help(name), is_eager=True)
    @click.argument("words", nargs=-1, metavar="key=value", shell_complete=complete_words(name))
    @_options
    def job(words: Words, **options: Any) -> int:
        settings, values = _addressed(_settings(options), words)
        call = _call_tool if name in _tools() else _run_graph
        return _finish(call(settings, name, values), name, settings)

    return job


def _show_help(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def callback(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
        del parameter
        if wanted and not context.resilient_parsing:
            print(_explain(name)["answer"])
            context.exit(DONE)

    return callback


def _call_tool(settings: Settings, name: str, values: Mapping[str, str]) -> dict[str, Any]:
    from reme_store.tool_arguments import tool_parameters  # noqa: PLC0415 - a tenth of a second

    arguments = absolute(name, parse_values(values, tool_parameters(name)))
    with show.patience(name), doors.door_of_tool(settings, name) as door:
        return door.call(name, _whole_version(door, arguments))


def _whole_version(door: doors.ToolDoor, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with a version written out, of which a person gave the beginning."""
    begun = arguments.get("version", "")
    if not begun or len(begun) >= VERSION_LENGTH:
        return arguments
    told = door.call("history", {"path": arguments.get("path", "")})
    versions = {each["version"] for each in told["metadata"].get("versions", ())}
    found = [each for each in versions if each.startswith(begun)]
    return {**arguments, "version": found[0]} if len(found) == 1 else arguments


def _run_graph(settings: Settings, name: str, values: Mapping[str, str]) -> dict[str, Any]:
    from reme_graphs.embedding import BUILDERS  # noqa: PLC0415 - LangGraph takes a second to load

    inputs = parse_values(values, BUILDERS[name].compile().get_input_jsonschema())
    with doors.door_of_graph(settings) as door, show.progress() as watch:
        return door.run(name, inputs, watch)


def _explain(name: str | None) -> dict[str, Any]:
    from reme_graphs.cli.explain import explain, explain_all  # noqa: PLC0415 - the schemas take a tenth of a second

    return explain(name) if name else explain_all()


@reme.command("help")
@click.argument("name", required=False)
@_options
def help_command(name: str | None, **options: Any) -> int:
    """Show every tool and graph with its arguments, or one of them."""
    return _finish(_explain(name), "help", _settings(options))


@reme.command()
@click.argument("words", nargs=-1, metavar="host=… port=… workspace=…")
@_options
def start(words: Words, **options: Any) -> int:
    """Run the server of a workspace until Ctrl-C; everything else finds it."""
    from reme_graphs.cli.start import start as run  # noqa: PLC0415 - only this command runs a server

    settings = _settings(options)
    settings, values = _addressed(settings, words)
    settings = replace(settings, workspace=values.pop("workspace", settings.workspace))
    _no_more(values)
    model = {"REME_MODEL": settings.model} if settings.model else {}
    return run(
        settings.folder(),
        settings.host or "127.0.0.1",
        settings.port,
        {**settings.environment, **model},
    )


@reme.command("find_reme")
@click.argument("words", nargs=-1, metavar="host=… port=…")
@_options
def find_reme(words: Words, **options: Any) -> int:
    """Say where a server answers; exit code 1 where none does."""
    settings, values = _addressed(_settings(options), words)
    _no_more(values)
    found = doors.found_service(settings)
    service = found.service
    if service is None:
        return _finish({"success": False, "answer": "No server answers; 'reme start' runs one."}, "", settings)
    told = {name: getattr(service, name) for name in ("host", "port", "url", "pid", "version", "workspace", "engine")}
    answer = f"{service.url} holds {service.workspace} (process {service.pid}, {service.version}, {found.source})"
    return _finish({"success": True, "answer": answer, **told, "source": found.source}, "", settings)


@reme.command()
@click.argument("words", nargs=-1, metavar="host=… port=…")
@_options
def status(words: Words, **options: Any) -> int:
    """Show the workspace, its server, how large it is, and what waits."""
    from reme_graphs.cli.status import status as told  # noqa: PLC0415 - LangGraph takes a second to load

    settings, values = _addressed(_settings(options), words)
    _no_more(values)
    with show.patience("status"):
        result = told(settings)
    return _finish(result, "status", settings)


@reme.command()
@_options
def doctor(**options: Any) -> int:
    """Check machine, workspace, index, server and models, and say what to do."""
    from reme_graphs.cli.doctor import examine  # noqa: PLC0415 - only this command looks at all of it

    settings = _settings(options)
    with show.patience("looking"):
        result = examine(settings)
    return _finish(result, "doctor", settings)


@reme.command()
@click.argument("words", nargs=-1, metavar="")
@_options
def retry(words: Words, **options: Any) -> int:
    """Take up what failed: conversations and resources that wait for their note."""
    from reme_graphs.cli import runs  # noqa: PLC0415 - LangGraph takes a second to load

    _no_more(split_words(words))
    settings = _settings(options)
    with doors.opened_reme(settings) as memory, show.progress() as watch:
        result = runs.retry(memory, watch)
    return _finish(result, "retry", settings)


@reme.command()
@click.argument("words", nargs=-1, metavar="[thread=…] [accept | reject | answer=JSON]")
@_options
def resume(words: Words, **options: Any) -> int:
    """List unfinished runs, answer one that waits, or go on with one that was killed."""
    from reme_graphs.cli import runs  # noqa: PLC0415 - LangGraph takes a second to load

    settings = _settings(options)
    decided = [word for word in words if word in ("accept", "reject")]
    values = split_words([word for word in words if word not in decided])
    answer = parse_values(values, {"properties": {"thread": {"type": "string"}, "answer": {}}})
    if len(decided) + ("answer" in answer) > 1:
        raise UsageError("one answer is enough: accept, reject or answer=JSON")
    given = decided[0] if decided else answer.get("answer")
    served = doors.found_service(settings).service is not None
    with doors.opened_reme(settings) as memory, show.progress() as watch:
        result = runs.resume(memory, answer.get("thread", ""), given, watch, served=served)
    return _finish(result, "resume", settings)


@reme.command()
@click.argument("words", nargs=-1, metavar="transport=stdio|http host=… port=… tools=…")
@_options
def mcp(words: Words, **options: Any) -> int:
    """Serve the memory to an MCP client: Claude Code, Codex, Cursor or any other."""
    from reme_graphs.cli.mcp import serve  # noqa: PLC0415 - LangGraph takes a second to load

    settings, values = _addressed(_settings(options), words)
    transport, tools = values.pop("transport", "stdio"), values.pop("tools", "")
    _no_more(values)
    return serve(settings, transport, tools)


@reme.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print what makes a shell complete names, keys and paths: eval "$(reme completion bash)"."""
    print(script(reme, shell, COMPLETE))
    return DONE


def _no_more(values: Mapping[str, str]) -> None:
    if values:
        raise UsageError(f"there is no argument {next(iter(values))!r} here")
