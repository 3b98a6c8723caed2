"""The ledger: the labels and decisions of items. Append-only.

``Label`` and ``Gold`` rows are written by ``apps.labels.services`` alone and never changed; a
revision is a new row that names what it supersedes. ``ItemState`` is the one mutable row per item:
a summary that the same services keep in the same transaction, so that the queue needs no counting.
"""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.labels.querysets import GoldQuerySet, ItemStateQuerySet, LabelQuerySet
from apps.projects.models import Item, LabelSchema, Project, SchemaChange


class Kind(models.TextChoices):
    """The kinds of annotators, in their one fixed order."""

    LLM = "llm", "LLM"
    CROWD = "crowd", _("Crowd")
    EXPERT = "expert", _("Expert")
    AUTHOR = "author", _("Author")
    MODEL = "model", _("Model")


PEOPLE = (Kind.CROWD, Kind.EXPERT)
#: The kinds that make suggestions.
MACHINES = (Kind.LLM, Kind.MODEL)
#: Key in the provenance of a label: its item had a suggestion, but the item was not handed out, and
#: the client did not say whether the annotator saw it.
VIEW_UNKNOWN = "view_unknown"


class Annotator(models.Model):
    """Anyone or anything that labels in a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="annotators")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    name = models.CharField(max_length=200)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="annotators",
    )
    claimed = models.BooleanField(
        default=False, help_text="Is or was a user's; nobody else's, even once they are deleted."
    )
    offline = models.BooleanField(default=False, help_text="The built-in text matcher: not an LLM.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "kind", "name"], name="labels_annotator_once"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Label(models.Model):
    """What one annotator says of one item.

    ``value`` is canonical (see labelhub.core.schema), or None when the annotator abstains,
    withdraws, or only rejects the suggestion (``rejected``): neither an answer nor an abstention.
    ``uid`` travels through export and import and makes both idempotent.
    """

    class Action(models.TextChoices):
        NEW = "new", _("Labelled without a suggestion")
        ACCEPTED = "accepted", _("Accepted the suggestion")
        FIXED = "fixed", _("Fixed the suggestion")
        REJECTED = "rejected", _("Rejected the suggestion")
        PROPOSED = "proposed", _("Proposed by a debate")
        IMPORTED = "imported", _("Imported")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    class Role(models.TextChoices):
        """How the row counts. Gold, suggestions and imports go by this and never by provenance."""

        VOTE = "vote", _("Counts for its annotator")
        EXTRA = "extra", _("Given unasked: counts from experts only")
        GOLD_QUESTION = "gold_question", _("Answers a gold question: tells of the person alone")
        ADJUDICATION = "adjudication", _("Settles what others disagree on")
        UNCLEAR = "unclear", _("Settles that it cannot be told")
        ADVISORY = "advisory", _("An author's word that decides nothing")
        TRAINED = "trained", _("By a model trained on this project's gold: suggests nothing")
        # Kept beside the ledger: withdrawn rows that withdraw no label.
        SKIP = "skip", _("Left to others elsewhere")
        DRAFT = "draft", _("Begun elsewhere")
        EMPTY = "empty", _("Submitted elsewhere without an answer")

    #: Roles of labels by which an expert settles an item.
    SETTLING = (Role.ADJUDICATION, Role.UNCLEAR)
    #: Roles of rows that are kept aside and count for nothing.
    ASIDE = (Role.SKIP, Role.DRAFT, Role.EMPTY)

    uid = models.UUIDField(default=uuid.uuid4, editable=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="labels")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="labels")
    schema = models.ForeignKey(LabelSchema, on_delete=models.CASCADE, related_name="+")
    value = models.JSONField(null=True)
    abstained = models.BooleanField(default=False)
    withdrawn = models.BooleanField(default=False)
    rejected = models.BooleanField(
        default=False, help_text="Says only that the suggestion is wrong: no answer, no abstention."
    )
    action = models.CharField(max_length=10, choices=Action.choices)
    role = models.CharField(max_length=13, choices=Role.choices, default=Role.VOTE)
    confidence = models.FloatField(null=True, help_text="0 to 1, as stated by the annotator.")
    rationale = models.TextField(blank=True)
    evidence = models.JSONField(default=dict, blank=True, help_text="Label name → quoted phrases.")
    seconds = models.FloatField(null=True, help_text="Time the annotator took.")
    cost_nanousd = models.BigIntegerField(null=True)
    proposed_from = models.ForeignKey(
        "self", null=True, on_delete=models.CASCADE, related_name="led_to"
    )
    shown = models.ForeignKey(
        "self",
        null=True,
        db_index=False,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="The suggestion on the screen when they answered, whatever they answered.",
    )
    supersedes = models.OneToOneField(
        "self", null=True, on_delete=models.CASCADE, related_name="superseded_by"
    )
    change = models.ForeignKey(
        SchemaChange,
        null=True,
        db_index=False,
        on_delete=models.RESTRICT,  # rows of the ledger go with their project alone
        related_name="+",
        help_text="The change of labels that carried it over; it says what its predecessor said.",
    )
    run_uid = models.UUIDField(null=True, db_index=True, help_text="The run that proposed it.")
    replicate = models.PositiveSmallIntegerField(default=1)
    provenance = models.JSONField(
        default=dict,
        blank=True,
        help_text="Protocol, models, prompt hashes, guideline version, comment.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = LabelQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["item", "uid"], name="labels_label_uid_once"),
            models.CheckConstraint(
                condition=models.Q(rejected=False)
                | models.Q(
                    value__isnull=True, abstained=False, withdrawn=False, shown__isnull=False
                ),
                name="labels_label_rejection",
            ),
            models.CheckConstraint(
                condition=models.Q(role="vote")
                | models.Q(
                    role__in=["extra", "gold_question", "adjudication", "advisory", "trained"],
                    withdrawn=False,
                )
                | models.Q(role="unclear", withdrawn=False, abstained=True)
                | models.Q(
                    role__in=["skip", "draft", "empty"], withdrawn=True, supersedes__isnull=True
                ),
                name="labels_label_role",
            ),
        ]
        # Sums of costs and confidences need not read all labels.
        indexes = [
            models.Index(
                fields=["annotator", "withdrawn", "rejected", "seconds", "cost_nanousd"],
                condition=models.Q(seconds__isnull=False) | models.Q(cost_nanousd__isnull=False),
                name="labels_label_paid",
            ),
            models.Index(
                fields=["annotator"],
                condition=models.Q(confidence__isnull=False),
                name="labels_label_confidence",
            ),
            models.Index(
                fields=["change"],
                condition=models.Q(change__isnull=False),
                name="labels_label_change",
            ),
            models.Index(
                fields=["shown"],
                condition=models.Q(shown__isnull=False),
                name="labels_label_shown",
            ),
            models.Index(
                fields=["supersedes"],
                condition=models.Q(role__in=["adjudication", "unclear"]),
                name="labels_label_ruling",
            ),
            models.Index(
                fields=["annotator"],
                condition=models.Q(rejected=True),
                name="labels_label_rejected",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} on {self.item_id}"

    @property
    def settles(self) -> bool:
        """Whether an expert settled the item with it."""
        return self.role in self.SETTLING

    @property
    def is_aside(self) -> bool:
        """Whether it is kept beside the ledger and counts for nothing."""
        return self.role in self.ASIDE

    @property
    def action_words(self) -> str:
        """The annotator's action, and whether a suggestion was in view."""
        if self.rejected:
            return gettext("Rejected the suggestion, gave no label")
        unsure = self.abstained and self.action == self.Action.NEW
        if self.shown_id and self.action == self.Action.NEW:
            return (
                gettext("Unsure; a suggestion was shown")
                if unsure
                else gettext("Labelled; a suggestion was shown")
            )
        if self.provenance.get(VIEW_UNKNOWN):
            if unsure:
                return gettext("Unsure; unknown whether a suggestion was shown")
            return gettext("Labelled; unknown whether a suggestion was shown")
        return gettext("Unsure") if unsure else self.get_action_display()

    @property
    def value_words(self) -> str:
        """The value as people read it: a scale point by its name."""
        return self.schema.value_words(self.value)


