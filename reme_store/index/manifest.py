"""Which files make up the index? One small file that is replaced atomically, so that a crash leaves the old or the new.

It carries a checksum, the format, and the options (tokenizer, chunk size) that what is stored depends on.
"""

import json
import zlib
from dataclasses import dataclass

from reme_store.errors import IndexCorruptError

FORMAT = 4
"""Raised whenever what is stored changes its meaning."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Which files make up the index."""

    options: str
    log: str
    covered: int = 0
    segments: tuple[tuple[str, str], ...] = ()
    """Name of each segment and of the file of its dead, which may be empty."""
    serial: int = 0

    def render(self) -> bytes:
        """Render the manifest with its checksum."""
        body = json.dumps(
            {
                "format": FORMAT,
                "options": self.options,
                "log": self.log,
                "covered": self.covered,
                "segments": self.segments,
                "serial": self.serial,
            }
        )
        return json.dumps({"manifest": body, "crc32": zlib.crc32(body.encode())}).encode()

    @classmethod
    def parse(cls, data: bytes, options: str) -> "Manifest":
        """Read a manifest.

        Raises:
            IndexCorruptError: it is damaged, or of another format, tokenizer or chunk size.
        """
        try:
            outer = json.loads(data)
            body = outer["manifest"]
            intact = zlib.crc32(body.encode()) == outer["crc32"]
            values = json.loads(body)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise IndexCorruptError(f"the manifest of the index does not parse: {error}") from error
        if not intact:
            raise IndexCorruptError("the manifest of the index is damaged")
        if values.pop("format") != FORMAT or values["options"] != options:
            raise IndexCorruptError("the index was made with another format, tokenizer or chunk size")
        return cls(**{**values, "segments": tuple(tuple(pair) for pair in values["segments"])})
