"""Does offline mode remember two weeks in two languages, from talk to digest, by sentences of the source only?"""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from reme_graphs.auto_dream.graph import graph as auto_dream
from reme_graphs.auto_memory.graph import graph as auto_memory
from reme_graphs.auto_resource.graph import graph as auto_resource
from tests.graphs.offline.conftest import squeezed, stated

TALKS = {
    ("2026-03-02", "hello"): [
        "Hi! I run product at Fernlight, we make climate controllers.",
        "I like the weekly status as a bullet list, at most eight bullets.",
        "Thanks!",
    ],
    ("2026-03-03", "release"): [
        "固件发布流程第一步：在 CI 上构建并签名，版本号写进 CHANGELOG。",
        "固件发布流程第二步：先升级两台金丝雀网关，观察 30 分钟。",
        "固件发布流程第三步：没有告警，就一次性推送到所有网关。",
    ],
    ("2026-03-04", "database"): [
        "We decided to use TimescaleDB for telemetry, because the joins stay plain SQL.",
        "What do you think?",
    ],
    ("2026-03-09", "status"): [
        "I changed my mind about the weekly status: no bullet list any more.",
        "From now on I prefer one short paragraph of at most 100 words.",
    ],
    ("2026-03-10", "corrected"): [
        "更正固件发布流程第二步：金丝雀网关必须观察 24 小时，不再是 30 分钟。",
    ],
    ("2026-03-11", "retention"): [
        "We decided that TimescaleDB keeps raw telemetry for 90 days, because growers never compare single seconds.",
    ],
}
RUNBOOK = (
    "# Restore the telemetry\n\n## How to restore\n\n1. Stop the ingest service.\n2. Run `pg_restore` on the replica.\n"
)


def remember(ws: Path) -> list[dict[str, Any]]:
    context = {"workspace": str(ws), "timezone": "UTC"}
    ran = []
    for (day, session), lines in TALKS.items():
        messages = [{"role": "user", "content": line} for line in lines]
        ran.append(auto_memory.invoke({"messages": messages, "session_id": session, "date": day}, context=context))
    ran.append(auto_resource.invoke({}, context=context))
    ran += [auto_dream.invoke({"date": day}, context=context) for day in sorted({day for day, _ in TALKS})]
    return ran


def notes(ws: Path) -> dict[str, str]:
    found = (path for layer in ("daily", "digest") for path in (ws / layer).rglob("*") if path.is_file())
    return {path.relative_to(ws).as_posix(): path.read_text() for path in found}


def test_two_weeks_become_a_memory_that_keeps_up_and_changes_only_with_news(tmp_path: Path) -> None:
    ws = tmp_path / "ws"
    (ws / "resource/2026-03-10").mkdir(parents=True)
    (ws / "resource/2026-03-10/restore.md").write_text(RUNBOOK)
    ran = remember(ws)
    assert [row["receipt"]["errors"] for row in ran if not row["receipt"]["success"]] == []
    assert {row["receipt"]["engine"] for row in ran} == {"offline"}
    assert sum(row["receipt"]["usage"]["model_calls"] for row in ran) == 0
    digest = {path: text for path, text in notes(ws).items() if path.startswith("digest/")}

    [status] = [text for text in digest.values() if "bullet list, at most eight" in text]
    standing, superseded = status.split("## Superseded 2026-03-09\n")
    assert "short paragraph" in standing and "at most eight" in superseded
    [release] = [text for path, text in digest.items() if "固件发布流程" in path]
    standing, superseded = release.split("## Superseded 2026-03-10\n")
    assert "24 小时" in standing and "第一步" in standing and "第三步" in standing
    assert "- 固件发布流程第二步：先升级两台金丝雀网关，观察 30 分钟。" in superseded
    [database] = [text for path, text in digest.items() if path.startswith("digest/wiki/") and "timescaledb" in path]
    assert database.count("derived_from:: ") == 2
    [restore] = [text for path, text in digest.items() if path == "digest/procedure/how-to-restore.md"]
    assert "1. Stop the ingest service.\n2. Run `pg_restore` on the replica." in restore

    source = squeezed("\n".join(line for lines in TALKS.values() for line in lines) + RUNBOOK)
    for path, text in notes(ws).items():
        if path.count("/") == 2 and path.endswith(".md"):
            lines = stated(text)
            assert [line for line in lines if squeezed(line) not in source] == [], path
            assert max(Counter(lines).values()) == 1, path
            sources = re.findall(r"derived_from:: \[\[(.*?)\]\]", text)
            assert len(sources) == len(set(sources))

    before = notes(ws)
    assert all(row["receipt"]["success"] for row in remember(ws))
    assert notes(ws) == before
