"""The complete debates of a run as JSON lines, for archives and other programs."""

import json
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.http import StreamingHttpResponse
from rest_framework.utils.encoders import JSONEncoder

from apps.accounts.models import User
from apps.common.audit import Action, record
from apps.debates import selectors
from apps.debates.conversation.summary import gold_of, verdict_of
from apps.debates.models import Debate, Run, Turn

#: The fields of a debate and of a turn in REST and files, in order.
DEBATE_FIELDS = (
    "id", "run", "item", "item_external_id", "replicate", "status", "value", "gold", "uncertainty",
    "signals", "flags", "reasons", "error", "finished_at",
)  # fmt: skip
TURN_FIELDS = (
    "id", "step", "attempt", "role", "model", "model_answered", "prompt", "messages",
    "params_asked", "params_effective", "text", "reasoning", "value", "evidence", "ranking",
    "probabilities", "off_menu", "status", "rung", "note", "finish_reason", "tokens_in",
    "tokens_out", "tokens_cached", "tokens_reasoning", "usage_estimated", "cost_usd", "seconds",
    "attempts", "call_key", "reused", "created_at",
)  # fmt: skip


def transcript_lines(run: Run, user: User | AnonymousUser | None = None) -> Iterator[bytes]:
    """Each debate as in ``debates/{id}/``, with the item's text; only debates that ``user`` may
    see (None: all)."""
    for debate in selectors.all_with_turns(run, user):
        row = _debate(debate) | {"text": debate.item.text}
        yield json.dumps(row, cls=JSONEncoder, ensure_ascii=False).encode() + b"\n"


def transcript_response(run: Run, user: User | AnonymousUser) -> StreamingHttpResponse:
    """The transcripts as a streamed download."""
    lines = transcript_lines(run, user)
    with transaction.atomic():
        record(Action.EXPORT_DOWNLOADED, run, changes={"format": (None, "transcripts")})
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    name = f"{run.project.slug}-run-{run.pk}.debates.jsonl"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _debate(debate: Debate) -> dict[str, Any]:
    gold = gold_of(debate)
    known = {
        "run": debate.run_id,
        "item": debate.item_id,
        "item_external_id": debate.item.external_id,
        "value": verdict_of(debate),
        "gold": gold.value if gold else None,
    }
    return _fields(debate, DEBATE_FIELDS, known) | {
        "turns": [
            _fields(
                turn,
                TURN_FIELDS,
                {
                    "model": turn.model.name,
                    "prompt": turn.prompt.hash,
                    "cost_usd": None if turn.cost_nanousd is None else turn.cost_nanousd / 1e9,
                },
            )
            for turn in debate.turns.all()
        ]
    }


def _fields(row: Debate | Turn, names: tuple[str, ...], known: dict[str, Any]) -> dict[str, Any]:
    return {name: known[name] if name in known else getattr(row, name) for name in names}
