"""Messages: made of the ledger and signed when they are sent, and not stored.

They have ids, values, annotators and links. The text of an item is included only where the webhook
asks for it, and never where an author wrote it.

Secrets and signatures follow the Standard Webhooks specification, version 1.0.0 (symmetric,
``v1``): ``{id}.{timestamp}.{body}`` is signed with HMAC-SHA256; a secret is written as ``whsec_``
and base64. While a secret is being replaced, both secrets sign, and receivers accept either.
"""

import base64
import hashlib
import hmac
import json
import secrets
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.urls import reverse

from apps.authors.models import Question
from apps.common.sealing import seal, unseal
from apps.debates.models import Debate, Run
from apps.exchange.models import Delivery, SavedExport, Webhook
from apps.exchange.webhooks.event_feed import ADJUDICATED, PING
from apps.labels.models import Annotator, Gold, Label
from apps.projects.models import ImportBatch, Item

PREFIX = "whsec_"
SECRET_BYTES = 32


def message_id(delivery: Delivery) -> str:
    """The id of a message, the same for every attempt and replay."""
    return f"msg_{delivery.uid.hex}"


def body_of(webhook: Webhook, delivery: Delivery) -> bytes:
    """The message as it is sent and signed.

    Raises:
        ObjectDoesNotExist: what it is about was deleted meanwhile.
    """
    message = {
        "id": message_id(delivery),
        "event": delivery.event,
        "created_at": delivery.event_at.isoformat(),
        "project": {"slug": webhook.project.slug, "name": webhook.project.name},
        "data": _data(webhook, delivery),
    }
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def _data(webhook: Webhook, delivery: Delivery) -> dict[str, Any]:
    if delivery.event == PING:
        return {"message": "This is a test: nothing has happened."}
    if delivery.label_id is not None:
        data = _label_data(webhook, delivery.label_id)
        if delivery.event == ADJUDICATED:
            # An expert's label that settles that there is no gold has the form of a decision.
            return {"gold": None, "decided_by": data.pop("annotator"), **data}
        return data
    if delivery.gold_id is not None:
        return _gold_data(webhook, delivery.gold_id)
    if delivery.batch_id is not None:
        return _import_data(webhook, ImportBatch.objects.get(pk=delivery.batch_id))
    if delivery.export_id is not None:
        return _export_data(webhook, SavedExport.objects.get(pk=delivery.export_id))
    return _run_data(webhook, Run.objects.get(webhook_deliveries=delivery))


def _label_data(webhook: Webhook, label_id: int) -> dict[str, Any]:
    related = ("item", "annotator", "schema", "supersedes", "shown", "proposed_from")
    label = Label.objects.select_related(*related).get(pk=label_id)
    return {
        "label": {
            "uid": str(label.uid),
            "value": label.value,
            "abstained": label.abstained,
            "withdrawn": label.withdrawn,
            "rejected": label.rejected,
            "action": label.action,
            "confidence": label.confidence,
            "seconds": label.seconds,
            "schema_version": label.schema.version,
            "run": str(label.run_uid) if label.run_uid else None,
            "replicate": label.replicate,
            "supersedes": _uid(label.supersedes),
            "shown": _uid(label.shown),
            "proposed_from": _uid(label.proposed_from),
            "created_at": label.created_at.isoformat(),
        },
        "annotator": _annotator(label.annotator),
        "item": _item_data(webhook, label.item),
    }


def _gold_data(webhook: Webhook, gold_id: int) -> dict[str, Any]:
    related = ("item", "decided_by", "schema", "supersedes")
    gold = Gold.objects.select_related(*related).get(pk=gold_id)
    return {
        "gold": {
            "uid": str(gold.uid),
            "value": gold.value,
            "withdrawn": gold.withdrawn,
            "basis": gold.basis,
            "evidence": gold.evidence,
            "schema_version": gold.schema.version,
            "supersedes": _uid(gold.supersedes),
            "created_at": gold.created_at.isoformat(),
        },
        "decided_by": _annotator(gold.decided_by) if gold.decided_by else None,
        "item": _item_data(webhook, gold.item),
    }


def _run_data(webhook: Webhook, run: Run) -> dict[str, Any]:
    slug = webhook.project.slug
    counted = Debate.objects.filter(run=run).order_by().values_list("status")
    return {
        "run": {
            "id": run.pk,
            "uid": str(run.uid),
            "protocol": run.protocol,
            "status": run.status,
            "trial": run.trial,
            "replicates": run.replicates,
            "debates": dict(counted.annotate(n=Count("pk"))),
            "cost_nanousd": run.cost_nanousd,
            "tokens_in": run.tokens_in,
            "tokens_out": run.tokens_out,
            "created_at": run.created_at.isoformat(),
            "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        },
        "links": {
            "page": _link(webhook, "run_detail", slug, run.pk),
            "api": _link(webhook, "api_run", run.pk),
        },
    }


def _import_data(webhook: Webhook, batch: ImportBatch) -> dict[str, Any]:
    slug = webhook.project.slug
    return {
        "import": {
            "id": batch.pk,
            "file": batch.file_name,
            "status": batch.status,
            "message": batch.message,
            "rows": batch.rows_done,
            **{name: getattr(batch, name) for name in ImportBatch.COUNTS},
            "created_at": batch.created_at.isoformat(),
            "finished_at": batch.finished_at.isoformat() if batch.finished_at else None,
        },
        "links": {
            "page": _link(webhook, "import_detail", slug, batch.pk),
            "api": _link(webhook, "api_import_detail", slug, batch.pk),
        },
    }


def _export_data(webhook: Webhook, export: SavedExport) -> dict[str, Any]:
    slug = webhook.project.slug
    return {
        "export": {
            "id": export.pk,
            "uid": str(export.uid),
            "file": export.file_name,
            "format": export.format,
            "status": export.status,
            "message": export.message,
            "items": export.items_done,
            "bytes": export.size,
            "sha256": export.sha256,
            "created_at": export.created_at.isoformat(),
            "finished_at": export.finished_at.isoformat() if export.finished_at else None,
        },
        "links": {
            "page": _link(webhook, "saved_list", slug),
            "api": _link(webhook, "api_saved_export", slug, export.pk),
        },
    }


def _item_data(webhook: Webhook, item: Item) -> dict[str, Any]:
    slug = webhook.project.slug
    data: dict[str, Any] = {
        "id": item.external_id,
        "links": {
            "page": _link(webhook, "item_detail", slug, item.pk),
            "api": _link(webhook, "api_item", item.pk),
        },
    }
    if webhook.with_text and not Question.objects.filter(item=item).exists():
        data["text"] = item.text
    return data


def _annotator(annotator: Annotator) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": annotator.kind, "name": annotator.name}
    return data | {"offline": True, "note": "not an LLM"} if annotator.offline else data


def _uid(row: Label | Gold | None) -> str | None:
    return str(row.uid) if row else None


def _link(webhook: Webhook, name: str, *parts: Any) -> str:
    return webhook.origin + reverse(name, args=parts)


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sealed(secret: str) -> bytes:
    return seal(secret.encode())


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def signed_headers(webhook: Webhook, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """The headers that prove that a message is ours.

    Raises:
        CannotOpen: the server no longer has the key that sealed the secret.
    """
    kept = [webhook.secret]
    if webhook.old_secret and webhook.old_secret_until and webhook.old_secret_until > now:
        kept.append(webhook.old_secret)
    timestamp = int(now.timestamp())
    plain = [unseal(secret).decode() for secret in kept]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(
            signature(secret, message_id, timestamp, body) for secret in plain
        ),
    }
