"""Where does the configuration of a run come from, and which part of it wins?"""

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from reme_graphs.context import Context, read_context
from reme_graphs.resources import chat_model, engine_name, limits
from reme_store.errors import InvalidRequestError
from tests.support.scripted_model import ScriptedModel


def test_the_run_wins_over_the_environment_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("REME_MODEL=from-file\nREME_LANGUAGE=German\nREME_MAX_MODEL_CALLS=7\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REME_MODEL", "from-environment")
    assert read_context(None).model == "from-environment"
    assert read_context(None).language == "German"
    assert read_context(None).max_model_calls == 7
    assert read_context(Context(model="from-run", max_model_calls=3)).model == "from-run"
    assert read_context({"max_model_calls": 3}).max_model_calls == 3


def test_a_key_alone_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    context = read_context(None)
    assert chat_model(context) is None and engine_name(context) == "offline"


def test_a_model_object_is_taken_as_it_is() -> None:
    model = ScriptedModel(answers=[])
    context = read_context({"model": model})
    assert chat_model(context) is model and engine_name(context) == "scripted"


def test_a_model_object_without_a_name_is_called_by_its_kind() -> None:
    assert engine_name(Context(model=FakeListChatModel(responses=["x"]))) == "fake-list-chat-model"


def test_an_openai_model_is_made_without_sampling_parameters_and_without_retries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    model = chat_model(Context(model="openai:gpt-x", call_timeout=7))
    assert model is not None
    assert {"model_name": "gpt-x", "max_retries": 0, "request_timeout": 7.0, "temperature": None}.items() <= dict(
        model
    ).items()
    assert model is chat_model(Context(model="gpt-x", call_timeout=7))


@pytest.mark.parametrize("values", [{"timezone": "Mars/Base"}])
def test_an_unknown_zone_is_refused_with_an_example(values: dict[str, str]) -> None:
    with pytest.raises(InvalidRequestError, match="Europe/Lisbon"):
        read_context(values).today()


def test_a_value_of_the_environment_that_cannot_be_used_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REME_MAX_INPUT_CHARS", "many")
    with pytest.raises(InvalidRequestError, match="max_input_chars"):
        read_context(None)


def test_no_workspace_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="REME_WORKSPACE"):
        _ = read_context(None).folder


def test_the_parallel_tasks_of_a_run_share_one_gate() -> None:
    given = Context()
    assert limits(read_context(given)).gate is limits(read_context(given)).gate is given.gate
    assert limits(read_context(Context())).gate is not given.gate


def test_the_form_describes_every_field_in_plain_types() -> None:
    schema = Context.model_json_schema()
    fields = schema["properties"]
    assert all(field.get("description") for field in fields.values())
    assert fields["model"]["type"] == fields["embeddings"]["type"] == "string"
    assert "$defs" not in json.dumps(schema)


def test_the_machines_zone_knows_its_summer_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        zone = Context(workspace="x").zone
        for moment in (datetime(2026, 7, 2, 4, 30, tzinfo=UTC), datetime(2026, 1, 2, 4, 30, tzinfo=UTC)):
            here = moment.astimezone(ZoneInfo("America/New_York"))
            assert moment.astimezone(zone).replace(tzinfo=None) == here.replace(tzinfo=None)
            assert here.replace(tzinfo=zone).astimezone(UTC) == moment
        twice = datetime(2026, 11, 1, 6, 30, tzinfo=UTC)
        assert twice.astimezone(zone).astimezone(UTC) == twice
    finally:
        monkeypatch.undo()
        time.tzset()
