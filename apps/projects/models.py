"""Projects: their items, label schemas, guidelines, imports and members."""

import json
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.accounts.roles import ROLES_WITH, ReviewerKind, Right, Role
from apps.common.phrases import PhraseField
from apps.common.values import value_words
from apps.projects.change_words import operation_words
from labelhub.core.schema import LabelType, Schema, Value, parse_schema
from labelhub.core.schema.migration import SchemaPlan
from labelhub.core.schema.operations import Operation, parse_operations, plan

#: The counts of a schema change → their names on pages.
CHANGE_COUNTS = {
    "items": gettext_noop("Items changed"),
    "labels": gettext_noop("Labels carried over"),
    "asked": gettext_noop("Labels to give again"),
    "withdrawn": gettext_noop("Labels withdrawn"),
    "gold_carried": gettext_noop("Decisions carried over"),
    "gold_made": gettext_noop("New decisions"),
    "gold_withdrawn": gettext_noop("Decisions reopened"),
}
_SHARE = [MinValueValidator(0), MaxValueValidator(1)]


class ProjectQuerySet(models.QuerySet["Project"]):
    def open_to(self, user: User | AnonymousUser, right: Right) -> "ProjectQuerySet":
        """Projects in which ``user`` holds a role that includes ``right``.

        Operators (superusers) hold every right everywhere.
        """
        if not user.is_authenticated:
            return self.none()
        if user.bound_to is not None:
            self = self.filter(pk=user.bound_to)  # noqa: PLW0642 - nothing below is of others
        if user.is_superuser:
            return self.filter(loading=False)
        # A person is a member once: the join cannot double a row.
        return self.filter(memberships__user=user, memberships__role__in=ROLES_WITH[right])

    def visible_to(self, user: User | AnonymousUser) -> "ProjectQuerySet":
        return self.open_to(user, Right.VIEW)


class ItemQuerySet(models.QuerySet["Item"]):
    def visible_to(self, user: User | AnonymousUser) -> "ItemQuerySet":
        if not user.is_authenticated:
            return self.none()
        if user.bound_to is not None:
            self = self.filter(project=user.bound_to)  # noqa: PLW0642 - nothing below is of others
        if user.is_superuser:
            return self.filter(project__loading=False)
        return self.filter(project__memberships__user=user)

    def named(self, project: "Project", external_ids: Iterable[str]) -> "ItemQuerySet":
        """The project's items with these ids, by id.

        The order makes SQLite use the index: without it, SQLite reads every item of the project.
        """
        found = self.filter(project=project, external_id__in=list(external_ids))
        return found.order_by("external_id")


class NotificationQuerySet(models.QuerySet["Notification"]):
    def shown_to(self, user: User) -> "NotificationQuerySet":
        """Those of ``user`` about projects that they may still see, newest first."""
        mine = self.filter(user=user, project__in=Project.objects.visible_to(user))
        return mine.select_related("project").order_by("-pk")


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def with_creator(self) -> "InvitationQuerySet":
        """With what :attr:`Invitation.state` needs, in one query."""
        managing = Membership.objects.filter(
            project=OuterRef("project"), user=OuterRef("created_by"), role=Role.MANAGER
        )
        return self.select_related("created_by").annotate(
            creator_manages=Exists(managing)  # type: ignore[no-redef]  # declared for ``state``
        )


class ImportBatchQuerySet(models.QuerySet["ImportBatch"]):
    def unfinished(self) -> "ImportBatchQuerySet":
        return self.filter(status__in=["queued", "running"])


