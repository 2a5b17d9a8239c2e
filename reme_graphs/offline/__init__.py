"""What do the graphs decide when no model is configured?

The offline engine: pure functions, text in and values out, extractive and deterministic. No disk, no clock, no network.
"""

from reme_graphs.offline.integrate import OfflineOutcome, integrate
from reme_graphs.offline.linking import Candidate
from reme_graphs.offline.material import Material, Statement
from reme_graphs.offline.names import slug
from reme_graphs.offline.notes import OfflineNote, interpret_resource, merge_additions, write_note
from reme_graphs.offline.units import extract, planned_path

__all__ = [
    "Candidate",
    "Material",
    "OfflineNote",
    "OfflineOutcome",
    "Statement",
    "extract",
    "integrate",
    "interpret_resource",
    "merge_additions",
    "planned_path",
    "slug",
    "write_note",
]
