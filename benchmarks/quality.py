"""How well does search find what answers a question? Measured on public data that is given by path.

    python benchmarks/quality.py [--locomo locomo10.json] [--passages dev.json] [--vectors local]

LoCoMo: every turn of a conversation (or every session) is a note, and a question is answered by the turns its
``evidence`` names. Passages: JSON in the form of SQuAD and CMRC (``data[].paragraphs[]`` with ``context`` and ``qas``);
every context is a note and the answer to its own questions. Nothing of the data is kept but numbers.

Ways: ``keyword``; ``links``, where each hit is followed by the notes it links to, within the same cut; and with
``--vectors`` also ``vectors`` alone and ``fused`` as the store does it. All is reported on the conversations of odd
number (passages: questions); ``--choose`` chooses parameters on those of even number first, which takes its time.
``--keep FOLDER`` keeps the vectors of notes for the next run.
"""

import argparse
import functools
import hashlib
import itertools
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from reme_graphs.context import Context
from reme_graphs.vectors import embeddings_of
from reme_store import retrieval
from reme_store.embedding import Embedding, model_name
from reme_store.index import bm25
from reme_store.index.keyword import KeywordView
from reme_store.models import FileState
from reme_store.note_index import NoteIndex

KINDS = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
CUT = 10
REPORT = Path(__file__).parent.parent / "docs" / "benchmarks" / "quality.md"


@dataclass(frozen=True)
class Question:
    """A question with the notes that answer it."""

    text: str
    kind: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Corpus:
    """Notes that are searched together, with questions about them."""

    notes: Mapping[str, str]
    questions: Sequence[Question]


@dataclass
class Tally:
    """Sums over questions."""

    count: int = 0
    at5: float = 0.0
    at10: float = 0.0
    reciprocal: float = 0.0

    def add(self, found: Sequence[str], evidence: frozenset[str]) -> None:
        """Take in one question."""
        self.count += 1
        self.at5 += len(evidence & set(found[:5])) / len(evidence)
        self.at10 += len(evidence & set(found[:CUT])) / len(evidence)
        self.reciprocal += next((1 / rank for rank, path in enumerate(found[:CUT], 1) if path in evidence), 0.0)

    @property
    def means(self) -> tuple[float, float, float]:
        """Recall at 5, at 10 and mean reciprocal rank."""
        return tuple(value / max(1, self.count) for value in (self.at5, self.at10, self.reciprocal))  # type: ignore[return-value]


Way = Callable[["Opened", str], list[str]]


@dataclass
class Opened:
    """An index of a corpus."""

    corpus: Corpus
    index: NoteIndex
    meaning: Embedding | None = None
    cache: dict[Any, Any] = field(default_factory=dict)


class Remembering:
    """An embedding model that is asked each question once."""

    def __init__(self, embedder: Any, model: str) -> None:
        self.model = model
        self.embed_documents = embedder.embed_documents
        self.embed_query = functools.cache(embedder.embed_query)


def note(text: str, *links: str) -> str:
    """Render a note; its links stand in the front matter, so that they add no words."""
    return "---\nnear: [" + ", ".join(f'"[[{link}]]"' for link in links) + f"]\n---\n{text}\n"


