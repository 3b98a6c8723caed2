"""A test of a provider with real calls, with a message for its page."""

import asyncio
import json
from copy import copy
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop, ngettext

from apps.common.figures import count_words
from apps.llm import error_messages
from apps.llm.capabilities import Capability
from apps.llm.failures import Cause, Failure
from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec, Provider
from apps.llm.presets import preset_of
from apps.llm.retry import Patience
from apps.llm.traffic import Memory
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.types import AnswerField, Call, Completion, Message
from labelhub.core.schema import schema_from_names

#: Seconds for the whole test, as a page waits for it.
BOUND = 20.0
#: Statuses of endpoints that can chat but do not list models.
NO_LIST = (404, 405, 501)
#: Names of models that are kept; some endpoints list thousands.
MOST_NAMES = 1000


@dataclass(frozen=True, slots=True)
class ProviderCheck:
    """The result of a test; ``words`` say what was found, or what was wrong and what to do.

    The parts are True, False, or None where it did not come to them: the server responds, the key
    is accepted, the model answers, its answer had the requested form (``structured``: ``a JSON
    schema``, ``any JSON object`` or empty), and it came with log-probabilities. ``models`` are
    those that the endpoint lists.
    """

    ok: bool
    words: str
    reachable: bool | None = None
    key_accepted: bool | None = None
    answers: bool | None = None
    structured: str | None = None
    logprobs: bool | None = None
    models: tuple[str, ...] = ()


def check_provider(provider: Provider, model: ModelSpec | None = None) -> ProviderCheck:
    """Test ``provider``, saved or not, within 20 seconds: ask for its list of models, and ``model``
    (by default its first one) a tiny question. Do not call it in an event loop.
    """
    if provider.kind == Provider.Kind.OFFLINE:
        return ProviderCheck(
            ok=True, words=gettext("Built in and always available. It is not a language model.")
        )
    if model is None and provider.pk:
        model = provider.models.first()
    changed = _with_short_timeouts(provider)
    spec = model or ModelSpec(name="-")
    spec.provider = changed
    try:
        return asyncio.run(asyncio.wait_for(_check(spec, asks=model is not None), BOUND))
    except TimeoutError:
        return ProviderCheck(ok=False, words=_no_answer(provider))
    except LabelhubError as error:
        return ProviderCheck(ok=False, words=error.message)


class _Unsaved(Memory):
    """Keeps what is learnt about a model that is in no database on its object only."""

    async def learn(self, spec: ModelSpec, capability: Capability) -> None:
        setattr(spec, capability.field, capability.value)


async def _check(spec: ModelSpec, *, asks: bool) -> ProviderCheck:
    provider = spec.provider
    patience = Patience(attempts=1, total_wait=0)
    memory = Memory() if spec.pk else _Unsaved()
    async with Gateway.open([spec], patience=patience, memory=memory) as gateway:
        names: tuple[str, ...] = ()
        if preset_of(provider).lists or not asks:
            found = await gateway.model_names(provider)
            if isinstance(found, Failure) and not (asks and found.status in NO_LIST):
                return _refused(found, provider)
            names = tuple(found[:MOST_NAMES]) if isinstance(found, list) else ()
        if not asks:
            listed = names if preset_of(provider).lists else ()
            return ProviderCheck(
                ok=True,
                words=_listed_words(listed),
                reachable=True,
                key_accepted=True,
                models=listed,
            )
        try:
            if spec.purpose == ModelSpec.Purpose.EMBEDDING:
                await gateway.embed(spec, ["yes"])
                return ProviderCheck(
                    ok=True,
                    words=gettext("'%(model)s' makes embeddings.") % {"model": spec.name},
                    reachable=True,
                    key_accepted=True,
                    answers=True,
                    models=names,
                )
            answer = await gateway.complete(spec, _tiny_question())
        except LabelhubError as error:
            # A list of models shows that the server is there, and that it takes the key.
            known = bool(names) or None
            return ProviderCheck(
                ok=False,
                words=error.message,
                reachable=known,
                key_accepted=known,
                answers=False,
                models=names,
            )
    return ProviderCheck(
        ok=True,
        words=gettext("'%(model)s' answers.") % {"model": spec.name},
        reachable=True,
        key_accepted=True,
        answers=True,
        structured=_form_of(answer),
        logprobs=bool(answer.logprobs),
        models=names,
    )


