"""Numeric IP addresses in all their notations."""

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

#: The well-known prefix of NAT64: the last 32 bits are an IPv4 address.
NAT64 = ipaddress.ip_network("64:ff9b::/96")
#: The part of IPv6 that is used in the open network.
OPEN_IPV6 = ipaddress.ip_network("2000::/3")


def numeric(text: str) -> Address:
    """The address that packets to ``text`` reach: for an IPv6 address that embeds an IPv4 address
    (mapped, 6to4, NAT64), that IPv4 address.

    Raises:
        ValueError: ``text`` is no numeric address.
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def is_public(address: Address) -> bool:
    """Whether ``address`` is in the open network: not this machine, no private network, nothing
    reserved."""
    return address.is_global and (address.version == 4 or address in OPEN_IPV6)
