from __future__ import annotations

from campaign_pages import place, served

__all__ = ["place", "served"]
