"""What does ``python -m reme_graphs.cli`` do? The same as ``reme``."""

import sys

from reme_graphs.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
