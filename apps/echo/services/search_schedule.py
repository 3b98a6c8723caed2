"""Which feature's instruction is searched for next, and whether one may be searched for at all."""

from django.db import IntegrityError, transaction
from django.db.models import Count, Max
from django.utils import timezone

from apps.authors.services.limits import budget_spent
from apps.common.jobs import start_job
from apps.echo.examples import standing_answers
from apps.echo.models import Echo, PromptSearch
from apps.echo.services.configuration import is_frozen
from apps.echo.services.instructions import instructions_of
from labelhub.core.echo.prompt_search import LEAST_AUTHORS, LEAST_KEPT_BACK, LEAST_SHOWN

KIND = "echo.search"
#: Answers about a feature since its last search without which there is no other.
NEW_ANSWERS = 40
#: Answers without which there is none at all.
LEAST_ANSWERS = LEAST_SHOWN + LEAST_KEPT_BACK


def begin_searches() -> int:
    """Begin a search at each site where one may be and is due; how many. No call is made yet."""
    wanted = Echo.objects.filter(on=True, search_on=True, site__enabled=True)
    return sum(_begun(echo) for echo in wanted.select_related("site"))


def calls_left(echo: Echo) -> int:
    """Calls that the searches of a site may make today (UTC)."""
    today = timezone.now().date()
    made = echo.search_calls if echo.search_day == today else 0
    return max(0, echo.search_calls_per_day - made)


def _begun(echo: Echo) -> bool:
    if echo.searches.filter(status=PromptSearch.Status.RUNNING).exists():
        return False
    if not calls_left(echo) or budget_spent(echo.site) or is_frozen(echo):
        return False
    due = _due(echo)
    if due is None:
        return False
    feature, answers, until = due
    present = instructions_of(echo).get(feature, "")
    try:
        with transaction.atomic():
            search = PromptSearch.objects.create(
                echo=echo, feature=feature, present=present, answers=answers, until=until
            )
            start_job(KIND, search.pk)
    except IntegrityError:  # somebody else has begun one
        return False
    return True


def _due(echo: Echo) -> tuple[str, int, int] | None:
    """The feature with the most new answers: its key, its answers, and the key of the newest."""
    ended = echo.searches.exclude(status=PromptSearch.Status.STOPPED).order_by("pk")
    known = dict(ended.values_list("feature", "answers"))
    counted = (
        standing_answers(echo.site_id)
        .filter(question__feature__active=True)
        .values("question__feature__key")
        .annotate(count=Count("pk"), people=Count("author", distinct=True), newest=Max("pk"))
        .filter(count__gte=LEAST_ANSWERS, people__gte=LEAST_AUTHORS)
        .values_list("question__feature__key", "count", "newest")
    )
    news = [(count - known.get(key, 0), key, count, newest) for key, count, newest in counted]
    due = [each for each in news if each[0] >= NEW_ANSWERS]
    return max(due)[1:] if due else None
