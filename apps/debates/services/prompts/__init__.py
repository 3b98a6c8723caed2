"""Prompts as a project uses them: versions, variants of its own, what they render to, trials."""

from apps.debates.services.prompts.library import (
    Version,
    key_of,
    listed,
    prompt_called,
    protocol_of,
    version_called,
    versions,
)
from apps.debates.services.prompts.rendering import Rendering, rendering
from apps.debates.services.prompts.variants import (
    Checked,
    checked_draft,
    draft_variant,
    make_variant,
    preview_trial,
    retire_variant,
    start_trial,
    trial_plans,
    trial_roles,
    warnings_about,
)

__all__ = [
    "Checked",
    "Rendering",
    "Version",
    "checked_draft",
    "draft_variant",
    "key_of",
    "listed",
    "make_variant",
    "preview_trial",
    "prompt_called",
    "protocol_of",
    "rendering",
    "retire_variant",
    "start_trial",
    "trial_plans",
    "trial_roles",
    "version_called",
    "versions",
    "warnings_about",
]