class Project(models.Model):
    """Items, their label schema, a guideline, and the members who label."""

    class ReviewScope(models.TextChoices):
        ALL = "all", _("Everything, uncertain items first")
        DOUBTFUL = "doubtful", _("Only what the debate was unsure of")

    class QueueOrder(models.TextChoices):
        UNCERTAINTY = "uncertainty", _("The most uncertain first")
        RANDOM = "random", _("At random")
        OLDEST = "oldest", _("The oldest first")

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    overlap = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(20)],
        help_text="How many people label each item.",
    )
    review_scope = models.CharField(
        max_length=10, choices=ReviewScope.choices, default=ReviewScope.ALL
    )
    queue_order = models.CharField(
        max_length=12, choices=QueueOrder.choices, default=QueueOrder.UNCERTAINTY
    )
    dispute_above = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.5), MaxValueValidator(1)],
        help_text="From this confidence on a machine that contradicts what reviewers decided "
        "brings the item to an expert; empty: never.",
    )
    blind_share = models.FloatField(
        default=0, validators=_SHARE, help_text="Of the items, shown without any suggestion."
    )
    check_share = models.FloatField(
        default=0, validators=_SHARE, help_text="Of what is handed out, items of known answer."
    )
    qualify_items = models.PositiveSmallIntegerField(
        default=0,
        validators=[MaxValueValidator(200)],
        help_text="Items of known answer before a reviewer's real work begins.",
    )
    qualify_accuracy = models.FloatField(
        default=0.8, validators=_SHARE, help_text="How many of those must be right."
    )
    creation_key = models.UUIDField(
        null=True,
        unique=True,
        editable=False,
        help_text="Of the form that created it: sent twice, it creates one project.",
    )
    loading = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="An archive is being loaded into it; until that is done, nobody sees it.",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ProjectQuerySet.as_manager()

    #: No database field: the membership that ``selectors.get_project`` read. Services that change
    #: memberships reset it.
    known_member: "Membership | None" = None

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """One person's role and annotator kind in one project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role.choices)
    kind = models.CharField(max_length=10, choices=ReviewerKind.choices, default=ReviewerKind.CROWD)
    group = models.CharField(
        max_length=255, blank=True, default="", db_default="", editable=False,
        help_text="The provider's group that gives it; empty: given by hand.",
    )  # fmt: skip
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["role", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="projects_membership_once")
        ]


class GroupRole(models.Model):
    """Everybody in a group of the company's provider has this role in the project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="group_roles")
    group = models.CharField(max_length=255, help_text="By the name that the provider sends.")
    role = models.CharField(max_length=10, choices=Role.choices)
    kind = models.CharField(max_length=10, choices=ReviewerKind.choices, default=ReviewerKind.CROWD)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["group"]
        constraints = [
            models.UniqueConstraint(fields=["project", "group"], name="projects_group_role_once")
        ]


@lru_cache(maxsize=64)
def _parse_stored(definition: str) -> Schema:
    return parse_schema(json.loads(definition))


class LabelSchema(models.Model):
    """One version of a project's label schema; a change is a new version, never an edit, except for
    the colours of labels."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="schemas")
    version = models.PositiveIntegerField()
    definition = models.JSONField(help_text="As read by labelhub.core.schema.parse_schema.")
    carrying = models.BooleanField(
        default=False, help_text="Labels of older versions are being carried over to it."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "version"], name="projects_schema_version_once"
            )
        ]

    def __str__(self) -> str:
        return f"version {self.version}"

    @cached_property
    def parsed(self) -> Schema:
        return _parse_stored(json.dumps(self.definition))

    @property
    def task(self) -> LabelType:
        return self.parsed.task

    def value_words(self, value: Value | None) -> str:
        """A stored value as people read it: a scale point by its name; "—" without a value."""
        if value is None or isinstance(value, list):
            return value_words(value)
        return self.parsed.name_of(value)

    @property
    def asked(self) -> dict[str, Any]:
        """The definition without colours: all that can change an answer."""
        labels = [
            {key: value for key, value in label.items() if key != "color"}
            for label in self.definition.get("labels", [])
        ]
        return {**self.definition, "labels": labels}


class SchemaChange(models.Model):
    """A change from one version of a label schema to the next, by operations on its labels.

    When it starts, it makes the new version. Then one worker writes a new row for every affected
    label (``Label.change``), item by item; ``cursor`` is the last item done.
    """

    class Status(models.TextChoices):
        PREVIEWED = "previewed", _("Not begun")
        RUNNING = "running", _("Labels are being carried over")
        DONE = "done", _("Done")
        FAILED = "failed", _("Stopped by a fault")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="schema_changes")
    from_schema = models.ForeignKey(LabelSchema, on_delete=models.CASCADE, related_name="+")
    to_schema = models.OneToOneField(
        LabelSchema,
        null=True,
        on_delete=models.CASCADE,
        related_name="change",
        help_text="None until it is begun.",
    )
    operations = models.JSONField(
        default=list, help_text="As read by labelhub.core.schema.operations."
    )
    reverts = models.ForeignKey(
        "self", null=True, on_delete=models.CASCADE, related_name="reverted_by"
    )
    reason = models.TextField(blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PREVIEWED)
    message = PhraseField(blank=True)
    preview = models.JSONField(default=dict, blank=True, help_text="What was said beforehand.")
    counts = models.JSONField(default=dict, blank=True, help_text="What has been done so far.")
    items_total = models.PositiveIntegerField(default=0)
    items_done = models.PositiveIntegerField(default=0)
    cursor = models.BigIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(status__in=["running", "failed"]),
                name="projects_one_schema_change",
            )
        ]

    def __str__(self) -> str:
        return f"change {self.pk}"

    @cached_property
    def parsed(self) -> tuple[Operation, ...]:
        """The operations; empty for a change that reverts another one."""
        return parse_operations(self.operations) if self.operations else ()

    @cached_property
    def plan(self) -> SchemaPlan:
        if self.reverts is not None:
            return self.reverts.plan.inverse()
        return plan(self.from_schema.parsed, self.parsed)

    @property
    def words(self) -> list[str]:
        if self.reverts is not None:
            words = gettext("Version %(version)s is reverted")
            return [words % {"version": self.from_schema.version}]
        return [operation_words(operation) for operation in self.parsed]

    @property
    def counted_words(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Each of ``words``, with the counts of the labels that it touches."""
        # Changes by REST have no preview, and one that reverts another has no operations.
        counts = dict(enumerate(self.preview.get("operations", [])))
        return [(words, counts.get(place, {})) for place, words in enumerate(self.words)]

    @property
    def outcome(self) -> list[tuple[str, int]]:
        """Names of the non-zero counts, with the counts."""
        found: dict[str, int] = {}
        for what, n in self.counts.items():
            words = CHANGE_COUNTS[what.partition(":")[0]]
            found[words] = found.get(words, 0) + n
        return [(words, found[words]) for words in CHANGE_COUNTS.values() if found.get(words)]

    @property
    def carries(self) -> bool:
        """Whether labels must be migrated; new descriptions alone change no label."""
        return self.plan.changes_values or (self.reverts is not None and self.reverts.carries)


