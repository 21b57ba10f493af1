"""``python -m postil`` and the command ``postil``."""

import sys

__all__ = ["main"]


def main() -> None:
    """The entry point; an interrupt ends it in one line even while modules are still being loaded."""
    try:
        from postil.cli.main import main as run  # noqa: PLC0415 - it takes a while

        run()
    except KeyboardInterrupt:
        sys.stderr.write("postil: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
