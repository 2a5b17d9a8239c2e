"""Which version of the program is this? The same as in pyproject.toml, which a test compares."""

VERSION = "0.1.0"
