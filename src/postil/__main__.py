"""``python -m postil``."""

from postil.app.cli.main import main

main()