class Gold(models.Model):
    """The decided value of an item, by whom and on what evidence."""

    class Basis(models.TextChoices):
        REVIEW = "review", _("Decided by a reviewer")
        AGREEMENT = "agreement", _("Reviewers agree")
        ADJUDICATION = "adjudication", _("Decided by an expert")
        AUTHOR = "author", _("Said by the author")
        IMPORTED = "imported", _("Imported with the item")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    uid = models.UUIDField(default=uuid.uuid4, editable=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="golds")
    schema = models.ForeignKey(LabelSchema, on_delete=models.CASCADE, related_name="+")
    value = models.JSONField(null=True)
    withdrawn = models.BooleanField(default=False)
    basis = models.CharField(max_length=12, choices=Basis.choices)
    decided_by = models.ForeignKey(
        Annotator, null=True, on_delete=models.CASCADE, related_name="golds"
    )
    evidence = models.JSONField(
        default=list, blank=True, help_text="uids of the labels it rests on."
    )
    change = models.ForeignKey(
        SchemaChange,
        null=True,
        db_index=False,
        on_delete=models.RESTRICT,  # rows of the ledger go with their project alone
        related_name="+",
        help_text="The change of labels that carried it over, or made or unmade it.",
    )
    supersedes = models.OneToOneField(
        "self", null=True, on_delete=models.CASCADE, related_name="superseded_by"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = GoldQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "gold"
        constraints = [
            models.UniqueConstraint(fields=["item", "uid"], name="labels_gold_uid_once"),
            # One chain of decisions per item: two people deciding at once cannot both be first.
            models.UniqueConstraint(
                fields=["item"],
                condition=models.Q(supersedes__isnull=True),
                name="labels_gold_one_chain",
            ),
        ]

    @property
    def value_words(self) -> str:
        """The value as people read it: a scale point by its name."""
        return self.schema.value_words(self.value)


class ItemState(models.Model):
    """The state of an item, derived from the ledger in the transaction that writes the ledger."""

    class Stage(models.TextChoices):
        NEW = "new", _("Not labelled")
        SUGGESTED = "suggested", _("Pre-annotated")
        IN_REVIEW = "in_review", _("Labelled by people")
        CONFLICT = "conflict", _("Reviewers disagree")
        DECIDED = "decided", _("Gold")
        UNCLEAR = "unclear", _("Unsure")

    class Audience(models.TextChoices):
        CROWD = "crowd", _("Crowd")
        EXPERT = "expert", _("Experts")
        NAMED = "named", _("Only those it was given to")

    item = models.OneToOneField(
        Item, primary_key=True, on_delete=models.CASCADE, related_name="state"
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    stage = models.CharField(max_length=10, choices=Stage.choices, default=Stage.NEW)
    queued = models.BooleanField(default=True, help_text="Wants a person's label.")
    priority = models.FloatField(default=0, help_text="Higher comes first.")
    labels_by_people = models.PositiveIntegerField(
        default=0, help_text="Current labels of crowd and experts."
    )
    required_labels = models.PositiveIntegerField(
        default=1, help_text="How many of those are wanted by now."
    )
    required_here = models.PositiveSmallIntegerField(
        default=1,
        help_text="Labels by people here, not imported, without which people decide nothing.",
    )
    suggestion = models.ForeignKey(Label, null=True, on_delete=models.SET_NULL, related_name="+")
    gold = models.ForeignKey(Gold, null=True, on_delete=models.SET_NULL, related_name="+")
    reasons = models.JSONField(
        default=list, blank=True, help_text="Why the debate sent it to people first."
    )
    assigned_kind = models.CharField(
        max_length=10, blank=True, help_text="The one kind of people it is for; empty: any."
    )
    assignees = models.JSONField(
        default=list, blank=True, help_text="Users it was given to by name; see Assignment."
    )
    audience = models.CharField(
        max_length=10,
        choices=Audience.choices,
        blank=True,
        help_text="Who may be offered it now; empty: everybody.",
    )
    reserved_slots = models.PositiveSmallIntegerField(
        default=0, help_text="Places kept for those of the assignees who have not labelled it."
    )
    is_gold_question = models.BooleanField(
        default=False, help_text="Its answer is known: people can be checked by it."
    )
    promoted = models.BooleanField(default=False, help_text="A manager put it first.")
    disputed = models.BooleanField(
        default=False, help_text="Decided, but a machine that is sure says otherwise."
    )
    model_uncertainty = models.FloatField(
        null=True, help_text="0 to 1: how unsure the trained model is, or contradicts the debate."
    )
    signals = models.JSONField(default=dict, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ItemStateQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["project", "audience", "-priority", "item"],
                condition=models.Q(queued=True),
                name="labels_state_offered",
            ),
            models.Index(
                fields=["project", "item"],
                condition=models.Q(is_gold_question=True),
                name="labels_state_known",
            ),
            models.Index(fields=["project", "stage"], name="labels_state_stage"),
        ]


class Assignment(models.Model):
    """One item given to one person by name: they get it before the queue's other items, and a
    place is kept for them. ``open`` until they have labelled or skipped it."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="assignments")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="assignments"
    )
    open = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "user"], name="labels_assignment_once")
        ]
        indexes = [
            models.Index(
                fields=["project", "user", "item"],
                condition=models.Q(open=True),
                name="labels_assignment_open",
            )
        ]
