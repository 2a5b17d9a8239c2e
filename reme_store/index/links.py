"""Who links to whom? The edges of a segment, readable from both ends without reading a note.

A target is a text, not a note: it may have no note yet (a virtual node), or have one in another segment.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from reme_store.index.arrays import Array, Strings
from reme_store.models import FileLink

_COLUMNS = ("first_edge", "source", "target", "anchor", "predicate", "first_inbound", "inbound")


class LinkTable:
    """The edges of one segment.

    Columns: ``first_edge`` int64[n + 1] over the notes; per edge ``source`` (note), ``target``, ``anchor``,
    ``predicate`` uint32 (label 0 = none); ``first_inbound`` int64[t + 1] over the targets; ``inbound`` uint32[e], edges
    sorted by target.
    """

    def __init__(self, targets: Strings, labels: Strings, columns: Mapping[str, Array]) -> None:
        self.targets, self._labels = targets, labels
        self._columns = dict(columns)

    @classmethod
    def build(cls, notes: Sequence[Sequence[FileLink]]) -> "LinkTable":
        """Make the table of the outgoing links of each note."""
        targets = sorted({link.target_path for links in notes for link in links})
        labels = ["", *sorted({label for links in notes for link in links for label in _labels_of(link)})]
        target_ids = {target: n for n, target in enumerate(targets)}
        label_ids: dict[str | None, int] = {label: n for n, label in enumerate(labels)}
        label_ids[None] = 0
        edges = np.array(
            [
                (note, target_ids[link.target_path], label_ids[link.target_anchor], label_ids[link.predicate])
                for note, links in enumerate(notes)
                for link in links
            ],
            dtype=np.uint32,
        ).reshape(-1, 4)
        return cls._complete(targets, labels, edges, len(notes))

    @classmethod
    def _complete(cls, targets: Sequence[str], labels: Sequence[str], edges: Array, n_notes: int) -> "LinkTable":
        """Make the table of edges uint32[e, 4] that are sorted by source."""
        source, target, anchor, predicate = (np.ascontiguousarray(edges[:, n]) for n in range(4))
        columns = {
            "first_edge": _bounds(source, n_notes),
            "source": source,
            "target": target,
            "anchor": anchor,
            "predicate": predicate,
            "first_inbound": _bounds(target, len(targets)),
            "inbound": np.argsort(target, kind="stable").astype(np.uint32),
        }
        return cls(Strings.of(targets), Strings.of(labels), columns)

    @classmethod
    def merge(cls, parts: Sequence[tuple["LinkTable", Array]], n_notes: int) -> "LinkTable":
        """Make one table of several, given where each note went (-1 = dropped)."""
        targets: dict[str, int] = {}
        labels: dict[str, int] = {"": 0}
        edges: list[Array] = []
        for table, moved in parts:
            kept = moved[table._columns["source"]] >= 0
            columns = [moved[table._columns["source"][kept]]]
            columns.append(_renamed(table.targets, table._columns["target"][kept], targets))
            columns += [_renamed(table._labels, table._columns[name][kept], labels) for name in ("anchor", "predicate")]
            edges.append(np.stack(columns, axis=1))
        merged = np.concatenate(edges) if edges else np.zeros((0, 4), dtype=np.int64)
        merged = merged[np.argsort(merged[:, 0], kind="stable")]
        ordered = sorted(targets, key=lambda text: text.encode("utf-8", "surrogatepass"))
        rank = np.empty(len(ordered), dtype=np.int64)
        rank[[targets[text] for text in ordered]] = np.arange(len(ordered))
        merged[:, 1] = rank[merged[:, 1]]
        return cls._complete(ordered, list(labels), merged.astype(np.uint32), n_notes)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays to store the table by."""
        return {**self._columns, **self.targets.arrays("targets"), **self._labels.arrays("labels")}

    @classmethod
    def load(cls, arrays: Mapping[str, Array]) -> "LinkTable":
        """Take a table out of the arrays of a file."""
        columns = {name: arrays[name] for name in _COLUMNS}
        return cls(Strings.load(arrays, "targets"), Strings.load(arrays, "labels"), columns)

    def out_count(self, note: int) -> int:
        """Count the links of a note."""
        return int(self._columns["first_edge"][note + 1] - self._columns["first_edge"][note])

    def outlinks(self, note: int, path: str, most: int | None = None) -> list[FileLink]:
        """Return the links of a note, or the first of them, in the order of its text."""
        start, stop = self._columns["first_edge"][note : note + 2].tolist()
        stop = stop if most is None else min(stop, start + most)
        targets = [self.targets[target] for target in self._columns["target"][start:stop].tolist()]
        return [
            FileLink(path, target, *self._marks(edge)) for target, edge in zip(targets, range(start, stop), strict=True)
        ]

    def inlinks(
        self, target: str, alive: Array, most: int | None = None
    ) -> tuple[list[tuple[int, str | None, str | None]], int]:
        """Return (note, anchor, predicate) of the first links to a target from live notes, and how many there are."""
        place = self.targets.find(target)
        if place < 0:
            return [], 0
        start, stop = self._columns["first_inbound"][place : place + 2].tolist()
        edges = self._columns["inbound"][start:stop]
        notes = self._columns["source"][edges]
        living = alive[notes]
        notes, edges = notes[living], edges[living]
        shown = zip(notes[:most].tolist(), edges[:most].tolist(), strict=True)
        return [(note, *self._marks(edge)) for note, edge in shown], len(notes)

    def _marks(self, edge: int) -> tuple[str | None, str | None]:
        anchor, predicate = int(self._columns["anchor"][edge]), int(self._columns["predicate"][edge])
        return self._labels[anchor] if anchor else None, self._labels[predicate] if predicate else None

    def live_targets(self, alive: Array) -> tuple[int, set[str]]:
        """Return how many edges live notes have, and where they lead."""
        living = alive[self._columns["source"]]
        targets = np.unique(self._columns["target"][living])
        return int(np.count_nonzero(living)), {self.targets[place] for place in targets.tolist()}


def _labels_of(link: FileLink) -> Iterable[str]:
    return (label for label in (link.target_anchor, link.predicate) if label)


def _bounds(ids: Array, count: int) -> Array:
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(ids, minlength=count), out=starts[1:])
    return starts


def _renamed(strings: Strings, ids: Array, names: dict[str, int]) -> Array:
    """Translate ids of one table into ids of the merged one, whose names grow as needed."""
    used = np.unique(ids)
    texts = strings.texts() if len(used) else []
    translation = np.zeros(len(strings), dtype=np.int64)
    for place in used.tolist():
        translation[place] = names.setdefault(texts[place], len(names))
    return translation[ids]
