"""``python -m postil``."""

from postil.app.cli import main

main()
