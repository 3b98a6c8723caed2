"""The prompts of a project: versions, variants, rendering, trials."""

from apps.debates.services.prompts.library import (
    Version,
    find_prompt,
    find_version,
    key_of,
    list_prompts,
    list_versions,
    protocol_of,
)
from apps.debates.services.prompts.rendering import Rendering, render_prompt
from apps.debates.services.prompts.variants import (
    CheckedDraft,
    check_draft,
    draft_variant,
    preview_trial,
    retire_variant,
    save_variant,
    start_trial,
    trial_plans,
    trial_roles,
    warnings_about,
)

__all__ = [
    "CheckedDraft",
    "Rendering",
    "Version",
    "check_draft",
    "draft_variant",
    "find_prompt",
    "find_version",
    "key_of",
    "list_prompts",
    "list_versions",
    "preview_trial",
    "protocol_of",
    "render_prompt",
    "retire_variant",
    "save_variant",
    "start_trial",
    "trial_plans",
    "trial_roles",
    "warnings_about",
]
