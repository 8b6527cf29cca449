"""The command line `msp`."""

import sys


def main() -> None:
    try:
        from .commands import execute
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        sys.exit("The command line needs typer: pip install 'managed-spark[cli]'")
    execute()
