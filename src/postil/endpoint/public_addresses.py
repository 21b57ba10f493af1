"""Public addresses of the internet, told from those of this machine and of the networks around it."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

__all__ = ["is_public"]

_SPECIAL_4: Final = tuple(
    ip_network(each)
    for each in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by a provider's customers; also metadata of Alibaba
        "127.0.0.0/8",
        "168.63.129.16/32",  # metadata of Azure, a public address
        "169.254.0.0/16",  # link-local; also metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; also metadata of Oracle
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
"""The special-purpose addresses of IANA's registry that no site of the internet has, and those of metadata services."""
_GLOBAL_6: Final = ip_network("2000::/3")
"""The only addresses of IPv6 that are given out as global unicast addresses."""
_SPECIAL_6: Final = tuple(
    ip_network(each)
    for each in (
        "2001::/23",  # Teredo, ORCHID and others
        "2001:db8::/32",
        "2002::/16",  # 6to4, within which any address of IPv4 can stand
        "3fff::/20",
    )
)
_NAT64: Final = ip_network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """True if an address is one of the public internet.

    An address of IPv6 that holds one of IPv4, as a mapped address or by NAT64, is public if that one is.

    Args:
        address: An address of IPv4 or IPv6; anything else is not public.

    >>> [is_public(each) for each in ("93.184.216.34", "169.254.169.254", "::ffff:10.0.0.1", "fe80::1%eth0")]
    [True, False, False, False]
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped
        if found in _NAT64:
            inner = IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is None:
            return found in _GLOBAL_6 and not any(found in network for network in _SPECIAL_6)
        found = inner
    return not any(found in network for network in _SPECIAL_4)
