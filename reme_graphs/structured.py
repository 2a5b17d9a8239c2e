"""How is a structured reply asked for, and what counts as one?

A reply is a Pydantic model, asked for as one tool with the model's name (no response_format). JSON in text counts
too: fenced, after ``<think>``, with prose around it, or a bare list where only one field can mean it. Leniency ends
where a reading would be a guess: what is truncated, empty or of the wrong type is a fault, never "nothing".
"""

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, TypeVar

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from reme_graphs import prompts
from reme_graphs.errors import ModelOutputError
from reme_graphs.json_text import json_objects, whole_values
from reme_graphs.model_calls import Limits, call_model
from reme_graphs.text_tools import bind
from reme_graphs.usage import Usage, add_usage, no_usage

Reply = TypeVar("Reply", bound=BaseModel)

FAULT_CHARS = 1500


def _parsed_list(value: Any) -> Any:
    """Some models send a list as the JSON text of it."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            return value
    return value


def _text_or_lines(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = "\n".join(value)
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _list_or_none(value: Any) -> Any:
    return [] if value is None else _parsed_list(value)


def _upper(value: Any) -> Any:
    return value.strip().upper() if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_text_or_lines)]
Texts = Annotated[list[str], BeforeValidator(_list_or_none)]


class ExtractedUnit(BaseModel):
    """One thing that daily notes teach."""

    name: str = Field(min_length=1, description="Short name of the abstraction.")
    bucket: Text = Field("wiki", description="procedure, personal or wiki.")
    summary: Text = Field("", description="What it says, in one or two sentences.")
    paths: Texts = Field(default_factory=list, description="Paths of the notes it comes from.")


class Topic(BaseModel):
    """Something the person may want to hear more about."""

    title: str = Field(min_length=1, description="The topic in a few words.")
    reason: Text = Field("", description="Why it is of interest now.")
    evidence: Text = Field("", description="What in the notes shows it.")
    keywords: Texts = Field(default_factory=list, description="Words to search with.")
    paths: Texts = Field(default_factory=list, description="Paths of the notes it comes from.")


class ExtractedUnits(BaseModel):
    """Everything worth keeping from the notes shown: few and good units, and topics of interest."""

    units: Annotated[list[ExtractedUnit], BeforeValidator(_parsed_list)] = Field(
        description="Units; an empty list if the notes teach nothing."
    )
    topics: Annotated[list[Topic], BeforeValidator(_list_or_none)] = Field(
        default_factory=list, description="Topics of interest."
    )


class IntegrateOutcome(BaseModel):
    """What became of the unit."""

    action: Annotated[Literal["CREATE", "CORROBORATE", "REFINE", "CORRECT"], BeforeValidator(_upper)] = Field(
        description="What was done."
    )
    target_path: str = Field(min_length=1, description="Path of the note that holds the unit now.")
    note: Text = Field("", description="Why, in one sentence.")


class SelectedTopics(BaseModel):
    """The topics to propose, best first."""

    topics: Annotated[list[Topic], BeforeValidator(_parsed_list)] = Field(description="The chosen topics.")


def _step(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


class NextStep(BaseModel):
    """One checkbox of a task."""

    text: Text = Field(description="What is to be done.")
    done: bool = Field(False, description="Whether it is done.")


class Material(BaseModel):
    """A piece of text worth a file of its own."""

    name: Text = Field("", description="File name, without folder.")
    content: Text = Field(description="The whole text, Markdown.")
    note: Text = Field("", description="What it is, in a few words.")


class TaskUpdate(BaseModel):
    """What a conversation changes in the state of a task in progress; skip where there is none."""

    skip: bool = Field(False, description="True if this is no multi-step task in progress.")
    title: Text = Field("", description="Title of the task, the same every time.")
    description: Text = Field("", description="The task in one sentence.")
    objective: Text = Field("", description="What is to be reached; empty if unchanged.")
    plan: Texts = Field(default_factory=list, description="The whole plan as it stands now; empty if unchanged.")
    progress: Texts = Field(default_factory=list, description="What was done since the last update.")
    findings: Texts = Field(default_factory=list, description="What was found out since the last update.")
    decisions: Texts = Field(
        default_factory=list, description="What was decided, with the reason, since the last update."
    )
    next: Annotated[list[Annotated[NextStep, BeforeValidator(_step)]], BeforeValidator(_list_or_none)] = Field(
        default_factory=list, description="The next steps as they stand now."
    )
    completed: bool = Field(False, description="True only if the person said that the task is finished.")
    materials: Annotated[list[Material], BeforeValidator(_list_or_none)] = Field(
        default_factory=list, description="Long texts to keep beside the note."
    )

    @model_validator(mode="after")
    def _says_something(self) -> "TaskUpdate":
        if not self.skip and not self.title.strip():
            raise ValueError("a title is needed, or skip must be true")
        return self


class SplitChild(BaseModel):
    """One of the notes that an overloaded note becomes."""

    name: str = Field(min_length=1, description="File name without folder and extension.")
    description: Text = Field("", description="The child in one sentence.")
    body: str = Field(min_length=1, description="Its whole text, every line taken over word for word.")


class SplitPlan(BaseModel):
    """How to take an overloaded note apart; no children means: leave it whole."""

    overview: Text = Field(description="The new text of the note itself.")
    children: Annotated[list[SplitChild], BeforeValidator(_parsed_list)] = Field(
        description="The notes beside it; empty to leave the note whole."
    )


def ask(
    model: BaseChatModel, messages: Sequence[BaseMessage], schema: type[Reply], limits: Limits
) -> tuple[Reply, Usage]:
    """Ask for one structured reply, with one repair round that quotes the fault.

    Raises:
        ModelOutputError: no usable reply after the repair; carries the usage.
        ModelCallError: the model did not answer; carries the usage of the calls before.
    """
    bound = bind(model, [schema], tool_calling=limits.tool_calling)
    conversation, usage = list(messages), no_usage()
    for last in (False, True):
        answer, cost = call_model(bound, conversation, limits, spent=usage)
        usage = add_usage(usage, cost)
        try:
            return parse_reply(answer, schema), usage
        except ModelOutputError as fault:
            if last:
                raise ModelOutputError(str(fault), usage=usage) from fault
            conversation += [answer, *fault_messages(answer, schema, str(fault))]
    raise AssertionError("unreachable: the second round returns or raises")


def fault_messages(answer: AIMessage, schema: type[BaseModel], fault: str) -> list[BaseMessage]:
    """Return the messages that send an unusable answer back: one for each of its calls, else one of the user."""
    text = prompts.render("shared/repair_reply.user", reply=schema.__name__, fault=prompts.escape(fault[:FAULT_CHARS]))
    calls = [*answer.tool_calls, *answer.invalid_tool_calls]
    replies: list[BaseMessage] = [
        ToolMessage(text, tool_call_id=call["id"], name=call["name"], status="error") for call in calls if call["id"]
    ]
    return replies or [HumanMessage(text)]


def parse_reply(answer: AIMessage, schema: type[Reply]) -> Reply:
    """Read the reply out of a model's answer.

    Raises:
        ModelOutputError: there is none that can be used; says why.
    """
    faults: list[str] = []
    for call in answer.tool_calls:
        if call["name"] == schema.__name__:
            value = _validated(call["args"], schema, faults)
            if value is not None:
                return value
    faults += [f"the arguments of {broken['name']} are not valid JSON" for broken in answer.invalid_tool_calls]
    if not faults:
        for candidate in _candidates(answer.text, schema):
            value = _validated(candidate, schema, faults)
            if value is not None:
                return value
    raise ModelOutputError(faults[0] if faults else f"the answer holds no {schema.__name__}")


def _validated(value: Any, schema: type[Reply], faults: list[str]) -> Reply | None:
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        faults.append("; ".join(_fault_line(item) for item in error.errors(include_url=False, include_input=False)[:8]))
        return None


def _fault_line(item: Any) -> str:
    place = ".".join(str(part) for part in item["loc"])
    return f"{place}: {item['msg']}" if place else str(item["msg"])


def _candidates(text: str, schema: type[BaseModel]) -> Iterator[Any]:
    """Yield JSON values that may be the reply: the whole text, fenced blocks, then objects within prose, last first."""
    for value in whole_values(text):
        if isinstance(value, dict):
            yield value
        elif isinstance(value, list):
            yield from _named_list(value, schema)
    yield from reversed(json_objects(text))


def _named_list(items: list[Any], schema: type[BaseModel]) -> Iterator[dict[str, Any]]:
    """Yield the reply a bare list stands for, if exactly one field takes it and no other could be meant."""
    fields = [name for name in schema.model_fields if _takes(schema, name, items)]
    if len(fields) == 1 and (items or len(schema.model_fields) == 1):
        yield {fields[0]: items}


def _takes(schema: type[BaseModel], name: str, items: list[Any]) -> bool:
    try:
        schema.model_validate({name: items})
    except ValidationError:
        return False
    return True
