"""The Echo of a site: where there may be none, where there has to be one, and to look at."""

from apps.authors.models import Site
from apps.echo.models import Echo
from labelhub.core.errors import Conflict


def echo_of(site: Site) -> Echo | None:
    """The site's Echo, on or off; None where it was never on."""
    echo = Echo.objects.filter(site=site).first()
    if echo is not None:
        echo.site = site
    return echo


def get_echo(site: Site) -> Echo:
    """The same where there has to be one.

    Raises:
        Conflict: Echo was never on at this site.
    """
    echo = echo_of(site)
    if echo is None:
        raise Conflict("Echo was never on at this site; a manager can switch it on.")
    return echo


def echo_or_default(site: Site) -> Echo:
    """The same to look at: where it was never on, one that is off and stored nowhere."""
    return echo_of(site) or Echo(site=site, on=False)
