"""Search for an instruction, some calls at a time.

Every reply is stored when it arrives, so that a search that continues after a kill does not pay for
it again. Each run repeats the search from its stored replies.
"""

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Max
from django.utils import timezone

from apps.authors.models import Message, Site
from apps.authors.services.limits import budget_spent, count_cost
from apps.authors.services.messages import CONTEXT, SHOWN_OF_REPLIES
from apps.authors.services.questions import PATIENCE, Models, OpenModels
from apps.authors.services.site_config import config_of
from apps.common.jobs import JobRun, Postponed, failure_message, job, start_job
from apps.echo.models import Echo, PromptSearch, SearchReply
from apps.echo.selectors.learning import get_echo
from apps.echo.selectors.prompt_searches import instructions_of
from apps.echo.services.configuration import is_frozen
from apps.echo.services.prediction import (
    MOST_EXAMPLES,
    predict_plan,
    prompt,
    read_examples,
    standing_answers,
    task_of,
)
from apps.echo.services.selection import forget_known
from apps.echo.states import doubted_authors
from apps.llm.models import ModelSpec
from apps.llm.shared_gateway import close_all, shared_gateway
from labelhub.core.echo.examples import Example
from labelhub.core.echo.prediction import instruction_faults
from labelhub.core.echo.prompt_search import (
    LEAST_AUTHORS,
    LEAST_KEPT_BACK,
    LEAST_SHOWN,
    Found,
    SearchPlan,
    search,
)
from labelhub.core.errors import Conflict, NotFound
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.prices import cost_nanousd, estimate_usage
from labelhub.core.llm.types import Call, Completion, Reply, Status, Usage, call_key

KIND = "echo.search"
#: Minimum number of new answers about a feature since its last search.
NEW_ANSWERS = 40
#: Minimum number of answers for a first search.
LEAST_ANSWERS = LEAST_SHOWN + LEAST_KEPT_BACK


@transaction.atomic
def set_instruction(site: Site, feature: str, search_id: int | None) -> PromptSearch | None:
    """Use the instruction of one of a feature's searches; None for no instruction.

    Raises:
        NotFound: the site has no such feature, or the feature no such search.
        Conflict: Echo was never on, or the search has no instruction that may be used.
    """
    # Concurrent changes, also by a search that ends, wait here.
    echo = Echo.objects.select_for_update(no_key=True).get(pk=get_echo(site).pk)
    if not site.features.filter(key=feature).exists():
        raise NotFound("This site has no such feature.")
    if search_id is None:
        drop_instruction(echo, feature)
        found = None
    else:
        search = echo.searches.filter(feature=feature, pk=search_id).first()
        if search is None:
            raise NotFound("This feature has no such search.")
        found = use_instruction(search)
    forget_known(site.pk)
    return found


@transaction.atomic
def use_instruction(search: PromptSearch) -> PromptSearch:
    """Use the instruction of this search from now on; also to restore an earlier one.

    Raises:
        Conflict: it has no instruction, or one that breaks a current rule.
    """
    # Of two concurrent changes the second one wins.
    Echo.objects.select_for_update(no_key=True).get(pk=search.echo_id)
    if search.status != PromptSearch.Status.BETTER:
        raise Conflict("This search found no instruction; choose one that did.")
    if faults := instruction_faults(search.instruction):
        raise Conflict(
            "The instruction breaks a current rule and may not be used. %(detail)s",
            detail=faults[0].detail,
        )
    drop_instruction(search.echo, search.feature)
    search.active = True
    search.save(update_fields=["active"])
    return search


def drop_instruction(echo: Echo, feature: str) -> bool:
    """Stop using a feature's instruction; returns whether there was one."""
    return bool(echo.searches.filter(feature=feature, active=True).update(active=False))


def begin_searches() -> int:
    """Begin a search at each site where one is due, without a call; returns their number."""
    wanted = Echo.objects.filter(on=True, search_on=True, site__enabled=True)
    return sum(_begin_search(echo) for echo in wanted.select_related("site"))


def calls_left(echo: Echo) -> int:
    """The calls that a site's searches may still make today (UTC)."""
    today = timezone.now().date()
    made = echo.search_calls if echo.search_day == today else 0
    return max(0, echo.search_calls_per_day - made)


def _begin_search(echo: Echo) -> bool:
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
    except IntegrityError:  # another process has begun one
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
    due = [candidate for candidate in news if candidate[0] >= NEW_ANSWERS]
    return max(due)[1:] if due else None


