"""What does the index say at one moment? An immutable set of segments; a commit makes the next one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from reme_store.index.arrays import Array
from reme_store.index.keyword import KeywordView
from reme_store.index.log import FrameLog
from reme_store.index.segment import Part, Segment, merge_parts
from reme_store.models import FileLink, FileState

_TIER = 2
"""Segments in memory are merged when the older is at most this many times the newer."""

Place = tuple[int, int]
"""Part and ordinal of a note."""

_REMEMBERED = 10_000
_UNKNOWN: Place = (-1, -1)


class IndexView:
    """Segments with what is alive in each; a path is alive in at most one of them."""

    def __init__(self, parts: Iterable[Part] = (), log: FrameLog | None = None) -> None:
        self.parts = tuple(parts)
        self.log = log
        """Where the records of these notes stand."""
        self._found: dict[str, Place | None] = {}

    @cached_property
    def keyword(self) -> KeywordView:
        """The postings of all parts, to be scored together."""
        return KeywordView([(part.segment.postings, part.live_docs()) for part in self.parts])

    @cached_property
    def n_notes(self) -> int:
        """How many files are known."""
        return sum(part.n_alive for part in self.parts)

    def find(self, path: str) -> Place | None:
        """Return where a path is alive; None when it is not indexed."""
        known = self._found.get(path, _UNKNOWN)
        if known is not _UNKNOWN:
            return known
        if len(self._found) >= _REMEMBERED:
            self._found.clear()
        place = self._found[path] = self._search(path)
        return place

    def _search(self, path: str) -> Place | None:
        for number in range(len(self.parts) - 1, -1, -1):
            note = self.parts[number].segment.notes.find(path)
            if note >= 0 and self.parts[number].alive[note]:
                return number, note
        return None

    def places(self) -> Iterator[tuple[Part, int]]:
        """Yield every live note with its part."""
        for part in self.parts:
            for note in np.flatnonzero(part.alive).tolist():
                yield part, note

    def state(self, path: str) -> FileState | None:
        """Return what a file was when it was indexed; None when it is not."""
        place = self.find(path)
        return None if place is None else self.parts[place[0]].segment.notes.state(place[1])

    @cached_property
    def states(self) -> dict[str, FileState]:
        """What each file was when it was indexed."""
        found: dict[str, FileState] = {}
        for part in self.parts:
            notes = part.segment.notes
            paths, stats = notes.paths.texts(), notes.columns["stat"].tolist()
            digests = notes.columns["sha256"].tobytes().hex()
            for note in np.flatnonzero(part.alive).tolist():
                found[paths[note]] = FileState(digests[note * 64 : note * 64 + 64], *stats[note])
        return found

    def exists(self, path: str) -> bool:
        """Whether a path is a note, as opposed to a mere target or a file without text."""
        place = self.find(path)
        return place is not None and bool(self.parts[place[0]].segment.notes.columns["readable"][place[1]])

    def label(self, path: str) -> tuple[str, str]:
        """Return name and description of a note; empty for what has none."""
        place = self.find(path)
        if place is None:
            return "", ""
        strings = self.parts[place[0]].segment.notes.strings
        return strings["names"][place[1]], strings["descriptions"][place[1]]

    def outlinks(self, path: str, most: int | None = None) -> list[FileLink]:
        """Return the links of a note, or the first of them, in the order of its text."""
        place = self.find(path)
        return [] if place is None else self.parts[place[0]].segment.links.outlinks(place[1], path, most)

    def out_count(self, path: str) -> int:
        """Count the links of a note."""
        place = self.find(path)
        return 0 if place is None else self.parts[place[0]].segment.links.out_count(place[1])

    def inlinks(self, target: str) -> list[FileLink]:
        """Return every link to a target, which need not exist, ordered by source."""
        return self.first_inlinks(target, None)[0]

    def first_inlinks(self, target: str, most: int | None) -> tuple[list[FileLink], int]:
        """Return the first links to a target, ordered by source, and how many there are."""
        found: list[FileLink] = []
        total = 0
        for part in self.parts:
            paths = part.segment.notes.paths
            links, count = part.segment.links.inlinks(target, part.alive, most)
            found += [FileLink(paths[note], target, anchor, predicate) for note, anchor, predicate in links]
            total += count
        if len(self.parts) > 1:
            found.sort(key=lambda link: link.source_path)
        return found[:most], total

    def link_counts(self) -> tuple[int, int]:
        """Return how many edges there are, and how many targets have no note."""
        edges, targets = 0, set[str]()
        for part in self.parts:
            count, leading = part.segment.links.live_targets(part.alive)
            edges += count
            targets |= leading
        return edges, sum(not self.exists(target) for target in targets)

    def committed(self, segment: Segment | None, gone: Iterable[str]) -> "IndexView":
        """Return the view after a change: new versions of some notes, and paths that are no more."""
        fresh = segment.notes.paths.texts() if segment is not None else []
        dead: dict[int, list[int]] = {}
        for path in (*fresh, *gone):
            place = self.find(path)
            if place is not None:
                dead.setdefault(place[0], []).append(place[1])
        parts = [part.without(dead[n]) if n in dead else part for n, part in enumerate(self.parts)]
        parts = [part for part in parts if part.segment.name or part.alive.any()]
        if segment is not None and fresh:
            parts.append(Part.whole(segment))
        return IndexView(_tiered(parts), self.log)


class KnownFiles(Mapping[str, FileState]):
    """The files of a view with their states; asking for one of them does not read the others."""

    def __init__(self, view: IndexView) -> None:
        self._view = view

    def __getitem__(self, path: str) -> FileState:
        state = self._all[path] if self._all is not None else self._view.state(path)
        if state is None:
            raise KeyError(path)
        return state

    def __iter__(self) -> Iterator[str]:
        return iter(self._view.states)

    def __len__(self) -> int:
        return self._view.n_notes

    @property
    def _all(self) -> dict[str, FileState] | None:
        return self._view.__dict__.get("states")


def _tiered(parts: Sequence[Part]) -> list[Part]:
    """Merge the segments in memory at the end while their sizes are near, so that there are never many."""
    merged = list(parts)
    while len(merged) > 1 and not merged[-1].segment.name and not merged[-2].segment.name:
        older, newer = merged[-2], merged[-1]
        if older.n_alive > _TIER * newer.n_alive:
            break
        merged[-2:] = [Part.whole(merge_parts([older, newer]))]
    return merged


def note_of_docs(part: Part) -> Array:
    """Return uint32[d]: the note of each document."""
    return part.segment.notes.columns["note"]
