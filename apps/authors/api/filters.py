"""What lists of messages, answers and rewards can be narrowed to."""

import django_filters
from django.db.models import QuerySet
from django.utils import timezone
from django_filters.rest_framework import BooleanFilter

from apps.authors.models import Answer, Message, Reward


class MessageFilter(django_filters.FilterSet):
    """``?status=&dropped_at=``."""

    status = django_filters.ChoiceFilter(choices=Message.Status.choices)
    dropped_at = django_filters.CharFilter(label="The stage that dropped it")

    class Meta:
        model = Message
        fields = ["status", "dropped_at"]


class AnswerFilter(django_filters.FilterSet):
    """``?outcome=&excluded=``."""

    outcome = django_filters.ChoiceFilter(choices=Answer.Outcome.choices)
    excluded = BooleanFilter(
        field_name="excluded_at", lookup_expr="isnull", exclude=True, label="Counts for nothing"
    )

    class Meta:
        model = Answer
        fields = ["outcome", "excluded"]


class RewardFilter(django_filters.FilterSet):
    """``?due=1``."""

    due = BooleanFilter(method="narrow_to_due", label="Can be paid now")

    class Meta:
        model = Reward
        fields = ["due"]

    def narrow_to_due(
        self,
        queryset: QuerySet[Reward],
        _name: str,
        due: bool,  # noqa: FBT001 - the signature of a filter method
    ) -> QuerySet[Reward]:
        """Those that a payout would take, or the others."""
        ready = Reward.objects.due(timezone.now()).values("pk")
        return queryset.filter(pk__in=ready) if due else queryset.exclude(pk__in=ready)
