"""Given a question, which pieces of the memory answer it? Given a note, which others are near?

All functions ask one view of the index, so that an answer never mixes two states.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from reme_store.answers import render_hits, render_node_rows, render_walk
from reme_store.errors import InvalidRequestError, NoteNotFoundError
from reme_store.fusion import Fusion, fuse
from reme_store.index.notes import INDEX
from reme_store.index.view import IndexView
from reme_store.models import Answer, Direction, FileChunk, FileLink
from reme_store.note_index import NoteIndex
from reme_store.ranking import Candidate, Group, rank_chunks, rank_notes
from reme_store.search_filter import SearchFilter, parse_filter
from reme_store.similar import Asked, Meaning, cosines_of, rank_similar

MAX_LIMIT = 200
MAX_DEPTH = 10
MAX_WALK_NODES = 10_000
MAX_QUERY_CHARS = 100_000
_MAX_TERMS = 1_024


@dataclass(frozen=True, slots=True)
class NodeHit:
    """One note of the digest that fits a query."""

    path: str
    score: float
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class WalkNode:
    """A note, or a target without one, that a walk met; ``depth`` 0 is where it began."""

    path: str
    depth: int
    exists: bool
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Walk:
    """What a breadth-first walk along the links met."""

    nodes: tuple[WalkNode, ...]
    edges: tuple[FileLink, ...]
    truncated: bool = False


def search(
    index: NoteIndex,
    query: str,
    limit: int = 5,
    *,
    min_score: float = 0.0,
    search_filter: Mapping[str, Any] | None = None,
    fusion: str = "convex",
    vector_weight: float | None = None,
    candidate_multiplier: float = 3.0,
    expand_links: bool = True,
    max_links_per_direction: int = 10,
    meaning: Meaning | None = None,
) -> Answer:
    """Find the chunks that fit a query best, with the neighbours of their notes.

    Raises:
        InvalidRequestError: an argument is out of its bounds.
    """
    _check_query(query)
    _check_count("limit", limit, 1, MAX_LIMIT)
    _check_count("max_links_per_direction", max_links_per_direction, 0, 1_000)
    _check_fusion(fusion, vector_weight, candidate_multiplier, min_score)
    wanted = parse_filter(search_filter)
    asked = meaning.ask(query) if meaning is not None else None
    view = index.view()
    finding = _Finding(index, view, query, wanted)
    if asked is None:
        hits, counts = finding.by_words(limit, min_score)
    else:
        pool = max(limit, min(MAX_LIMIT, int(limit * candidate_multiplier)))
        method = cast("Fusion", fusion)
        ranked, counts = finding.by_both(asked, pool, method, vector_weight)
        hits = [hit for hit in ranked if hit["score"] >= min_score][:limit]
        counts["returned"] = len(hits)
    expansion = {hit["path"]: _neighbours(view, hit["path"], max_links_per_direction) for hit in hits if expand_links}
    answer = render_hits(hits, expansion) if hits else f"No note fits {query[:200]!r}."
    links = {path: {side: sides[side] for side in ("outlinks", "inlinks")} for path, sides in expansion.items()}
    metadata: dict[str, Any] = {"results": hits, "link_expansion": links, "counts": counts}
    if meaning is not None and meaning.fault:
        metadata["vector_fault"] = meaning.fault
    return Answer(answer, metadata)


def node_search(index: NoteIndex, query: str, limit: int = 20) -> Answer:
    """Find the digest notes that fit a query best, one row a note.

    Raises:
        InvalidRequestError: the query is empty or the limit out of its bounds.
    """
    rows = [
        {"path": hit.path, "score": hit.score, "name": hit.name, "description": hit.description}
        for hit in node_hits(index, query, limit)
    ]
    answer = render_node_rows(rows) if rows else f"No digest note fits {query[:200]!r}."
    return Answer(answer, {"results": rows})


def traverse(
    index: NoteIndex,
    path: str | Sequence[str],
    depth: int = 1,
    direction: str = "both",
    predicate: str = "",
) -> Answer:
    """Follow links from one or several notes.

    Raises:
        InvalidRequestError: a path is unknown, or an argument out of its bounds.
    """
    met = walk(index, [path] if isinstance(path, str) else list(path), depth, direction, predicate)
    nodes = [
        {"path": n.path, "depth": n.depth, "exists": n.exists, "name": n.name, "description": n.description}
        for n in met.nodes
    ]
    edges = [
        {
            "source_path": edge.source_path,
            "target_path": edge.target_path,
            "target_anchor": edge.target_anchor,
            "predicate": edge.predicate,
        }
        for edge in met.edges
    ]
    answer = render_walk(nodes, edges, truncated=met.truncated)
    return Answer(answer, {"nodes": nodes, "edges": edges, "truncated": met.truncated})


def node_hits(index: NoteIndex, query: str, limit: int = 20) -> list[NodeHit]:
    """Return the digest notes that fit a query best; empty when no word of it occurs.

    Raises:
        InvalidRequestError: the query is empty or the limit out of its bounds.
    """
    _check_query(query)
    _check_count("limit", limit, 1, MAX_LIMIT)
    view = index.view()
    ranked = rank_notes(view, _weights(index, query), "digest", limit)
    return [NodeHit(item.path, item.score, *view.label(item.path)) for item in ranked]


def walk(index: NoteIndex, paths: Iterable[str], depth: int = 1, direction: str = "both", predicate: str = "") -> Walk:
    """Walk breadth-first along the links, each note once; stop at the depth or at 10,000 notes.

    Raises:
        InvalidRequestError: a path is unknown, or an argument out of its bounds.
    """
    starts = list(dict.fromkeys(paths))
    if not starts:
        raise InvalidRequestError("No path to start from; name at least one note.")
    _check_count("depth", depth, 0, MAX_DEPTH)
    if direction not in get_args(Direction):
        raise InvalidRequestError(f"direction must be both, forward or backward, not {direction!r}.")
    view = index.view()
    return _Walking(view, cast("Direction", direction), predicate).from_(
        [_known_target(view, path) for path in starts], depth
    )


class _Finding:
    """One search over one view."""

    def __init__(self, index: NoteIndex, view: IndexView, query: str, wanted: SearchFilter) -> None:
        self._index, self._view, self._query, self._wanted = index, view, query, wanted

    def by_words(self, limit: int, min_score: float) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Rank by the keyword index alone."""
        groups = self._ranked(limit, min_score)
        hits = [self._hit(group, group.best.score, {"keyword": group.best.score, "vector": None}) for group in groups]
        return hits, {"vector": 0, "keyword": len(groups), "returned": len(hits), "hybrid": False}

    def by_both(
        self, asked: Asked, pool: int, fusion: Fusion, share: float | None
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Rank by words while the question gets its vector, then by meaning; return every candidate, best first."""
        by_words = {_key(group): group for group in self._ranked(pool, 0.0)}
        near = asked()
        by_meaning = (
            {_key(group): group for group in rank_similar(self._view, near, self._wanted, pool)} if near else {}
        )
        keyword = {key: group.best.score for key, group in by_words.items()}
        vector = {key: group.best.score for key, group in by_meaning.items()}
        self._give_titles(by_words, by_meaning, keyword)
        counts = {"vector": len(vector), "keyword": len(keyword), "returned": 0, "hybrid": bool(keyword and vector)}
        if near is not None and fusion == "convex":  # what is found by words has its own cosine, not none
            vector |= {f"{key:016x}": cosine for key, cosine in cosines_of(near, [int(k, 16) for k in keyword]).items()}
        groups = {key: _united(by_words.get(key), by_meaning.get(key)) for key in {**keyword, **vector}}
        merged = fuse(keyword, vector, fusion, share)
        hits = [
            self._hit(groups[key], merged[key], {"keyword": keyword.get(key), "vector": vector.get(key)})
            for key in sorted(merged, key=lambda key: (-merged[key], groups[key].best.path, key))
        ]
        return hits, counts

    def _give_titles(
        self, by_words: Mapping[str, Group], by_meaning: Mapping[str, Group], keyword: dict[str, float]
    ) -> None:
        """Give what the title of a note is worth to its content where that is found by meaning."""
        content: dict[str, str] = {}
        for key, group in by_meaning.items():
            content.setdefault(group.best.path, key)
        for key, group in by_words.items():
            notes = self._view.parts[group.best.part].segment.notes
            if notes.columns["kind"][group.best.doc] == INDEX and group.best.path in content:
                target = content[group.best.path]
                keyword[target] = max(keyword.get(target, 0.0), keyword.pop(key))

    def _hit(self, group: Group, score: float, scores: Mapping[str, float | None]) -> dict[str, Any]:
        chunk = self._chunk(group.best)
        name, description = self._view.label(chunk.path)
        return {
            "path": chunk.path,
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
            "score": score,
            "scores": dict(scores),
            "text": chunk.text,
            "name": name,
            "description": description,
            "count": len(group.paths),
            "paths": list(group.paths),
        }

    def _ranked(self, limit: int, min_score: float) -> list[Group]:
        return rank_chunks(self._view, _weights(self._index, self._query), self._wanted, limit, min_score)

    def _chunk(self, candidate: Candidate) -> FileChunk:
        part = self._view.parts[candidate.part]
        record = self._index.record_of(self._view, part, candidate.note)
        return record.chunks[candidate.doc - int(part.segment.notes.first_doc[candidate.note])]


def _key(group: Group) -> str:
    """Name the text of a group."""
    return f"{group.best.text_hash:016x}"


def _united(one: Group | None, other: Group | None) -> Group:
    """Return the group of a text that was found by words, by meaning or by both."""
    if one is None or other is None:
        found = one or other
        assert found is not None  # noqa: S101 - a key comes from one of them
        return found
    return other if len(other.paths) > len(one.paths) else one


def _weights(index: NoteIndex, query: str) -> dict[str, float]:
    """Return the terms of a query with their weights; of a very long one the first of them."""
    weights = index.tokenizer.query_weights(query)
    return dict(list(weights.items())[:_MAX_TERMS])


def _neighbours(view: IndexView, path: str, most: int) -> dict[str, Any]:
    inlinks, n_inlinks = view.first_inlinks(path, most)
    return {
        "outlinks": [_neighbour(view, link.target_path, link) for link in view.outlinks(path, most)],
        "inlinks": [_neighbour(view, link.source_path, link) for link in inlinks],
        "n_outlinks": view.out_count(path),
        "n_inlinks": n_inlinks,
    }


def _neighbour(view: IndexView, path: str, link: FileLink) -> dict[str, Any]:
    name, description = view.label(path)
    return {
        "path": path,
        "name": name,
        "description": description,
        "predicate": link.predicate,
        "anchor": link.target_anchor,
        "exists": view.exists(path),
    }


class _Walking:
    """A breadth-first walk under way."""

    def __init__(self, view: IndexView, direction: Direction, predicate: str) -> None:
        self._view, self._direction, self._predicate = view, direction, predicate
        self._depths: dict[str, int] = {}
        self._edges: dict[FileLink, None] = {}
        self._truncated = False

    def from_(self, starts: Sequence[str], depth: int) -> Walk:
        """Walk from these targets and return what was met, in the order it was met."""
        self._depths = dict.fromkeys(starts, 0)
        frontier = list(starts)
        for level in range(1, depth + 1):
            frontier = [path for near in frontier for path in self._step(near, level)]
        nodes = tuple(
            WalkNode(path, met, self._view.exists(path), *self._view.label(path)) for path, met in self._depths.items()
        )
        return Walk(nodes, tuple(self._edges), self._truncated)

    def _step(self, path: str, level: int) -> list[str]:
        """Take the links of one note; return the notes met for the first time."""
        fresh: list[str] = []
        for link, other in self._links(path):
            if self._predicate and link.predicate != self._predicate:
                continue
            if other not in self._depths:
                if len(self._depths) >= MAX_WALK_NODES:
                    self._truncated = True
                    continue
                self._depths[other] = level
                fresh.append(other)
            self._edges[link] = None
        return fresh

    def _links(self, path: str) -> Iterable[tuple[FileLink, str]]:
        if self._direction != "backward":
            yield from ((link, link.target_path) for link in self._view.outlinks(path))
        if self._direction != "forward":
            yield from ((link, link.source_path) for link in self._view.inlinks(path))


def _known_target(view: IndexView, path: str) -> str:
    """Return a path that is a note or is linked to; one without a suffix may mean ``.md``."""
    for candidate in (path, f"{path}.md"):
        if view.find(candidate) is not None or view.inlinks(candidate):
            return candidate
    known = [part.segment.notes.paths[note] for part, note in view.places()]
    near = difflib.get_close_matches(path, known[:20_000], n=3)
    hint = f" Did you mean {', '.join(near)}?" if near else " Use search or list to find it."
    raise NoteNotFoundError(f"There is no note {path!r} and nothing links to it.{hint}", path=path)


def _check_query(query: str) -> None:
    if not query.strip():
        raise InvalidRequestError("The query is empty; write the words to look for.")
    if len(query) > MAX_QUERY_CHARS:
        raise InvalidRequestError(f"The query has {len(query)} characters; at most {MAX_QUERY_CHARS} are read.")


def _check_count(name: str, value: object, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidRequestError(f"{name} must be a whole number from {least} to {most}, not {value!r}.")


def _check_fusion(fusion: str, vector_weight: float | None, multiplier: float, min_score: float) -> None:
    if fusion not in get_args(Fusion):
        raise InvalidRequestError(f"fusion must be convex or rrf, not {fusion!r}.")
    if vector_weight is not None and not (_is_number(vector_weight) and 0 <= vector_weight <= 1):
        raise InvalidRequestError(f"vector_weight must be a number from 0 to 1, not {vector_weight!r}.")
    if not _is_number(multiplier) or not 1 <= multiplier <= 100:
        raise InvalidRequestError(f"candidate_multiplier must be a number from 1 to 100, not {multiplier!r}.")
    if not _is_number(min_score):
        raise InvalidRequestError(f"min_score must be a number, not {min_score!r}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 (NaN)
