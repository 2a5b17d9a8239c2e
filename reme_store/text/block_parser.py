"""What does mistletoe say the blocks of a text are?

Apart from the rest because importing mistletoe takes a third of a second, and most notes are never split.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import Any

from mistletoe import block_token, block_tokenizer, token

from reme_store.text.markdown import Block, BlockKind, Heading, atx_heading

_PARSING = threading.Lock()
_KINDS: dict[type, BlockKind] = {block_token.CodeFence: "fence", block_token.Table: "table"}


def parse_blocks(lines: list[str]) -> list[Block]:
    """Return the top-level blocks of lines that end in a newline.

    Raises:
        RecursionError: the text is nested too deeply.
    """
    with _PARSING:
        parsed = _parse(lines)
    return list(_named_blocks(parsed, lines))


def _parse(lines: list[str]) -> list[tuple[type, Any, int]]:
    """Run mistletoe's block phase alone; it collects link references in the document of a module variable."""
    holder: Any = token
    read: Any = block_tokenizer.tokenize_block
    holder._root_node = block_token.Document([])
    try:
        return list(read(lines, block_token._token_types, start_line=1))
    finally:
        holder._root_node = None


def _named_blocks(parsed: Sequence[tuple[type, Any, int]], lines: Sequence[str]) -> Iterator[Block]:
    starts = [number - 1 for _, _, number in parsed]
    ends = [*(start - 1 for start in starts[1:]), len(lines) - 1][: len(starts)]
    for (token_type, result, _), first, end in zip(parsed, starts, ends, strict=True):
        last = end
        while last > first and not lines[last].strip():
            last -= 1
        yield _named_block(token_type, result, first, last, lines)


def _named_block(token_type: type, result: Any, first: int, last: int, lines: Sequence[str]) -> Block:
    if token_type is block_token.Heading:
        return Block("heading", first, last, heading=atx_heading(lines[first], first))
    if isinstance(result, block_token.SetextHeading):
        title = " ".join(line.strip() for line in lines[first:last])
        return Block("heading", first, last, heading=Heading(result.level, title, first, last))
    if token_type is block_token.List:
        return Block("list", first, last, items=tuple(item[-1] - 1 for item in result))
    return Block(_KINDS.get(token_type, "leaf"), first, last)
