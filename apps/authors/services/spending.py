"""What a site's models have cost today, and whether that is all they may."""

from datetime import date

from django.db.models import F
from django.utils import timezone

from apps.authors.models import Site, SiteUse


def count_cost(site_id: int, nanousd: int, *, calls: int = 0) -> None:
    """Add to what the site's models have cost today (UTC), and to the calls that were not counted
    before they began; of a site that is gone, nothing."""
    if not (nanousd or calls) or _added(site_id, _today(), nanousd, calls):
        return
    open_day(site_id)
    _added(site_id, _today(), nanousd, calls)


def budget_spent(site: Site) -> bool:
    """Whether the site's models have cost, or were called, as much today (UTC) as they may."""
    use = SiteUse.objects.filter(site=site, day=_today()).first() or SiteUse()
    budget = site.daily_budget_nanousd
    dear = budget is not None and use.cost_nanousd >= budget
    return dear or use.calls >= site.calls_per_day


def open_day(site_id: int) -> None:
    """Make sure that there is a row to count in today, unless the site is gone."""
    if SiteUse.objects.filter(site=site_id, day=_today()).exists():
        return
    first = [SiteUse(site=site, day=_today()) for site in Site.objects.filter(pk=site_id)]
    # Two that are the first of the day at once make one row.
    SiteUse.objects.bulk_create(first, ignore_conflicts=True)


def _added(site_id: int, day: date, nanousd: int, calls: int) -> bool:
    rows = SiteUse.objects.filter(site=site_id, day=day)
    return bool(rows.update(cost_nanousd=F("cost_nanousd") + nanousd, calls=F("calls") + calls))


def _today() -> date:
    return timezone.now().date()