class Guideline(models.Model):
    """One version of the text that tells people how to label."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "version"], name="projects_guideline_version_once"
            )
        ]


class ImportBatch(models.Model):
    """One imported file or posted list; the worker that imports it writes the counts."""

    #: The counts that REST and webhooks show: rows of the file that were new, filled up, unchanged
    #: and so on, then what came of them. The rows of a file of labels are labels.
    COUNTS = (
        "created", "filled", "unchanged", "conflicts", "failed", "items_created", "labels_created",
        "gold_created", "unlabelled", "mapped_values", "left_out_values",
    )  # fmt: skip

    class Status(models.TextChoices):
        UPLOADED = "uploaded", _("Waiting for the choice of columns")
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Importing")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    class Content(models.TextChoices):
        ITEMS = "items", _("Items")
        LABELS = "labels", _("Labels of items that exist")

    class UnknownLabels(models.TextChoices):
        """Of names in a file that are no labels and for which nothing was decided."""

        REFUSE = "refuse", _("Refuse their rows")
        ADD = "add", _("Add them as new labels")
        IGNORE = "ignore", _("Leave them out")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="imports")
    file_name = models.CharField(max_length=255)
    stored_path = models.CharField(
        max_length=500, blank=True, help_text="Below the data folder; empty once done."
    )
    format = models.CharField(max_length=20)
    content = models.CharField(
        max_length=10, choices=Content.choices, default=Content.ITEMS, db_default=Content.ITEMS
    )
    columns = models.JSONField(
        default=dict, blank=True, help_text="Field → column, as chosen in the preview."
    )
    strict = models.BooleanField(default=False)
    unknown_labels = models.CharField(
        max_length=10, choices=UnknownLabels.choices, default=UnknownLabels.REFUSE
    )
    label_map = models.JSONField(
        default=dict,
        blank=True,
        help_text='Name in the file → label of the project, or "" to leave it out.',
    )
    unknown = models.JSONField(
        default=dict,
        blank=True,
        help_text="Refused names that are no labels: rows, first row, field, name → count.",
    )
    notify = models.BooleanField(
        default=False, help_text="Nobody waits for the answer: tell them when it has ended."
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.UPLOADED)
    message = PhraseField(blank=True)
    bytes_total = models.PositiveBigIntegerField(default=0)
    bytes_done = models.PositiveBigIntegerField(default=0)
    rows_done = models.PositiveBigIntegerField(default=0)
    created = models.PositiveBigIntegerField(default=0)
    filled = models.PositiveBigIntegerField(
        default=0, help_text="Were there by their id only, and got their content."
    )
    unchanged = models.PositiveBigIntegerField(default=0)
    conflicts = models.PositiveBigIntegerField(default=0)
    failed = models.PositiveBigIntegerField(default=0)
    labels_created = models.PositiveBigIntegerField(default=0)
    gold_created = models.PositiveBigIntegerField(
        default=0, help_text="Items that were created or filled with gold."
    )
    unlabelled = models.PositiveBigIntegerField(
        default=0, help_text="Items that were created or filled without gold and labels."
    )
    items_created = models.PositiveBigIntegerField(
        default=0,
        db_default=0,
        help_text="By a file of labels: items of which only the id is known.",
    )
    mapped_values = models.PositiveIntegerField(
        default=0, help_text="Values of the file that stood for a label of another name."
    )
    left_out_values = models.PositiveIntegerField(
        default=0, help_text="Values of the file that are no labels and were left out."
    )
    errors = models.JSONField(
        default=list, blank=True, help_text="The first faults: row, field, message."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ImportBatchQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name_plural = "import batches"

    def __str__(self) -> str:
        return self.file_name


class Item(models.Model):
    """One text to label. An import never changes it: a changed row is a conflict. An item that a
    file of labels named first belongs to the import that brings its text."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="items")
    external_id = models.CharField(max_length=200)
    text = models.TextField()
    context = models.JSONField(
        default=list, blank=True, help_text='[{"role": "user|assistant", "text"}]'
    )
    question = models.TextField(blank=True)
    options = models.JSONField(default=list, blank=True)
    meta = models.JSONField(default=dict, blank=True)
    content_hash = models.CharField(max_length=32)
    batch = models.ForeignKey(
        ImportBatch, null=True, on_delete=models.SET_NULL, related_name="items"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "external_id"], name="projects_item_external_id_once"
            )
        ]

    def __str__(self) -> str:
        return self.external_id


