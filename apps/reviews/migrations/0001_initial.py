import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("labels", "0001_initial"),
        ("projects", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="BulkJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="bulk_jobs", to="projects.project")),
                ("actor", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("action", models.CharField(choices=[("accept", "Accept what is suggested"), ("label", "Give all one label"), ("assign", "Give to people"), ("audience", "Keep for one kind of people"), ("promote", "Put first"), ("return", "Return to the queue")], max_length=10)),
                ("query", models.JSONField(default=dict, help_text="The search that found the items.")),
                ("options", models.JSONField(default=dict, help_text="What the action needs to know.")),
                ("status", models.CharField(choices=[("queued", "Queued"), ("running", "At work"), ("done", "Done"), ("failed", "Failed"), ("undoing", "Being undone"), ("undone", "Undone")], default="queued", max_length=10)),
                ("message", models.TextField(blank=True)),
                ("total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("passed_over", models.PositiveIntegerField(default=0, help_text="Were not what they had been when the preview was made.")),
                ("counts", models.JSONField(default=dict, help_text="How many items were passed over for what, or were not undone.")),
                ("after", models.BigIntegerField(default=0, help_text="The last item that was worked on.")),
                ("upto", models.BigIntegerField(default=0, help_text="The newest item when it was asked for.")),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project")),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="comments", to="projects.item")),
                ("author", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("text", models.TextField()),
                ("explains", models.BooleanField(default=False, help_text="An adjudicator's words to those who labelled the item.")),
                ("resolved_at", models.DateTimeField(blank=True, null=True)),
                ("resolved_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [models.Index(fields=["project", "resolved_at"], name="reviews_comment_open")],
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project")),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="decisions", to="projects.item")),
                ("reviewer", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("action", models.CharField(choices=[("accept", "Accepted"), ("fix", "Fixed"), ("reject", "Rejected"), ("label", "Labelled"), ("skip", "Skipped"), ("postpone", "Postponed")], max_length=10)),
                ("label", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="labels.label")),
                ("purpose", models.CharField(choices=[("work", "Work"), ("settle", "Adjudication"), ("check", "Gold question"), ("qualify", "Qualification")], default="work", max_length=8)),
                ("correct", models.BooleanField(help_text="Of an item whose answer was known: whether this was it.", null=True)),
                ("arm", models.CharField(blank=True, choices=[("shown", "Shown"), ("withheld", "Withheld")], max_length=8)),
                ("suggestion", models.ForeignKey(help_text="What was suggested when it was drawn whether to show it.", null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="labels.label")),
                ("within", models.FloatField(help_text="Where nobody told the time it took: seconds since the lease was given. It took no longer.", null=True)),
                ("late", models.BooleanField(default=False, help_text="Came after the lease had lapsed.")),
                ("extra", models.BooleanField(default=False, help_text="More labels than were wanted: kept, not lost.")),
                ("comment", models.TextField(blank=True)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["project", "reviewer", "-id"], name="reviews_decision_recent"), models.Index(condition=models.Q(("undone_at__isnull", True)), fields=["reviewer", "item"], name="reviews_decision_left")],
            },
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="drafts", to="projects.item")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project")),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="drafts", to=settings.AUTH_USER_MODEL)),
                ("fields", models.JSONField(default=dict)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "indexes": [models.Index(fields=["project", "user"], name="reviews_draft_of")],
                "constraints": [models.UniqueConstraint(fields=("item", "user"), name="reviews_draft_once")],
            },
        ),
        migrations.CreateModel(
            name="Intervention",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project")),
                ("actor", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("action", models.CharField(choices=[("pause", "Paused a reviewer"), ("resume", "Resumed a reviewer"), ("qualified", "Qualified"), ("not_qualified", "Did not qualify"), ("requeue", "Put a reviewer's labels back into the queue"), ("return", "Returned items to the queue"), ("revoke", "Took a lease away"), ("assign", "Assigned items"), ("unassign", "Lifted assignments"), ("promote", "Put items first"), ("explain", "Explained a decision to the reviewers"), ("send_back", "Sent an item back to its reviewers"), ("plan", "Changed the review plan")], max_length=14)),
                ("subject", models.ForeignKey(help_text="Whose work it concerns.", null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("reason", models.TextField(blank=True)),
                ("items", models.PositiveIntegerField(default=0, help_text="How many items it concerned.")),
                ("data", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["project", "-id"], name="reviews_intervention_recent")],
            },
        ),
        migrations.CreateModel(
            name="KeyMap",
            fields=[
                ("user", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="key_map", serialize=False, to=settings.AUTH_USER_MODEL)),
                ("keys", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="Requeue",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="requeues", to="projects.project")),
                ("user", models.ForeignKey(help_text="Whose labels they are.", on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("actor", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("reason", models.TextField()),
                ("since", models.DateTimeField(blank=True, null=True)),
                ("only_wrong", models.BooleanField(default=False)),
                ("status", models.CharField(choices=[("queued", "Queued"), ("running", "At work"), ("done", "Done"), ("failed", "Failed")], default="queued", max_length=10)),
                ("message", models.TextField(blank=True)),
                ("total", models.PositiveIntegerField(help_text="How many labels there were when it was asked.")),
                ("done", models.PositiveIntegerField(default=0)),
                ("after", models.BigIntegerField(default=0, help_text="The last label that was looked at.")),
                ("upto", models.BigIntegerField(help_text="The newest label when it was asked for.")),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [models.UniqueConstraint(condition=models.Q(("status__in", ("queued", "running"))), fields=("project", "user"), name="reviews_requeue_one_at_a_time")],
            },
        ),
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="saved_filters", to="projects.project")),
                ("name", models.CharField(max_length=100)),
                ("query", models.JSONField(default=dict)),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["name", "pk"],
                "constraints": [models.UniqueConstraint(fields=("project", "name"), name="reviews_filter_once")],
            },
        ),
        migrations.CreateModel(
            name="Slot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="slots", to="projects.item")),
                ("number", models.PositiveSmallIntegerField(null=True)),
                ("purpose", models.CharField(choices=[("work", "Work"), ("settle", "Adjudication"), ("check", "Gold question"), ("qualify", "Qualification")], default="work", max_length=8)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project")),
                ("holder", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("lease_token", models.UUIDField(blank=True, null=True, unique=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("leased_at", models.DateTimeField(help_text="When the holder was given it.", null=True)),
                ("shown", models.ForeignKey(help_text="The suggestion that the holder was handed with it.", null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="labels.label")),
                ("label", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="labels.label")),
            ],
            options={
                "indexes": [models.Index(fields=["project", "lease_until"], name="reviews_slot_live")],
                "constraints": [models.UniqueConstraint(fields=("item", "number"), name="reviews_slot_once"), models.UniqueConstraint(condition=models.Q(("number__isnull", True)), fields=("holder", "item"), name="reviews_slot_known_once")],
            },
        ),
        migrations.CreateModel(
            name="Standing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="standings", to="projects.project")),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="standings", to=settings.AUTH_USER_MODEL)),
                ("status", models.CharField(choices=[("active", "At work"), ("qualifying", "Qualifying"), ("paused", "Paused")], max_length=10)),
                ("reason", models.TextField(blank=True)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "user"), name="reviews_standing_once")],
            },
        ),
        migrations.CreateModel(
            name="BulkChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("job", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="changes", to="reviews.bulkjob")),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.item")),
                ("label", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="labels.label")),
                ("before", models.JSONField(default=dict)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("job", "item"), name="reviews_bulk_change_once")],
            },
        ),
        migrations.CreateModel(
            name="Mention",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("comment", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="mentions", to="reviews.comment")),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="mentions", to=settings.AUTH_USER_MODEL)),
                ("seen_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["user", "seen_at"], name="reviews_mention_unseen")],
                "constraints": [models.UniqueConstraint(fields=("comment", "user"), name="reviews_mention_once")],
            },
        ),
        migrations.CreateModel(
            name="ReviewSettings",
            fields=[
                ("project", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="review_settings", serialize=False, to="projects.project")),
                ("show_opinions", models.BooleanField(default=False)),
                ("allow_abstain", models.BooleanField(default=True)),
                ("ask_confidence", models.BooleanField(default=False)),
                ("ask_rationale", models.CharField(choices=[("no", "Not asked"), ("optional", "May be given"), ("required", "Must be given")], default="no", max_length=8)),
                ("ask_evidence", models.BooleanField(default=False)),
                ("shuffle_options", models.BooleanField(default=True)),
                ("first_filter", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="reviews.savedfilter")),
                ("first_upto", models.BigIntegerField(default=0, help_text="The last item that the filter was applied to.")),
                ("first_at", models.DateTimeField(help_text="When that was.", null=True)),
                ("first_lease", models.DateTimeField(help_text="Until when a worker is at it.", null=True)),
            ],
            options={
                "verbose_name_plural": "review settings",
            },
        ),
    ]
