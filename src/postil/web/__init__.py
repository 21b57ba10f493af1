"""Campaign server: pages of annotators and leads."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Comment on articles",
    commands={
        "check-audit": Command("audit_command:check", "Verify that no line of an audit log was changed or removed."),
        "tokens": Command("tokens_command:tokens", "Make and revoke the tokens of clients of the service."),
    },
    kinds={
        "audit-log": Kind("result:AuditLogResult", "audit_view:view"),
        "tokens": Kind("result:TokensResult", "tokens_view:view"),
    },
)
