"""Screening of comments: what moderators would hold, and what an editor would not suggest."""
