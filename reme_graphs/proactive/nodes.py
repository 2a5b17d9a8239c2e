"""What are the topics of a day? Read, never decided: hosts decide and push."""

from typing import Any

from langgraph.runtime import Runtime

from reme_graphs.context import Context, read_context
from reme_graphs.proactive.state import ProactiveState
from reme_graphs.receipts import receipt
from reme_graphs.resources import engine_name, open_workspace
from reme_store import daily
from reme_store.errors import InvalidRequestError


def read_topics(state: ProactiveState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Read the day's topics; a file that cannot be read is said in the receipt."""
    engine = ""
    try:
        context = read_context(runtime.context)
        engine = engine_name(context)
        day = daily.parse_day(state["date"]).isoformat() if state.get("date") else context.today()
        with open_workspace(context) as store:
            found = daily.proactive(store, day, bool(state.get("include_content", True)))
    except InvalidRequestError as error:
        text = str(error)
        said = receipt(success=False, answer=text, engine=engine, errors=[text])
        return {"topics": [], "content": None, "skipped": False, "receipt": said}
    kept = {key: found.metadata[key] for key in ("topics", "content", "skipped")}
    metadata = {"date": day, "skipped": found.metadata["skipped"]}
    return {**kept, "receipt": receipt(success=True, answer=found.answer, metadata=metadata, engine=engine)}
