"""A test of a provider with real calls: what was asked, what came back, and what to do."""

import asyncio
import html
import json
import re
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace

from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_noop, ngettext

from apps.common.figures import count_words, duration
from apps.llm.addresses import host_of
from apps.llm.call_metrics import Use
from apps.llm.capabilities import Capability
from apps.llm.failures import (
    NO_TLS,
    UNKNOWN_HOST,
    UNTRUSTED,
    Cause,
    Failure,
    Verdict,
    judge,
    resume_after,
    retry_after,
)
from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec, Provider
from apps.llm.presets import preset_of
from apps.llm.retry import Patience
from apps.llm.traffic import Memory
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.types import AnswerField, Call, Completion, Message
from labelhub.core.schema import schema_from_names

#: Seconds for the whole test, as a page waits for it.
BOUND = 20.0
#: Statuses of endpoints that can chat but do not list models.
NO_LIST = (404, 405, 501)
#: Names of models that are kept; some endpoints list thousands.
MOST_NAMES = 1000
#: Characters of a foreign message that are shown.
LONGEST_QUOTE = 160
_TITLE = re.compile(r"<title[^>]*>([^<]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProviderCheck:
    """The result of a test: what was ``found``, and after a failure some ``advice`` and one line
    of the endpoint's own message.

    The parts are True, False, or None where it did not come to them: the server responds, the key
    is accepted, the model answers, its answer had the requested form (``structured``: ``a JSON
    schema``, ``any JSON object`` or empty), and it came with log-probabilities. ``models`` are
    those that the endpoint lists.
    """

    ok: bool
    found: str
    advice: str = ""
    quote: str = ""
    reachable: bool | None = None
    key_accepted: bool | None = None
    answers: bool | None = None
    structured: str | None = None
    logprobs: bool | None = None
    models: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Everything that was found, as one line."""
        return " ".join(part for part in (self.found, self.advice, self.quote) if part)


def check_provider(provider: Provider, model: ModelSpec | None = None) -> ProviderCheck:
    """Test ``provider``, saved or not, within 20 seconds: ask for its list of models, and ``model``
    (by default its first one) a tiny question. Do not call it in an event loop.
    """
    if provider.kind == Provider.Kind.OFFLINE:
        return ProviderCheck(
            ok=True, found=gettext("Built in and always available. It is not a language model.")
        )
    if model is None and provider.pk:
        model = provider.models.first()
    spec = model or ModelSpec(name="-")
    spec.provider = _with_short_timeouts(provider)
    try:
        return asyncio.run(asyncio.wait_for(_check(spec, asks=model is not None), BOUND))
    except TimeoutError:
        return _describe(Failure(Cause.TIMED_OUT), _Question(spec, "/models", BOUND))
    except LabelhubError as error:
        return ProviderCheck(ok=False, found=error.message)


class _Unsaved(Memory):
    """Keeps what is learnt about a model that is in no database on its object only."""

    async def learn(self, spec: ModelSpec, capability: Capability) -> None:
        setattr(spec, capability.field, capability.value)

    async def add_use(self, provider: Provider, use: Use) -> None:
        """Nothing: there is no provider yet to count it for."""


async def _check(spec: ModelSpec, *, asks: bool) -> ProviderCheck:
    provider, seconds = spec.provider, spec.provider.connect_timeout + spec.provider.read_timeout
    patience = Patience(attempts=1, total_wait=0)
    memory = Memory() if spec.pk and spec.provider.pk else _Unsaved()
    async with Gateway.open([spec], patience=patience, memory=memory) as gateway:
        names: tuple[str, ...] = ()
        lists = preset_of(provider).lists
        if lists or not asks:
            found = await gateway.model_names(provider)
            if isinstance(found, Failure) and not (asks and found.status in NO_LIST):
                return _describe(found, _Question(spec, "/models", seconds))
            names = tuple(found[:MOST_NAMES]) if lists and isinstance(found, list) else ()
        result = ProviderCheck(
            ok=True, found=_listed_words(names), reachable=True, key_accepted=True, models=names
        )
        if not asks:
            return result
        embeds = spec.purpose == ModelSpec.Purpose.EMBEDDING
        try:
            if embeds:
                await gateway.embed(spec, ["yes"])
                words = gettext("'%(model)s' makes embeddings.") % {"model": spec.name}
                return replace(result, found=words, answers=True)
            answer = await gateway.complete(spec, _tiny_question())
        except ModelError as error:
            path = "/embeddings" if embeds else "/chat/completions"
            # A list of models shows that the server is there, and that it takes the key.
            known = bool(names) or None
            failed = ProviderCheck(ok=False, found=error.message)
            if isinstance(error.failure, Failure):
                failed = _describe(error.failure, _Question(spec, path, seconds))
            return replace(
                failed,
                reachable=known or failed.reachable,
                key_accepted=known if failed.key_accepted is None else failed.key_accepted,
                answers=False,
                models=names,
            )
    return replace(
        result,
        found=gettext("'%(model)s' answers.") % {"model": spec.name},
        answers=True,
        structured=_form_of(answer),
        logprobs=bool(answer.logprobs),
    )


def _with_short_timeouts(provider: Provider) -> Provider:
    """The same provider with time-outs short enough for a page."""
    changed = copy(provider)
    changed.pk = provider.pk or 0
    changed.connect_timeout = min(provider.connect_timeout, BOUND / 5)
    changed.read_timeout = min(provider.read_timeout, BOUND * 3 / 5)
    return changed


@dataclass(frozen=True, slots=True)
class _Question:
    """What was asked: ``path`` of the provider of ``spec``, at most ``seconds`` long."""

    spec: ModelSpec
    path: str
    seconds: float

    @property
    def url(self) -> str:
        """The address that was asked."""
        base, path = self.spec.provider.base_url, self.path
        if self.spec.provider.kind == Provider.Kind.AZURE:
            base = base.removesuffix("/openai") + "/openai"
            path = path if path == "/models" else f"/deployments/{self.spec.name}{path}"
        return f"{base}{path}"

    def fill_in(self, words: str, **more: object) -> str:
        """``words`` with what was asked."""
        host = host_of(self.spec.provider.base_url)
        return words % ({"url": self.url, "host": host, "model": self.spec.name} | more)


def _describe(failure: Failure, asked: _Question) -> ProviderCheck:
    """The result of a question that ended in ``failure``."""
    describe: Callable[[Failure, _Question], tuple[str, str]] = _describe_answer
    if failure.cause in (Cause.NO_CONNECTION, Cause.TIMED_OUT, Cause.BROKEN_OFF):
        describe = _describe_silence
    elif failure.status in (401, 402, 403, 429):
        describe = _describe_refusal
    found, advice = describe(failure, asked)
    return ProviderCheck(
        ok=False,
        found=asked.fill_in(found, status=failure.status, location=_location(failure)),
        advice=advice,
        quote="" if failure.cause is Cause.MALFORMED else _quote(failure.message),
        reachable=failure.cause not in (Cause.NO_CONNECTION, Cause.TIMED_OUT),
        key_accepted=False if failure.status in (401, 403) else None,
    )


def _describe_silence(failure: Failure, asked: _Question) -> tuple[str, str]:
    """What to say without an answer, and the advice."""
    if failure.code == UNKNOWN_HOST:
        return gettext("There is no server named %(host)s."), gettext(
            "Correct the base URL, or the name service of the machine that LabelHub runs on."
        )
    if failure.code == UNTRUSTED:
        return gettext("The certificate of %(host)s is not trusted."), gettext(
            "Give the server a valid certificate, or make LabelHub's machine trust this one."
        )
    if failure.code == NO_TLS:
        return gettext("%(host)s does not speak TLS."), gettext(
            "Begin the base URL with http:// or correct its port."
        )
    if failure.cause is Cause.NO_CONNECTION:
        return gettext("No connection to %(host)s."), gettext(
            "Start the server, or correct host and port of the base URL. In a container, 127.0.0.1 "
            "is the container itself."
        )
    if failure.cause is Cause.BROKEN_OFF:
        return gettext("%(host)s closed the connection without an answer."), gettext(
            "Read the log of the server. If it speaks TLS, begin the base URL with https://."
        )
    words = gettext("%(host)s did not answer within %(seconds)s s.")
    if asked.path != "/models":
        words = gettext("'%(model)s' did not answer within %(seconds)s s.")
    return words.replace("%(seconds)s", f"{asked.seconds:g}"), gettext(
        "The model may still be loading: test again in a minute."
    )


def _describe_refusal(failure: Failure, asked: _Question) -> tuple[str, str]:
    """What to say about a refused key or too many calls, and the advice."""
    if failure.status in (401, 403):
        return _describe_key(asked.spec.provider)
    now = time.time()
    if judge(failure, now=now) is Verdict.QUOTA:
        seconds = resume_after(failure, now=now)
        words = gettext("The quota at %(host)s is used up.")
        usual = gettext("Raise the quota or pay the bill of the provider.")
    else:
        seconds = retry_after(failure.headers, now=now)
        words = gettext("%(host)s refuses calls now, as there are too many.")
        usual = gettext("Test again in a minute.")
    again = gettext("Test again in %(time)s.") % {"time": duration(seconds)}
    return words, again if seconds else usual


def _describe_key(provider: Provider) -> tuple[str, str]:
    if provider.key_state == Provider.KeyState.NONE:
        words = gettext("%(host)s asks for a key (status %(status)s).")
        return words, gettext("Enter the key of this provider.")
    words = gettext("%(host)s refuses the key (status %(status)s).")
    advice = gettext("Copy the whole key again, or create a new one.")
    if provider.key_state == Provider.KeyState.VARIABLE:
        advice = gettext("Correct the environment variable %(name)s and restart LabelHub.")
        advice %= {"name": provider.api_key_env}
    return words, advice


def _describe_answer(failure: Failure, asked: _Question) -> tuple[str, str]:
    """What to say about an unusable answer, and the advice."""
    address = gettext(
        "Correct the base URL: the address before /chat/completions, mostly ending in /v1."
    )
    recovery = gettext("Read the log of the server. Once it has recovered, test again.")
    if 300 <= failure.status < 400:
        return gettext("%(url)s redirects to %(location)s."), gettext(
            "LabelHub follows no redirect, so that the key goes to no other server. Enter the base "
            "URL of the new address."
        )
    if failure.status == 404 and (asked.path == "/models" or _is_page(failure.message)):
        return gettext("%(url)s does not exist (status 404)."), address
    if failure.cause is Cause.MALFORMED:
        return gettext("%(url)s answers, but not like a model server."), address
    if judge(failure, now=time.time()) is Verdict.MODEL:
        return gettext("%(host)s has no model '%(model)s'."), gettext(
            "Choose a name that the provider lists, on Azure a deployment."
        )
    if failure.status >= 500:
        return gettext("%(url)s fails with status %(status)s."), recovery
    return gettext("%(url)s refuses the question with status %(status)s."), gettext(
        "The server says why, or its log does."
    )


def _location(failure: Failure) -> str:
    return _quote(failure.headers.get("location", "")) or gettext("another address")


def _is_page(message: str) -> bool:
    """Whether a message is a web page, mostly of a proxy or of another server."""
    return message.lstrip().startswith("<")


def _quote(message: str) -> str:
    """One line of a foreign message; of a web page its title."""
    if _is_page(message):
        message = html.unescape("".join(_TITLE.findall(message)[:1]))
    return Truncator(" ".join(message.split())).chars(LONGEST_QUOTE)


def _listed_words(names: tuple[str, ...]) -> str:
    if not names:
        return gettext("Reachable, but it lists no models. Enter the name of one and test again.")
    words = ngettext(
        "Reachable, %(n)s model: %(names)s.", "Reachable, %(n)s models: %(names)s.", len(names)
    )
    shown = f"{', '.join(names[:8])}{' …' if len(names) > 8 else ''}"
    return words % {"n": count_words(len(names)), "names": shown}


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
