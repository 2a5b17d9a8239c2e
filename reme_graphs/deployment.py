"""What does the Agent Server serve? What ``langgraph.json`` says, also where the package is installed.

The file stands at the root of the sources; a wheel carries it inside the package. Its paths are dotted modules, so it
holds from any folder.
"""

import json
from pathlib import Path
from typing import Any


def served() -> dict[str, Any]:
    """Return the configuration of the Agent Server."""
    here = Path(__file__).resolve().parent
    path = next(path for path in (here / "_langgraph.json", here.parent / "langgraph.json") if path.is_file())
    configuration: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return configuration