class ItemChange(models.Model):
    """That an item was changed or deleted, for those who keep a copy up to date. Labels and gold
    have rows of their own."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="item_changes")
    item_id = models.BigIntegerField(help_text="No reference: the item may be gone.")
    external_id = models.CharField(max_length=200)
    deleted = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.external_id


class Notification(models.Model):
    """Tells one person that work they started has ended, once for each time it was started."""

    class Kind(models.TextChoices):
        RUN = "run", _("Run")
        IMPORT = "import", _("Import")
        EXPORT = "export", _("Export")

    class Outcome(models.TextChoices):
        DONE = "done", _("Done")
        STOPPED = "stopped", _("Stopped by its budget")
        FAILED = "failed", _("Failed")

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notifications"
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    subject = models.PositiveBigIntegerField(help_text="Id of the run, import or saved export.")
    began_at = models.DateTimeField(help_text="When it was started or last resumed.")
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    name = models.CharField(max_length=255, blank=True, help_text="Of its file, if it has one.")
    message = PhraseField(blank=True, help_text="The result, in words.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    read_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)

    objects = NotificationQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "kind", "subject", "began_at"], name="projects_notification_once"
            )
        ]


class Invitation(models.Model):
    """A link by which people join a project, with a role and an end. Only a hash of its token is
    stored."""

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        USED = "used", _("Used")
        EXPIRED = "expired", _("Expired")
        REVOKED = "revoked", _("Revoked")
        VOID = "void", _("Its creator is no longer a manager")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    digest = models.CharField(max_length=64, unique=True)
    email = models.EmailField(blank=True, help_text="Where the link was sent; nobody else saw it.")
    role = models.CharField(max_length=10, choices=Role.choices)
    kind = models.CharField(max_length=10, choices=ReviewerKind.choices, default=ReviewerKind.CROWD)
    uses_allowed = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(1), MaxValueValidator(500)]
    )
    uses = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = InvitationQuerySet.as_manager()

    #: Of :meth:`InvitationQuerySet.with_creator`.
    creator_manages: bool

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(uses__lte=models.F("uses_allowed")),
                name="projects_invitation_uses",
            )
        ]

    @property
    def state(self) -> State:
        """Whether it can be used, or why not."""
        creator = self.created_by
        if self.revoked_at is not None:
            return self.State.REVOKED
        if self.uses >= self.uses_allowed:
            return self.State.USED
        if self.expires_at <= timezone.now():
            return self.State.EXPIRED
        if not (creator.is_active and (creator.is_superuser or self.creator_manages)):
            return self.State.VOID
        return self.State.OPEN
