"""Derived state: what can be lost and rebuilt from the files."""
