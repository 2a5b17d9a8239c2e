"""A conversation becomes a dated note: one per session and day."""