def _with_short_timeouts(provider: Provider) -> Provider:
    """The same provider with time-outs short enough for a page."""
    changed = copy(provider)
    changed.pk = provider.pk or 0
    changed.connect_timeout = min(provider.connect_timeout, BOUND / 4)
    changed.read_timeout = min(provider.read_timeout, BOUND / 2)
    return changed


def _refused(failure: Failure, provider: Provider) -> ProviderCheck:
    place = error_messages.place_of(provider)
    if failure.cause is Cause.NO_CONNECTION:
        words = gettext(
            "No connection to %(place)s. Check that it runs and that the base URL is right."
        )
        return ProviderCheck(ok=False, words=words % {"place": place}, reachable=False)
    if failure.cause is Cause.TIMED_OUT:
        return ProviderCheck(ok=False, words=_no_answer(provider), reachable=False)
    if failure.status in (401, 403):
        words = gettext(
            "Wrong key: %(place)s refuses it with status %(status)s (key: %(key)s). Copy the key "
            "again, or create a new one."
        )
        words %= {
            "place": place,
            "status": failure.status,
            "key": error_messages.key_words(provider),
        }
        return ProviderCheck(ok=False, words=words, reachable=True, key_accepted=False)
    if failure.status == 404:
        words = gettext(
            "A server answers at %(place)s, but has no models. The base URL may lack '/v1'."
        )
        return ProviderCheck(ok=False, words=words % {"place": place}, reachable=True)
    if failure.status == 429:
        words = gettext(
            "Reachable, but %(place)s refuses calls now: too many requests, or the quota is used "
            "up."
        )
        return ProviderCheck(ok=False, words=words % {"place": place}, reachable=True)
    words = gettext("Not usable: %(place)s answers %(answer)s.")
    words %= {"place": place, "answer": failure.note or failure.status}
    return ProviderCheck(ok=False, words=words, reachable=True)


def _listed_words(names: tuple[str, ...]) -> str:
    if not names:
        return gettext("Reachable, but it lists no models. Enter the name of one and test again.")
    words = ngettext(
        "Reachable, %(n)s model: %(names)s.", "Reachable, %(n)s models: %(names)s.", len(names)
    )
    shown = f"{', '.join(names[:8])}{' …' if len(names) > 8 else ''}"
    return words % {"n": count_words(len(names)), "names": shown}


def _no_answer(provider: Provider) -> str:
    words = gettext("No answer from %(place)s within %(seconds)s s.")
    return words % {"place": error_messages.place_of(provider), "seconds": f"{BOUND:g}"}


def _tiny_question() -> Call:
    """A question whose answer may be asked for as JSON, with log-probabilities."""
    return Call(
        "check",
        "check",
        (Message("user", "Answer with the one word yes."),),
        "",
        schema_from_names("single", ["yes", "no"]),
        "",
        params={"max_tokens": 30, "temperature": 0, "logprobs": True},
        fields=(AnswerField.LABEL,),
        json_messages=(Message("user", 'Answer with this JSON object: {"label": "yes"}'),),
    )


def _form_of(answer: Completion) -> str:
    """The form that the endpoint was asked for and that the answer has; empty if none."""
    form = answer.effective_params.get("response_format") or {}
    try:
        has_form = isinstance(json.loads(answer.text), dict)
    except ValueError:
        has_form = False
    if not has_form or not form:
        return ""
    schema = form.get("type") == "json_schema"
    return gettext_noop("a JSON schema") if schema else gettext_noop("any JSON object")
