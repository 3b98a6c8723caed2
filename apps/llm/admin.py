"""Admin pages of models. Prompts are read only, as they were used."""

from django.contrib import admin
from django.http import HttpRequest

from apps.common.readonly import ReadOnlyAdmin, RecordedAdmin
from apps.llm.forms import ProviderForm
from apps.llm.models import DailyUse, ModelSpec, PromptVersion, Provider


@admin.register(Provider)
class ProviderAdmin(RecordedAdmin):
    """Endpoints; the same checks of address and key name as on their page."""

    form = ProviderForm
    list_display = [
        "name",
        "kind",
        "base_url",
        "api_key_env",
        "max_concurrency",
        "rpm",
        "tpm",
        "created_at",
    ]
    list_filter = ["kind"]
    search_fields = ["name", "base_url"]
    readonly_fields = ["learnt_limits", "created_at"]

    def has_change_permission(self, request: HttpRequest, obj: Provider | None = None) -> bool:
        """Addresses decide where the server connects to: superusers only, and not the built-in."""
        builtin = obj is not None and obj.kind == Provider.Kind.OFFLINE
        return request.user.is_superuser and not builtin

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Superusers only, for the same reason."""
        return request.user.is_superuser


@admin.register(ModelSpec)
class ModelSpecAdmin(RecordedAdmin):
    """Models with their prices and what was learnt about them."""

    list_display = [
        "name",
        "provider",
        "purpose",
        "price_in",
        "price_out",
        "priced_at",
        "structured",
        "takes_temperature",
        "max_tokens_param",
        "system_role",
    ]
    list_filter = ["provider", "purpose", "structured", "takes_temperature", "max_tokens_param"]
    list_select_related = ["provider"]
    search_fields = ["name", "provider__name"]
    readonly_fields = ["priced_at", "learnt", "created_at"]


@admin.register(DailyUse)
class DailyUseAdmin(ReadOnlyAdmin):
    """The use of daily limits. Read only, as it is counted."""

    list_display = ["provider", "day", "requests", "tokens"]
    list_filter = ["provider"]
    list_select_related = ["provider"]
    date_hierarchy = "day"


@admin.register(PromptVersion)
class PromptVersionAdmin(ReadOnlyAdmin):
    """Prompts as they were when first used. Read only: a run must stay readable as it was."""

    list_display = ["name", "short_hash", "created_at"]
    list_filter = ["name"]
    search_fields = ["name", "hash", "body"]
    date_hierarchy = "created_at"

    @admin.display(description="version")
    def short_hash(self, prompt: PromptVersion) -> str:
        """The first digits of the hash, as shown elsewhere."""
        return prompt.hash[:12]
