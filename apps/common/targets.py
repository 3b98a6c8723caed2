"""Addresses in numbers: what kind of place they are, however they are written."""

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

#: The well-known prefix of NAT64: the last 32 bits are an IPv4 address.
NAT64 = ipaddress.ip_network("64:ff9b::/96")


def numeric(text: str) -> Address:
    """The address that packets to ``text`` end up at: an IPv4 address that an IPv6 address carries
    (mapped, by 6to4 or by NAT64) is itself.

    Raises:
        ValueError: it is no address in numbers.
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        return _carried_by(address) or address
    return address


def _carried_by(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
