"""What makes two runs the same: what is asked of models, and all that was asked for."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from apps.debates.services.casting import Cast
from apps.debates.services.plans import RunPlan
from apps.projects.models import Guideline, LabelSchema


def spec_hash(
    plan: RunPlan, cast: Mapping[str, Cast], schema: LabelSchema, guideline: Guideline | None
) -> str:
    """Of everything that decides what a run's models are asked; ``plan`` complete."""
    spec = {
        "protocol": plan.protocol,
        "settings": dict(plan.settings),
        "params": dict(plan.params),
        "roles": {
            role: {
                "provider": each.model.provider.name,
                "model": each.model.name,
                "prompt": each.prompt.hash,
            }
            for role, each in cast.items()
        },
        "schema": schema.definition,
        "guideline": guideline.text if guideline else "",
    }
    return _hash(spec)


def plan_hash(
    plan: RunPlan, cast: Mapping[str, Cast], schema: LabelSchema, guideline: Guideline | None
) -> str:
    """Of all that was asked for but the budget, which may be raised; ``plan`` complete."""
    asked = {
        "spec": spec_hash(plan, cast, schema, guideline),
        "models": {role: each.model.identity for role, each in cast.items()},
        "limit": plan.limit,
        "items": None if plan.item_ids is None else list(plan.item_ids),
        "only_unlabelled": plan.only_unlabelled,
        "replicates": plan.replicates,
        "reuse_answers": plan.reuse_answers,
        "trial": plan.trial,
    }
    return _hash(asked)


def _hash(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
