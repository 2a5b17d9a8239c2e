"""What does each graph do, in a sentence for a person or an agent who chooses one?"""

from collections.abc import Mapping

DESCRIPTIONS: Mapping[str, str] = {
    "auto_memory": (
        "Remember a conversation: give it the messages, and what is worth keeping becomes a dated Markdown "
        "note that links back to them."
    ),
    "auto_resource": (
        "Read raw documents: every new or changed file under resource/ (md, txt, json, jsonl, csv, yaml, "
        "html) becomes a dated note. Give it nothing to scan the folder."
    ),
    "auto_dream": (
        "Turn what the notes of the last days teach into lasting, linked knowledge with its sources, and "
        "propose topics of interest. Give it nothing to dream over today."
    ),
    "consolidate": (
        "Look after the knowledge: split an overloaded note into an overview and children, and report "
        "duplicates, broken links and orphans."
    ),
    "synchronizer": (
        "Keep the state of a long task: objective, plan, progress, findings, decisions and next steps, "
        "carried over from day to day."
    ),
    "proactive": ("Read the topics of interest that the dream proposed for a day."),
}
"""Name of a graph -> what it does. No framework is loaded to know it."""
