"""What does a memory look like after two weeks of conversations? ``make demo`` shows it.

Each day's conversations go through auto_memory, its documents through auto_resource, and auto_dream runs over every
day; then questions are searched. The workspace stays: open it in any editor.
"""

import argparse
import shutil
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from material import Material, Question, read_examples, read_locomo

from reme_graphs import open_reme
from reme_graphs.embedding import ReMe

NO_MODEL = ", because no model is named: sentences of the source, word for word (REME_MODEL names one)"


@dataclass
class Totals:
    """What all runs of one workspace did and cost."""

    actions: Counter[str] = field(default_factory=Counter)
    units: int = 0
    model_calls: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, receipt: dict[str, Any]) -> None:
        """Count one run."""
        self.model_calls += receipt["usage"]["model_calls"]
        if not receipt["success"]:
            self.failures.append("; ".join(receipt["errors"]) or receipt["answer"])


def main() -> int:
    """Run the demo and return 0 if nothing failed."""
    options = _parse_arguments()
    materials = list(read_locomo(options.data, options.conversation)) if options.data else [read_examples()]
    if not materials:
        print(f"no conversation {options.conversation!r} in {options.data}", file=sys.stderr)
        return 2
    failures = 0
    for material in materials:
        folder = options.workspace / material.name if len(materials) > 1 else options.workspace
        _prepare(folder, keep=options.keep)
        failures += show(material, folder)
    return 1 if failures else 0


def show(material: Material, folder: Path) -> int:
    """Feed one workspace, print what happened, and return how many runs or units failed."""
    started = time.monotonic()
    totals = Totals()
    zone = "UTC" if material.name != "examples" else "Europe/Stockholm"
    with open_reme(folder, timezone=zone) as reme:
        print(f"\n{material.name}: {len(material.sessions)} conversations, {len(material.resources)} documents")
        print(f"engine: {reme.engine}{NO_MODEL if reme.engine == 'offline' else ''}")
        feed(reme, material, totals)
        print(f"\nWhat is in {folder} now")
        summarise(reme, totals, time.monotonic() - started)
        for question in material.questions:
            ask(reme, question)
    return len(totals.failures)


def feed(reme: ReMe, material: Material, totals: Totals) -> None:
    """Remember, read and dream day by day."""
    resources = {path: path.split("/")[1] for path in material.resources}
    for date in sorted({session.date for session in material.sessions} | set(resources.values())):
        print(f"\n{date}")
        for session in (session for session in material.sessions if session.date == date):
            inputs = {"messages": session.messages, "session_id": session.session_id, "date": date}
            remembered = reme.auto_memory.invoke(inputs)
            totals.add(remembered["receipt"])
            skipped = remembered["receipt"]["metadata"].get("skipped")
            outcome = f"nothing ({skipped})" if skipped else remembered["note_path"]
            print(f"  remember {len(session.messages)} messages → {outcome}")
        paths = [path for path, day in resources.items() if day == date]
        if paths:
            _read_resources(reme, material, paths, totals)
        dream(reme, date, totals)


def _read_resources(reme: ReMe, material: Material, paths: list[str], totals: Totals) -> None:
    for path in paths:
        target = reme.store.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(material.resources[path], target)
    read = reme.auto_resource.invoke({"changes": [{"path": path, "change": "added"} for path in paths]})
    totals.add(read["receipt"])
    for path, note in read["notes"].items():
        print(f"  read     {path} → {note}")


def dream(reme: ReMe, date: str, totals: Totals) -> None:
    """Dream over one day."""
    state = reme.auto_dream.invoke({"date": date})
    receipt = state["receipt"]
    totals.add(receipt)
    totals.failures += [f"unit {unit.get('name', unit['id'])}: {unit['error']}" for unit in state["failed_units"]]
    done = Counter(result["action"] for result in state["integrate_results"])
    totals.actions.update(done)
    waiting = receipt["metadata"].get("waiting", 0)
    late = f", {waiting} units wait for a later run" if waiting else ""
    print(f"  dream    {_counts(done) or 'nothing new'}, {state['topics_written']} topics{late}")


def summarise(reme: ReMe, totals: Totals, seconds: float) -> None:
    """Print the counts of the whole run."""
    daily = [path for path in reme.store.scan("daily") if path.count("/") > 1]
    digest = reme.store.scan("digest")
    links = reme.store.health_check().metadata["health"]["components"]["file_graph"]["n_edges"]
    buckets = Counter(path.split("/")[1] for path in digest)
    print(f"  notes         {len(daily)} in daily/, {len(digest)} in digest/ ({_counts(buckets)})")
    print(f"  digest nodes  {_counts(totals.actions) or 'none'}")
    print(f"  links         {links}")
    print(f"  model calls   {totals.model_calls}")
    print(f"  seconds       {seconds:.1f}")
    print(f"  failures      {len(totals.failures)}")
    for failure in totals.failures:
        print(f"    {failure}")


def ask(reme: ReMe, question: Question) -> None:
    """Print what search finds."""
    print(f"\n? {question.text}" + (f"   (known answer: {question.answer})" if question.answer else ""))
    for hit in reme.store.search(question.text, limit=3).metadata["results"]:
        print(f"  {hit['score']:.2f} {hit['path']}:{hit['start_line']}-{hit['end_line']}  {_shorten(hit['text'])}")


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))


def _shorten(text: str, width: int = 110) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def _prepare(folder: Path, *, keep: bool) -> None:
    """Begin with an empty workspace, but never delete a folder that is none."""
    if keep or not folder.exists():
        return
    if any(folder.iterdir()) and not list(folder.glob("**/reme_metadata")):
        raise SystemExit(f"{folder} is not a workspace: name another one with --workspace")
    shutil.rmtree(folder)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Feed conversations into a memory and ask it.")
    parser.add_argument("--data", type=Path, help="a LoCoMo file instead of the examples")
    parser.add_argument("--conversation", default="1", help="of the LoCoMo file: a number from 1, a sample_id, or all")
    parser.add_argument("--workspace", type=Path, default=Path("demo-workspace"))
    parser.add_argument("--keep", action="store_true", help="go on with the workspace of the last run")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
