"""Security of both servers: tokens, an audit log, limits, translations."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Serve",
    commands={
        "check-audit": Command("audit_command:check", "Verify that no line of an audit log was changed or removed."),
        "tokens": Command("command:tokens", "Make and revoke the tokens of clients of the service."),
    },
    kinds={
        "audit-log": Kind("audit_log:AuditLogResult", "view:audit_log"),
        "tokens": Kind("tokens:TokensResult", "view:tokens"),
    },
)
