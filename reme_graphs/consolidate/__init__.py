"""consolidate: the maintainer, which splits what is overloaded and reports the rest."""
