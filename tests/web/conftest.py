from __future__ import annotations

from campaign_pages import place

__all__ = ["place"]
