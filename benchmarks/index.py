"""How fast is the index, and how much does it take? Prints one table for a folder of Markdown notes.

    python benchmarks/index.py VAULT [--queries FILE]

``FILE`` is JSON with ``{"queries": [{"q": text}]}``; without it, words of the notes themselves are asked for. Times
of building are CPU seconds of this process; all others are wall time, so compare only rows of one run.
"""

import argparse
import gc
import hashlib
import json
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from reme_store import retrieval
from reme_store.models import FileState
from reme_store.note_index import NoteIndex

File = tuple[str, bytes, FileState]


def read(root: Path, path: Path) -> File:
    """Read one note with its state."""
    data, stat = path.read_bytes(), path.stat()
    state = FileState(hashlib.sha256(data).hexdigest(), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    return path.relative_to(root).as_posix(), data, state


def notes(root: Path) -> Iterator[File]:
    """Yield every note of a vault."""
    for path in sorted(root.rglob("*.md")):
        yield read(root, path)


def timed(calls: list[Callable[[], object]], rounds: int = 1) -> list[float]:
    """Return the milliseconds of each call; of several rounds the best, which other programs disturb least."""
    found = []
    for call in calls:
        taken = []
        for _ in range(rounds):
            began = time.perf_counter()
            call()
            taken.append((time.perf_counter() - began) * 1e3)
        found.append(min(taken))
    return found


def spread(times: list[float]) -> str:
    """Render median and 99th percentile."""
    ordered = sorted(times)
    return f"p50 {statistics.median(ordered):.3f} ms, p99 {ordered[int(len(ordered) * 0.99)]:.3f} ms"


def questions(args: argparse.Namespace, root: Path) -> list[str]:
    """Return the queries to ask."""
    if args.queries:
        return [entry["q"] for entry in json.loads(Path(args.queries).read_text(encoding="utf-8"))["queries"]]
    rng = random.Random(7)
    chosen = rng.sample(sorted(root.rglob("*.md")), 200)
    return [" ".join(rng.sample(re.findall(r"\w{2,}", path.read_text("utf-8")) or ["note"], 1)) for path in chosen]


def cold_open(meta: Path, query: str) -> float:
    """Return the milliseconds a fresh process needs from opening to its first answer, imports left out."""
    script = (
        "import sys, time\nfrom pathlib import Path\n"
        "from reme_store.note_index import NoteIndex\nfrom reme_store import retrieval\n"
        "began = time.perf_counter()\nindex = NoteIndex(Path(sys.argv[1]))\nindex.open()\n"
        "retrieval.search(index, sys.argv[2])\nprint((time.perf_counter() - began) * 1e3)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(meta), query], capture_output=True, text=True, check=True)
    return float(done.stdout)


def build(root: Path, meta: Path) -> NoteIndex:
    """Index a vault and print what that took."""
    index = NoteIndex(meta)
    index.open()
    began, wall = time.process_time(), time.perf_counter()
    index.apply(notes(root))
    cpu, wall = time.process_time() - began, time.perf_counter() - wall
    counts = index.counts()
    print(f"build              {counts['n_files'] / cpu:.0f} files per CPU second ({wall:.1f} s wall)")
    print(f"                   peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB resident")
    print(f"holds              {counts}")
    return index


def main() -> None:
    """Run every measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--queries", default="")
    args = parser.parse_args()
    root: Path = args.vault
    with tempfile.TemporaryDirectory() as scratch:
        meta = Path(scratch)
        index = build(root, meta)
        index.close()
        size = sum(path.stat().st_size for path in meta.rglob("*") if path.is_file())
        text = sum(path.stat().st_size for path in root.rglob("*.md"))
        print(f"disk               {size / 1e6:.1f} MB for {text / 1e6:.1f} MB of notes")
        asked = questions(args, root)
        print(f"cold open          {statistics.median(cold_open(meta, asked[0]) for _ in range(5)):.1f} ms")
        index = NoteIndex(meta)
        index.open()
        measure(index, asked, root)


def measure(index: NoteIndex, asked: list[str], root: Path) -> None:
    """Print times of searching and editing an open index."""
    plain = [lambda q=q: retrieval.search(index, q, expand_links=False) for q in asked]
    full = [lambda q=q: retrieval.search(index, q) for q in asked]
    print(f"search, first      {spread(timed(plain))}")
    print(f"search, best of 8  {spread(timed(plain, 8))}")
    print(f"  with links       {spread(timed(full, 8))}")
    print(f"node_search        {spread(timed([lambda q=q: retrieval.node_search(index, q) for q in asked]))}")
    gc.collect()
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("RssAnon"))
        print(f"resident           {int(line.split()[1]) / 1024:.0f} MB of its own after {3 * len(asked)} searches")
    sample = [read(root, path) for path in random.Random(3).sample(sorted(root.rglob("*.md")), 50)]
    edits = [(path, data + b"\nedited\n", state) for path, data, state in sample]
    print(f"durable edit       {spread(timed([lambda e=e: index.apply([e]) for e in edits]))}")
    after = [
        lambda e=e, q=q: (index.apply([e]), retrieval.search(index, q)) for e, q in zip(sample, asked, strict=False)
    ]
    print(f"edit, then search  {spread(timed(after))}")
    print(f"delete             {spread(timed([lambda e=e: index.apply([], [e[0]]) for e in sample]))}")
    print(f"known files        {timed([lambda: dict(index.known())])[0]:.1f} ms")


if __name__ == "__main__":
    main()
