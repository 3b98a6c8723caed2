"""What a site's models have cost today, and whether that is all they may."""

from datetime import date

from django.db.models import F
from django.utils import timezone

from apps.authors.models import Site, SiteUse


def count_cost(site_id: int, nanousd: int) -> None:
    """Add to what the site's models have cost today (UTC); of a site that is gone, nothing."""
    if not nanousd or _added(site_id, _today(), nanousd):
        return
    first = [SiteUse(site=site, day=_today()) for site in Site.objects.filter(pk=site_id)]
    # Two that are the first of the day at once make one row.
    SiteUse.objects.bulk_create(first, ignore_conflicts=True)
    _added(site_id, _today(), nanousd)


def budget_spent(site: Site) -> bool:
    """Whether the site's models have cost today what they may cost a day (UTC)."""
    if site.daily_budget_nanousd is None:
        return False
    use = SiteUse.objects.filter(site=site, day=_today()).first()
    return (use.cost_nanousd if use else 0) >= site.daily_budget_nanousd


def _added(site_id: int, day: date, nanousd: int) -> bool:
    rows = SiteUse.objects.filter(site=site_id, day=day)
    return bool(rows.update(cost_nanousd=F("cost_nanousd") + nanousd))


def _today() -> date:
    return timezone.now().date()