#: Calls per turn before other jobs run, and concurrent calls: authors' messages have priority.
AT_A_TIME, AT_ONCE = 40, 4
#: Wait before checking again whether the site may spend more.
WAIT = timedelta(seconds=10)
#: Maximum seconds per call.
LONGEST = 30.0
#: The finish reason of a call without an answer.
FAILED = "no answer"
#: Maximum number of answers that a search reads; more than it ever holds out.
MOST_LABELS = 600


def fail_search(search_id: int, error: Exception) -> None:
    """End a search without a result."""
    _stop(search_id, "failed", failure_message(error))


@job(KIND, fail=fail_search)
def go_on_with(run: JobRun, *, open_models: OpenModels = shared_gateway) -> None:
    """Make the next calls of a search, or end it."""
    related = ("echo__site__model__provider",)
    running = PromptSearch.objects.filter(pk=run.subject, status=PromptSearch.Status.RUNNING)
    found = running.select_related(*related).first()
    if found is None:
        return
    echo = found.echo
    if not (echo.on and echo.search_on and echo.site.enabled):
        with run.last_chunk():
            _stop(found.pk, "switched_off", "Searching was switched off.")
    elif not calls_left(echo) or budget_spent(echo.site):
        raise Postponed("The site may not spend more for now.", WAIT)
    else:
        _go_on(run, found, open_models)


def _stop(search_id: int, why: str, reason: str) -> None:
    PromptSearch.objects.filter(pk=search_id, status=PromptSearch.Status.RUNNING).update(
        status=PromptSearch.Status.STOPPED, why=why, reason=reason[:300], ended_at=timezone.now()
    )
    SearchReply.objects.filter(search=search_id).delete()


def _go_on(run: JobRun, found: PromptSearch, open_models: OpenModels) -> None:
    site = found.echo.site
    kit = config_of(site)
    feature = next(
        (definition for definition in kit.definitions if definition.key == found.feature), None
    )
    if feature is None:
        with run.last_chunk():
            _stop(found.pk, "no_feature", "The site no longer asks about this feature.")
        return
    known = {row.key: row for row in found.replies.all()}
    steps = search(
        task_of(feature),
        labels_of(found),
        SearchPlan(
            instruct=prompt("instruct"),
            predicting=predict_plan(found.echo.site),
            present=found.present,
            examples=MOST_EXAMPLES,
            tokens=found.echo.example_tokens,
        ),
    )
    try:
        calls = next(steps)
        while not (missing := _missing(calls, kit.spec, known)):
            calls = steps.send([_read(call, known[_key(call, kit.spec)]) for call in calls])
    except StopIteration as end:
        with run.last_chunk():
            _finish(found, end.value)
        return
    some = missing[: min(AT_A_TIME, calls_left(found.echo))]
    _ask_some(run, found, some, kit.spec, open_models)
    raise Postponed("Other jobs get their turn.")


def _missing(
    calls: Sequence[Call], spec: ModelSpec, known: Mapping[str, SearchReply]
) -> list[tuple[str, Call]]:
    keyed = [(_key(call, spec), call) for call in calls]
    return [(key, call) for key, call in keyed if key not in known]


def _key(call: Call, spec: ModelSpec) -> str:
    """The key of a call: equal for the same question of a step to the same model."""
    endpoint, model = spec.identity
    # Also for random sampling: each call has one reply in a search.
    asked = call_key(replace(call, once=True), endpoint=endpoint, model=model, replicate=1)
    return hashlib.sha256(f"{call.step} {asked}".encode()).hexdigest()


def _read(call: Call, row: SearchReply) -> Reply:
    if row.finish_reason == FAILED:
        return Reply(status=Status.FAILED)
    refusal = row.text if row.refused else ""
    text = "" if row.refused else row.text
    return read_completion(
        call, Completion(text=text, finish_reason=row.finish_reason, refusal=refusal)
    )


