"""Examples of tests with Hypothesis: always the same in `make test`, many more and others in `make test-all`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Collection

    from hypothesis import HealthCheck

FACTOR = 10
"""Times as many examples, other ones in each run, where the profile is `thorough`."""


def register_profiles() -> None:
    """Make the profiles `usual`, which is loaded, and `thorough`, which `--hypothesis-profile` asks for.

    No test fails because a machine is slow, and the same commit has the same outcome.
    """
    settings.register_profile("usual", deadline=None, derandomize=True)
    settings.register_profile("thorough", deadline=None, max_examples=100 * FACTOR)
    settings.load_profile("usual")


def is_thorough() -> bool:
    return settings.get_current_profile_name() == "thorough"


def examples(count: int, unchecked: Collection[HealthCheck] = ()) -> settings:
    """So many examples, `FACTOR` times as many in `make test-all`.

    Args:
        count: Examples in `make test`.
        unchecked: Health checks of Hypothesis that are left out.
    """
    return settings(max_examples=count * FACTOR if is_thorough() else count, suppress_health_check=unchecked)
