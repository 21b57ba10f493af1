"""One page from the results of other commands: it opens from disk and asks the network for nothing."""

from __future__ import annotations

from postil.app.report.read import read_results
from postil.app.report.write import check_report, write_report

__all__ = ["check_report", "read_results", "write_report"]
