"""What operators look up about sites and authors. Everything changes through pages and services, so
nothing is edited here; what was encrypted and what is secret is not shown."""

from django.contrib import admin

from apps.authors.models import (
    Answer,
    Author,
    Erasure,
    Event,
    Message,
    Payout,
    Question,
    Reward,
    Site,
)
from apps.common.readonly import ReadOnlyAdmin


@admin.register(Site)
class SiteAdmin(ReadOnlyAdmin):
    list_display = ["name", "project", "public_key", "enabled", "identity", "created_at"]
    list_filter = ["enabled", "identity", "keep_text"]
    list_select_related = ["project"]
    search_fields = ["name", "public_key", "project__slug"]


@admin.register(Author)
class AuthorAdmin(ReadOnlyAdmin):
    list_display = ["pseudonym", "site", "subject", "trusted", "ruling", "opted_out_at", "seen_at"]
    list_filter = ["trusted", "ruling"]
    list_select_related = ["site"]
    search_fields = ["=uid", "=subject"]
    exclude = ["token_digest", "network"]


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    """Messages without personal data, with the stages they passed."""

    list_display = ["id", "author", "role", "status", "dropped_at", "reason", "received_at"]
    list_filter = ["status", "dropped_at", "role"]
    list_select_related = ["author"]
    search_fields = ["=id", "=ref"]
    exclude = ["sealed", "fingerprint"]


@admin.register(Question)
class QuestionAdmin(ReadOnlyAdmin):
    list_display = ["id", "site", "feature", "text", "language", "source", "status", "created_at"]
    list_filter = ["status", "kind", "source", "language"]
    list_select_related = ["site", "feature"]
    search_fields = ["=uid"]


@admin.register(Answer)
class AnswerAdmin(ReadOnlyAdmin):
    list_display = ["id", "question", "outcome", "value", "server_ms", "timing", "received_at"]
    list_filter = ["outcome", "timing", "late"]
    list_select_related = ["question"]
    search_fields = ["=id", "=label_uid"]


@admin.register(Reward)
class RewardAdmin(ReadOnlyAdmin):
    list_display = ["id", "site", "author", "cents", "currency", "due_at", "void_at", "payout"]
    list_select_related = ["site", "author", "payout"]
    search_fields = ["=id", "=author__subject"]


@admin.register(Payout)
class PayoutAdmin(ReadOnlyAdmin):
    list_display = ["id", "site", "cents", "rewards", "created_by", "created_at"]
    list_select_related = ["site", "created_by"]


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ["id", "site", "author", "kind", "at"]
    list_filter = ["kind"]
    list_select_related = ["site", "author"]


@admin.register(Erasure)
class ErasureAdmin(ReadOnlyAdmin):
    """Proofs of deletion; they tell how much, and not whose."""

    list_display = ["receipt", "site", "removed", "erased_at"]
    list_select_related = ["site"]
    search_fields = ["=receipt"]
