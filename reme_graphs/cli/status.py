"""How is the memory: where, served by whom, how large, and what waits?"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from reme_graphs.cli.doors import Settings, found_service, opened_reme
from reme_graphs.client import ServiceClient
from reme_graphs.service import Service


def status(settings: Settings) -> dict[str, Any]:
    """Tell it; a server elsewhere tells what it can."""
    service = found_service(settings).service
    if service is not None and not settings.wanted.folder:
        if not (service.workspace and Path(service.workspace).is_dir()):
            return _of_server(service)
        settings = replace(settings, workspace=service.workspace)
    return _of_workspace(settings, service)


def _of_workspace(settings: Settings, service: Service | None) -> dict[str, Any]:
    with opened_reme(settings) as reme:
        health = reme.call("health_check", {})["metadata"]["health"]
        about = {"workspace": str(reme.store.root), "server": service.url if service else "", "engine": reme.engine}
        waits = [f"{name} {inputs.get('session_id') or inputs.get('date') or ''}" for name, inputs in reme.waiting()]
        runs = [f"{run.thread} ({'asks' if run.interrupts else 'was killed'})" for run in reme.unfinished()]
    return _told({**about, **_health(health), "waiting": waits, "unfinished_runs": runs})


def _of_server(service: Service) -> dict[str, Any]:
    with ServiceClient(service) as client:
        health = client.call("health_check", {})["metadata"]["health"]
    return _told({"workspace": service.workspace, "server": service.url, "engine": service.engine, **_health(health)})


def _health(health: Mapping[str, Any]) -> dict[str, Any]:
    parts = health["components"]
    return {
        "version": health["version"],
        "healthy": health["healthy"],
        "files": parts["file_store"]["n_files"],
        "links": parts["file_graph"]["n_edges"],
        "words": parts["keyword_index"]["vocab_size"],
        "embedding_model": parts["embedding_model"],
        "problems": len(health["problems"]),
        "jobs": health["jobs"],
    }


def _told(metadata: dict[str, Any]) -> dict[str, Any]:
    lines = [f"{key}: {_plain(value)}" for key, value in metadata.items()]
    return {"success": True, "answer": "\n".join(lines), "metadata": metadata}


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    if isinstance(value, dict):
        return "; ".join(f"{key}: {each}" for key, each in value.items()) or "none"
    return "none" if value in ("", None) else str(value)