def turns_of(conversation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield id and text of each turn; a picture is its caption."""
    for number in range(1, 100):
        for turn in conversation.get(f"session_{number}", ()):
            caption = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            yield turn["dia_id"], f"{turn['speaker']}: {turn['text']}{caption}"


def turn_path(turn: str) -> str:
    """Return the note of a turn; ``D1:3`` is turn 3 of session 1."""
    return f"daily/{turn.replace(':', '-')}.md"


def session_path(turn: str) -> str:
    """Return the note of the session a turn belongs to."""
    return f"daily/{turn.split(':', maxsplit=1)[0]}.md"


def locomo(path: Path, sessions: bool) -> list[Corpus]:
    """Read the conversations, a note for each turn or session."""
    place = session_path if sessions else turn_path
    corpora = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        texts: dict[str, list[str]] = defaultdict(list)
        for turn, text in turns_of(sample["conversation"]):
            texts[place(turn)].append(text)
        names = list(texts)
        notes = {
            name: note("\n".join(texts[name]), *names[max(0, n - 1) : n], *names[n + 1 : n + 2])
            for n, name in enumerate(names)
        }
        questions = []
        for asked in sample["qa"]:
            named = re.findall(r"D\d+:\d+", " ".join(asked.get("evidence", ())))
            evidence = frozenset(map(place, named)) & notes.keys()
            if evidence:
                questions.append(Question(asked["question"], KINDS[asked["category"]], frozenset(evidence)))
        corpora.append(Corpus(notes, questions))
    return corpora


def passages(path: Path) -> list[Corpus]:
    """Read contexts as one corpus, twice: with the questions of even and of odd number."""
    notes: dict[str, str] = {}
    questions: list[Question] = []
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            name = f"digest/wiki/p{len(notes)}.md"
            notes[name] = paragraph["context"]
            questions += [Question(asked["question"], "passage", frozenset({name})) for asked in paragraph["qas"]]
    return [Corpus(notes, questions[0::2]), Corpus(notes, questions[1::2])]


def opened(corpus: Corpus, folder: Path, embedder: Remembering | None, keep: Path) -> Opened:
    """Index a corpus, with vectors where there is a model."""
    index = NoteIndex(folder)
    index.open()
    files = []
    for path, text in corpus.notes.items():
        data = text.encode()
        files.append((path, data, FileState(hashlib.sha256(data).hexdigest(), len(data), 1, 1, 1)))
    index.apply(files)
    if embedder is None:
        return Opened(corpus, index)
    meaning = Embedding(keep, index, embedder, embedder.model)
    meaning.start()
    if not meaning.wait():
        raise SystemExit(f"the embedding model failed: {meaning.problems}")
    return Opened(corpus, index, meaning)


def hits(target: Opened, query: str, **arguments: Any) -> list[str]:
    """Search as the store does and return paths, best first."""
    answer = retrieval.search(target.index, query, CUT, expand_links=False, **arguments)
    return [path for hit in answer.metadata["results"] for path in hit["paths"]]


def keyword(target: Opened, query: str, k1: float = bm25.K1, b: float = bm25.B) -> list[str]:
    """Search by words."""
    view = target.index.view()
    if target.cache.get("k") != (k1, b):
        parts = [(part.segment.postings, part.live_docs()) for part in view.parts]
        view.__dict__["keyword"] = KeywordView(parts, k1=k1, b=b)
        target.cache["k"] = (k1, b)
    return hits(target, query)


def links(target: Opened, query: str) -> list[str]:
    """Search by words; each hit is followed by its neighbours."""
    view = target.index.view()
    found = keyword(target, query)
    near = [[path, *(link.target_path for link in view.outlinks(path))] for path in found]
    return list(dict.fromkeys(itertools.chain(*near)))


def vectors(target: Opened, query: str) -> list[str]:
    """Search by meaning alone."""
    return hits(target, query, meaning=target.meaning, vector_weight=1.0)


def fused(
    target: Opened, query: str, fusion: str = "convex", share: float | None = None, pool: float = 3.0
) -> list[str]:
    """Search by both."""
    mixing = {"fusion": fusion, "vector_weight": share, "candidate_multiplier": pool}
    return hits(target, query, meaning=target.meaning, **mixing)


def measure(targets: Sequence[Opened], way: Way) -> dict[str, Tally]:
    """Ask every question."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for target in targets:
        for question in target.corpus.questions:
            found = way(target, question.text)
            for name in ("all", question.kind):
                tallies[name].add(found, question.evidence)
    return tallies


def chosen(targets: Sequence[Opened], ways: Mapping[str, Way]) -> str:
    """Return the name of the way with the best recall at 10 and reciprocal rank together."""
    scores = {}
    for name, way in ways.items():
        _, at10, reciprocal = measure(targets, way)["all"].means
        scores[name] = at10 + reciprocal
    return max(scores, key=lambda name: scores[name])


def ways_of(target: Opened) -> tuple[dict[str, Way], list[dict[str, Way]]]:
    """Return the ways to report, and the grids from which one each is chosen."""
    ways: dict[str, Way] = {"keyword": keyword, "links": links}
    grids: list[dict[str, Way]] = [
        {
            f"keyword, k1 {k1} b {b}": partial(keyword, k1=k1, b=b)
            for k1, b in itertools.product((0.9, 1.2, 1.5), (0.4, 0.6, 0.75))
        }
    ]
    if target.meaning is not None:
        ways |= {"vectors": vectors, "fused (convex .5)": fused, "fused (rrf .7)": partial(fused, fusion="rrf")}
        grids.append(
            {
                f"fused, {fusion} {share} × {pool}": partial(fused, fusion=fusion, share=share, pool=pool)
                for fusion, share, pool in itertools.product(("convex", "rrf"), (0.3, 0.4, 0.5, 0.6, 0.7), (3.0, 10.0))
            }
        )
    return ways, grids


def table(title: str, targets: Sequence[Opened], choose: bool) -> str:
    """Measure one set of data and render it."""
    choosing, reporting = targets[0::2], targets[1::2]
    ways, grids = ways_of(targets[0])
    for grid in grids if choose else ():
        name = chosen(choosing, grid)
        ways[f"chosen: {name}"] = grid[name]
    kinds = [kind for kind in KINDS.values() if any(q.kind == kind for t in reporting for q in t.corpus.questions)]
    head = ["", "R@5", "R@10", "MRR", *(f"R@10 {kind}" for kind in kinds)]
    rows = [head, ["---"] * len(head)]
    for name, way in ways.items():
        tallies = measure(reporting, way)
        rows.append([name, *map(number, tallies["all"].means), *(number(tallies[kind].means[1]) for kind in kinds)])
    count = sum(len(target.corpus.questions) for target in reporting)
    notes = sum(len(target.corpus.notes) for target in reporting)
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([f"### {title}: {count} questions, {notes} notes", "", *lines])


def number(value: float) -> str:
    """Render a share."""
    return f"{value:.3f}"


def embedder_of(name: str) -> Remembering | None:
    """Return the embedding model to measure with; None without a name."""
    if not name:
        return None
    embedder, model = embeddings_of(Context(embeddings=name))
    return None if embedder is None else Remembering(embedder, model or model_name(embedder))


def report(args: argparse.Namespace, folder: Path) -> str:
    """Measure all that was given."""
    embedder = embedder_of(args.vectors)
    sets: list[tuple[str, list[Corpus]]] = []
    if args.locomo:
        sets += [("LoCoMo turns", locomo(args.locomo, False)), ("LoCoMo sessions", locomo(args.locomo, True))]
    if args.passages:
        sets.append(("Passages", passages(args.passages)))
    tables = []
    for title, corpora in sets:
        if args.only and args.only not in title:
            continue
        targets = []
        for n, corpus in enumerate(corpora):
            place = folder / f"{title}-{n}"
            targets.append(opened(corpus, place, embedder, (args.keep or folder) / f"{title}-{n}".replace(" ", "-")))
        tables.append(table(title, targets, args.choose))
        for target in targets:
            if target.meaning is not None:
                target.meaning.stop()
            target.index.close()
    return "\n\n".join(tables)


def placed(text: str, part: str, tables: str) -> str:
    """Return the report with other tables between the marks of a part."""
    begin, end = f"<!-- {part} -->", f"<!-- /{part} -->"
    return text[: text.index(begin)] + f"{begin}\n\n{tables}\n\n" + text[text.index(end) :]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="locomo10.json")
    parser.add_argument("--passages", type=Path, help="JSON in the form of SQuAD or CMRC")
    parser.add_argument("--vectors", default="", help="embedding model as in REME_EMBEDDINGS, such as local")
    parser.add_argument("--only", default="", help="measure only the sets whose title holds this")
    parser.add_argument("--keep", type=Path, help="folder in which vectors stay for the next run")
    parser.add_argument("--choose", action="store_true", help="choose parameters on the other half as well")
    parser.add_argument("--write", choices=("words", "vectors"), help=f"put the tables into that part of {REPORT.name}")
    args = parser.parse_args()
    if not (args.locomo or args.passages):
        parser.error("give --locomo or --passages")
    with tempfile.TemporaryDirectory() as folder:
        tables = report(args, Path(folder))
    print(tables)
    if args.write:
        REPORT.write_text(placed(REPORT.read_text(encoding="utf-8"), args.write, tables), encoding="utf-8")


if __name__ == "__main__":
    main()
