"""The command line: `python -m olympus --help` lists the commands."""

import sys

from olympus._src.command.main import main

if __name__ == "__main__":
    sys.exit(main())