def _ask_some(
    run: JobRun,
    found: PromptSearch,
    calls: Sequence[tuple[str, Call]],
    spec: ModelSpec,
    open_models: OpenModels,
) -> None:
    """Make the calls, some concurrently, and store the replies."""
    wanted = PromptSearch.objects.filter(
        pk=found.pk,
        status=PromptSearch.Status.RUNNING,
        echo__on=True,
        echo__search_on=True,
        echo__site__enabled=True,
    )
    with asyncio.Runner() as runner:
        try:
            for first in range(0, len(calls), AT_ONCE):
                run.keep()
                if not wanted.exists():
                    return
                some = calls[first : first + AT_ONCE]
                answers = runner.run(_answers([call for _, call in some], spec, open_models))
                cost = sum(cost_nanousd(answer.usage, **spec.prices) or 0 for answer in answers)
                count_cost(found.echo.site_id, cost, calls=len(answers))
                rows = [
                    SearchReply(
                        search=found,
                        key=key,
                        text=(answer.refusal or answer.text).replace("\0", ""),
                        finish_reason=answer.finish_reason[:40],
                        refused=bool(answer.refusal),
                    )
                    for (key, _), answer in zip(some, answers, strict=True)
                ]
                with run.chunk(closing=True):
                    _store(found, rows, cost)
                if budget_spent(found.echo.site):
                    return
        finally:
            runner.run(close_all())


async def _answers(
    calls: Sequence[Call], spec: ModelSpec, open_models: OpenModels
) -> list[Completion]:
    async with open_models(spec, PATIENCE) as models:
        return await asyncio.gather(*(_answer(models, spec, call) for call in calls))


async def _answer(models: Models, spec: ModelSpec, call: Call) -> Completion:
    """A model's reply to a call; its finish reason is ``FAILED`` if there is none."""
    try:
        async with asyncio.timeout(LONGEST):
            return await models.complete(spec, call)
    except TimeoutError:
        # The provider has read the prompt of an abandoned call and charges for it.
        return Completion("", FAILED, estimate_usage(call.messages, ""))
    except ModelError as error:
        return Completion("", FAILED, Usage(**error.data.get("usage", {})))


def _store(found: PromptSearch, rows: Sequence[SearchReply], cost: int) -> None:
    """Store the replies and count the calls."""
    calls = len(rows)
    PromptSearch.objects.filter(pk=found.pk).update(
        calls=F("calls") + calls, cost_nanousd=F("cost_nanousd") + cost
    )
    SearchReply.objects.bulk_create(rows, ignore_conflicts=True)
    today = timezone.now().date()
    counted = Echo.objects.filter(pk=found.echo_id)
    if not counted.filter(search_day=today).update(search_calls=F("search_calls") + calls):
        counted.update(search_day=today, search_calls=calls)


def _finish(search_: PromptSearch, found: Found) -> None:
    """Store the result, and use the instruction if it is better."""
    Echo.objects.select_for_update(no_key=True).get(pk=search_.echo_id)
    in_use = search_.echo.searches.filter(feature=search_.feature, active=True)
    # An instruction that somebody has chosen meanwhile stays.
    unchanged = search_.present == (in_use.values_list("instruction", flat=True).first() or "")
    status = PromptSearch.Status.UNCHANGED if found.kept else PromptSearch.Status.BETTER
    use = not found.kept and unchanged
    if use:
        drop_instruction(search_.echo, search_.feature)
    PromptSearch.objects.filter(pk=search_.pk).update(
        status=status,
        instruction="" if found.kept else found.instruction,
        active=use,
        why=found.why,
        reason=found.reason[:300],
        found=found.to_json(),
        ended_at=timezone.now(),
    )
    search_.replies.all().delete()
    forget_known(search_.echo.site_id)


def labels_of(search_: PromptSearch) -> list[Example]:
    """The valid answers about the search's feature, with the messages before them."""
    doubted = doubted_authors(search_.echo)
    answers = standing_answers(search_.echo.site_id).filter(
        question__feature__key=search_.feature, pk__lte=search_.until
    )
    newest = answers.order_by("-pk")[:MOST_LABELS]
    messages = dict(newest.values_list("pk", "question__message"))
    found = {
        messages[answer]: example
        for answer, _, example in read_examples(newest)
        if example.author not in doubted
    }
    before = _earlier_messages(found)
    return [replace(example, context=before[message]) for message, example in found.items()]


def _earlier_messages(found: Mapping[int, Example]) -> dict[int, tuple[tuple[str, str], ...]]:
    """The earlier messages of each message, as ``message_for_models`` shows them; one query."""
    talks = {int(example.conversation) for example in found.values()}
    rows = Message.objects.filter(conversation__in=talks).exclude(text="").order_by("pk")
    earlier: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for talk, pk, role, text in rows.values_list("conversation", "pk", "role", "text"):
        shown = text if role == Message.Role.AUTHOR else text[:SHOWN_OF_REPLIES]
        earlier[str(talk)].append((pk, role, shown))
    return {
        message: tuple(
            (role, text) for pk, role, text in earlier[example.conversation] if pk < message
        )[-CONTEXT:]
        for message, example in found.items()
    }
