"""How often somebody may do something: token buckets, and the network an address belongs to."""

import math
import time
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from labelhub.core.errors import InvalidInput

#: What one household or office is given: addresses within are one visitor to a limit.
V4_PREFIX, V6_PREFIX = 24, 56


class TokenBucket:
    """``burst`` tokens at the start and at most; ``rate`` new ones a second.

    Args:
        rate: tokens a second, above 0.
        burst: the most that collects, at least 1.
        clock: seconds from any origin; one that goes back gives nothing until it has caught up.

    Raises:
        InvalidInput: a number is out of its range.
    """

    def __init__(
        self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if not 0 < rate < math.inf:
            raise InvalidInput.at("rate", "must be a number above 0")
        if not 1 <= burst < math.inf:
            raise InvalidInput.at("burst", "must be a number from 1 on")
        self._rate, self._burst, self._clock = rate, burst, clock
        self._level, self._filled_at = float(burst), clock()
        self._shut_until = -math.inf

    def take(self, amount: float = 1.0) -> bool:
        """Take ``amount`` tokens if there are as many; whether there were."""
        if self.wait(amount) > 0:
            return False
        self._level = max(0.0, self._level - amount)
        return True

    def wait(self, amount: float = 1.0) -> float:
        """Seconds until ``amount`` tokens can be taken, 0 when they can; infinite above the
        burst."""
        self._fill()
        if amount > self._burst:
            return math.inf
        missing = amount - self._level
        shut = max(0.0, self._shut_until - self._clock())
        # Rounding must not leave a wait that no clock can tell from nothing.
        return max(shut, missing / self._rate if missing > 1e-9 else 0.0)

    def shut(self, seconds: float) -> None:
        """Give nothing for a while, and go on collecting. Who is shut already stays so until the
        time that was told first."""
        now = self._clock()
        if now >= self._shut_until:
            self._shut_until = now + seconds

    def _fill(self) -> None:
        now = self._clock()
        if now > self._filled_at:
            grown = self._level + (now - self._filled_at) * self._rate
            self._level, self._filled_at = min(self._burst, grown), now


def network_prefix(address: str) -> str:
    """The /24 (IPv4) or /56 (IPv6) that ``address`` is in, such as ``203.0.113.0/24``.

    An IPv4 address written as an IPv6 one counts as what it is; a zone (``%eth0``) does not count.

    Raises:
        InvalidInput: it is no IP address.
    """
    try:
        found = _unmapped(ip_address(address.strip().partition("%")[0]))
    except ValueError:
        raise InvalidInput.at("address", "is not an IP address") from None
    bits = V4_PREFIX if found.version == 4 else V6_PREFIX
    return str(ip_network((found, bits), strict=False))


def _unmapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
