"""What a site's own server is told for its downstream task, and what it tells of it."""

from typing import Any

from rest_framework import serializers

from apps.authors.api.messages import LONGEST_REF, PostedSerializer, SubjectField
from apps.authors.models import Site
from apps.authors.services.site_config import config_of
from apps.echo.api.serializers import FiniteField
from apps.echo.models import Decision, Selection
from apps.echo.services.ranking import selected_of


class SelectedFeatureSerializer(serializers.Serializer[Any]):
    """One of the k features that go downstream, as it is expected of the message."""

    key = serializers.CharField()
    name = serializers.CharField()
    value = serializers.CharField(help_text="One of the feature's values, or a word.")
    probability = serializers.FloatField(help_text="How likely the value is right.")
    relevance = serializers.FloatField(
        help_text="What being right about it adds to the log-odds of success, as expected."
    )


class SelectionSerializer(serializers.Serializer[Any]):
    """What Echo made of one message."""

    id = serializers.UUIDField(help_text="Rewards name it.")
    number = serializers.IntegerField(
        help_text="The newest event that was learnt from by then: which state chose."
    )
    at = serializers.DateTimeField()
    features = SelectedFeatureSerializer(many=True, help_text="The most relevant first.")


class SelectionPostedSerializer(PostedSerializer):
    """What became of the message so far; ``selection`` is null while the models are asked
    (``message.status`` is ``received``), and of what was dropped before any feature was looked
    at."""

    selection = SelectionSerializer(allow_null=True)


class MessageQuerySerializer(serializers.Serializer[Any]):
    """Which message; without ``author`` the one that had the id within the last day."""

    id = serializers.CharField(max_length=LONGEST_REF, help_text="As you or the page gave it.")
    author = SubjectField(required=False, default="", help_text="Your id for them.")


class ToldRewardSerializer(serializers.Serializer[Any]):
    """What became of a selection at your task."""

    id = serializers.CharField(
        max_length=200, help_text="Yours; the same again for a selection is the same reward."
    )
    value = FiniteField(min_value=0, max_value=1, help_text="0 (of no use) to 1.")


class OfferHelpfulSerializer(serializers.Serializer[Any]):
    """The question whether it helped, and its two answers, in the offer's language."""

    ask = serializers.CharField()
    yes = serializers.CharField()
    no = serializers.CharField()


class OfferSerializer(serializers.Serializer[Any]):
    """An offer as in the widget's ``offer`` frame."""

    oid = serializers.UUIDField()
    re = serializers.CharField(allow_blank=True, help_text="Id of the message.")
    conv = serializers.CharField(allow_blank=True)
    label = serializers.CharField(  # type: ignore[assignment]  # the name in the widget's frame
        help_text="Says that it is a recommendation; show it."
    )
    title = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    link = serializers.CharField()
    picture = serializers.CharField(allow_blank=True)
    price = serializers.CharField(allow_blank=True)
    lang = serializers.CharField()
    dir = serializers.ChoiceField(choices=["ltr", "rtl"])
    helpful = OfferHelpfulSerializer()
    why = serializers.CharField()
    expires = serializers.IntegerField(help_text="Milliseconds since 1970.")


class WaitingOfferSerializer(serializers.Serializer[Any]):
    """The offer that waits."""

    offer = OfferSerializer(allow_null=True)


class OfferEventSerializer(serializers.Serializer[Any]):
    """What became of an offer."""

    author = SubjectField(help_text="Your id for them.")
    id = serializers.CharField(
        max_length=LONGEST_REF, help_text="Yours; the same again is the same."
    )
    what = serializers.ChoiceField(choices=["shown", "click", "helpful", "unhelpful", "close"])


class OfferStateSerializer(serializers.Serializer[Any]):
    """Where an offer stands now."""

    oid = serializers.UUIDField()
    status = serializers.ChoiceField(choices=Decision.Status.choices)


def selection_told(selection: Selection | None, site: Site) -> dict[str, Any] | None:
    """A selection as its site's server is told of it.

    Args:
        selection: None where there is none.
        site: whose it is; its features' names are told.
    """
    if selection is None:
        return None
    known = {each.key: each for each in config_of(site).definitions}
    features = selected_of(selection, known)
    told = {
        "id": selection.uid,
        "number": selection.number,
        "at": selection.at,
        "features": features,
    }
    return dict(SelectionSerializer(told).data)
