"""How are hits and neighbours shown, so that the text of a note cannot pass for anything else?

Every line of note text begins with ``> ``; names and descriptions are one line and cut. A line that does not begin so
was written by the store.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_LABEL_CHARS = 160


def quoted(text: str) -> str:
    """Mark every line as text of a note."""
    return "\n".join(f"> {line}".rstrip() for line in text.replace("\r", "\n").split("\n"))


def one_line(text: str, limit: int = _LABEL_CHARS) -> str:
    """Show a name or description as one line without control characters."""
    if len(text) <= limit and text.isprintable() and "  " not in text and text == text.strip(" "):
        return text
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    shown = " ".join(text.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def render_hits(hits: Sequence[Mapping[str, Any]], expansion: Mapping[str, Mapping[str, Any]]) -> str:
    """Render search results, one block a hit, each with the neighbours of its note."""
    return "\n\n".join(_hit(hit, expansion.get(hit["path"])) for hit in hits)


def _hit(hit: Mapping[str, Any], neighbours: Mapping[str, Any] | None) -> str:
    scores = hit["scores"]
    place = f"{one_line(hit['path'], 500)}:{hit['start_line']}-{hit['end_line']}"
    vector, keyword = _number(scores["vector"]), _number(scores["keyword"])
    lines = [f"{place} [score={hit['score']:.4f} vector={vector} keyword={keyword}]"]
    if hit["name"] or hit["description"]:
        lines.append(_label("  ", hit))
    if hit["count"] > 1:
        others = ", ".join(one_line(path, 500) for path in hit["paths"][:5] if path != hit["path"])
        lines.append(f"  the same text {hit['count']} times, also in {others}")
    lines.append(quoted(hit["text"]))
    if neighbours is not None:
        lines += _side("→ outlinks", neighbours["outlinks"], neighbours["n_outlinks"])
        lines += _side("← inlinks", neighbours["inlinks"], neighbours["n_inlinks"])
    return "\n".join(lines)


def _number(score: float | None) -> str:
    return "-" if score is None else f"{score:.4f}"


def _label(indent: str, item: Mapping[str, Any]) -> str:
    parts = [f"{key}: {one_line(item[key])}" for key in ("name", "description") if item[key]]
    return indent + " | ".join(parts)


def _side(title: str, links: Sequence[Mapping[str, Any]], total: int) -> Iterable[str]:
    if not total:
        return
    yield f"{title} ({total})"
    for link in links:
        yield "  " + render_link(link)
    if total > len(links):
        yield f"  … {total - len(links)} more"


def render_link(link: Mapping[str, Any]) -> str:
    """Render one neighbour: its path, what it is called, and how it is linked."""
    marks = []
    if link["predicate"]:
        marks.append(f"predicate={one_line(link['predicate'])}")
    if link["anchor"]:
        marks.append(f"anchor=#{one_line(link['anchor'])}")
    label = _label("", link) if link["exists"] else "no note yet"
    return " ".join(part for part in (one_line(link["path"], 500), label, *(["via", *marks] if marks else [])) if part)


def render_node_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """Render node_search results, one row a note."""
    return "\n".join(_node_row(row) for row in rows)


def _node_row(row: Mapping[str, Any]) -> str:
    labels = f"{one_line(row['name'])} {one_line(row['description'])}"
    return f"{one_line(row['path'], 500)} {row['score']:.4f} {labels}".rstrip()


def render_walk(nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]], *, truncated: bool) -> str:
    """Render what a walk along the links met."""
    lines = [f"{len(nodes)} notes, {len(edges)} links"]
    for node in nodes:
        label = _label("", node) if node["exists"] else "no note yet"
        lines.append(f"depth {node['depth']} {one_line(node['path'], 500)} {label}".rstrip())
    for edge in edges:
        predicate = f" predicate={one_line(edge['predicate'])}" if edge["predicate"] else ""
        anchor = f" anchor=#{one_line(edge['target_anchor'])}" if edge["target_anchor"] else ""
        lines.append(f"{one_line(edge['source_path'], 500)} → {one_line(edge['target_path'], 500)}{predicate}{anchor}")
    if truncated:
        lines.append("There are more; ask with a smaller depth or from another note.")
    return "\n".join(lines)
