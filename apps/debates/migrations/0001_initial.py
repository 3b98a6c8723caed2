import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("labels", "0001_initial"),
        ("llm", "0001_initial"),
        ("projects", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Experiment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="experiments", to="projects.project")),
                ("title", models.CharField(max_length=100)),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="PromptVariant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="prompt_variants", to="projects.project")),
                ("name", models.CharField(help_text="The prompt it stands in for: protocol/role.", max_length=200)),
                ("title", models.CharField(max_length=100)),
                ("version", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="llm.promptversion")),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("retired", models.BooleanField(default=False, help_text="No longer offered for new runs.")),
            ],
            options={
                "ordering": ["name", "-created_at", "-pk"],
                "constraints": [models.UniqueConstraint(fields=("project", "name", "version"), name="debates_variant_once")],
            },
        ),
        migrations.CreateModel(
            name="RoutingRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="routing_rule", to="projects.project")),
                ("definition", models.JSONField()),
                ("changed_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="projects.project")),
                ("protocol", models.CharField(max_length=30)),
                ("protocol_settings", models.JSONField(blank=True, default=dict, help_text="The protocol's settings, complete.")),
                ("params", models.JSONField(blank=True, default=dict, help_text="What is asked of each role's model.")),
                ("experiment", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="debates.experiment")),
                ("trial", models.BooleanField(default=False, help_text="Only tried out: what it finds stays out of the ledger.")),
                ("reuse_answers", models.BooleanField(default=True, help_text="Take answers from earlier runs where nothing differs.")),
                ("replicates", models.PositiveSmallIntegerField(default=1)),
                ("schema", models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name="+", to="projects.labelschema")),
                ("guideline", models.ForeignKey(null=True, on_delete=django.db.models.deletion.RESTRICT, related_name="+", to="projects.guideline")),
                ("spec_hash", models.CharField(help_text="Protocol, roles, prompts, schema, parameters.", max_length=64)),
                ("plan_hash", models.CharField(blank=True, help_text="All that was asked for but the budget.", max_length=64)),
                ("status", models.CharField(choices=[("queued", "Queued"), ("running", "Running"), ("paused", "Paused"), ("cancelled", "Cancelled"), ("done", "Done")], default="queued", max_length=10)),
                ("pause_code", models.CharField(blank=True, max_length=40)),
                ("message", models.TextField(blank=True, help_text="What happened, in words for people.")),
                ("resume_at", models.DateTimeField(blank=True, null=True)),
                ("faults", models.PositiveSmallIntegerField(default=0, help_text="How often in a row a fault of the server stopped it.")),
                ("budget_nanousd", models.BigIntegerField(blank=True, help_text="None: no limit.", null=True)),
                ("turns_count", models.PositiveBigIntegerField(default=0)),
                ("unpriced_turns", models.PositiveBigIntegerField(default=0, help_text="Their cost is unknown.")),
                ("tokens_in", models.PositiveBigIntegerField(default=0)),
                ("tokens_out", models.PositiveBigIntegerField(default=0)),
                ("cost_nanousd", models.BigIntegerField(default=0)),
                ("other_cost_nanousd", models.BigIntegerField(default=0, help_text="Of that, what was paid for embeddings.")),
                ("unread_nanousd", models.BigIntegerField(default=0, help_text="What providers may charge for calls that got no answer; no part of the cost.")),
                ("pulse", models.JSONField(blank=True, default=dict, help_text="What the worker that drives it last reported.")),
                ("dispatched_until", models.DateTimeField(blank=True, help_text="A task for it is on its way.", null=True)),
                ("created_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("resumed_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="Debate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="debates", to="debates.run")),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="debates", to="projects.item")),
                ("replicate", models.PositiveSmallIntegerField(default=1)),
                ("status", models.CharField(choices=[("waiting", "Waiting"), ("done", "Labelled"), ("unparsed", "No usable label"), ("failed", "Failed")], default="waiting", max_length=10)),
                ("lease_token", models.UUIDField(blank=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("label", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="labels.label")),
                ("value", models.JSONField(help_text="What it concluded; also where none is recorded.", null=True)),
                ("signals", models.JSONField(blank=True, default=dict)),
                ("flags", models.JSONField(blank=True, default=list, help_text="What asks for a look.")),
                ("reasons", models.JSONField(blank=True, default=list, help_text="Why people are asked first, by the project's rule.")),
                ("uncertainty", models.FloatField(help_text="0 is sure, 1 knows nothing; None: unknown.", null=True)),
                ("error", models.TextField(blank=True)),
                ("failed_tries", models.JSONField(blank=True, default=dict, help_text="By step: the failed tries at a call that is not answered yet.")),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [models.Index(fields=["run", "status"], name="debates_debate_status"), models.Index(fields=["run", "finished_at"], name="debates_debate_finished"), models.Index(condition=models.Q(("lease_token__isnull", False)), fields=["lease_token"], name="debates_debate_lease")],
                "constraints": [models.UniqueConstraint(fields=("run", "item", "replicate"), name="debates_debate_once")],
            },
        ),
        migrations.CreateModel(
            name="RunRole",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="roles", to="debates.run")),
                ("role", models.CharField(max_length=30)),
                ("model", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="llm.modelspec")),
                ("prompt", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="llm.promptversion")),
                ("position", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "ordering": ["position", "pk"],
                "constraints": [models.UniqueConstraint(fields=("run", "role"), name="debates_role_once")],
            },
        ),
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("debate", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="turns", to="debates.debate")),
                ("step", models.CharField(max_length=60)),
                ("attempt", models.PositiveSmallIntegerField(default=1, help_text="Later tries of a failed step count up.")),
                ("role", models.CharField(max_length=30)),
                ("model", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="llm.modelspec")),
                ("model_answered", models.CharField(blank=True, max_length=200)),
                ("prompt", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="llm.promptversion")),
                ("messages", models.JSONField(help_text="As sent.")),
                ("params_asked", models.JSONField(blank=True, default=dict)),
                ("params_effective", models.JSONField(blank=True, default=dict)),
                ("text", models.TextField(blank=True)),
                ("reasoning", models.TextField(blank=True)),
                ("value", models.JSONField(null=True)),
                ("evidence", models.JSONField(blank=True, default=dict)),
                ("status", models.CharField(max_length=10)),
                ("rung", models.PositiveSmallIntegerField(default=0, help_text="Rung of the parsing ladder.")),
                ("ranking", models.JSONField(blank=True, default=list, help_text="Answers from best to worst.")),
                ("probabilities", models.JSONField(blank=True, default=dict, help_text="Of the offered labels.")),
                ("off_menu", models.CharField(blank=True, help_text="What was answered but is not offered.", max_length=80)),
                ("note", models.TextField(blank=True)),
                ("finish_reason", models.CharField(blank=True, max_length=30)),
                ("tokens_in", models.PositiveIntegerField(default=0)),
                ("tokens_out", models.PositiveIntegerField(default=0)),
                ("tokens_cached", models.PositiveIntegerField(default=0)),
                ("tokens_reasoning", models.PositiveIntegerField(default=0)),
                ("usage_estimated", models.BooleanField(default=False)),
                ("cost_nanousd", models.BigIntegerField(help_text="None: the model's price is unknown.", null=True)),
                ("seconds", models.FloatField(default=0)),
                ("attempts", models.JSONField(blank=True, default=list, help_text="HTTP status, seconds, note of each try.")),
                ("call_key", models.CharField(blank=True, help_text="What decides the answer, hashed; empty: chance does.", max_length=64)),
                ("reused", models.BooleanField(default=False, help_text="The answer to an equal call; it cost nothing.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [models.Index(condition=models.Q(("reused", False), models.Q(("call_key", ""), _negated=True)), fields=["call_key"], name="debates_turn_call"), models.Index(condition=models.Q(("status", "ok"), _negated=True), fields=["debate"], name="debates_turn_trouble"), models.Index(condition=models.Q(("reused", True)), fields=["debate"], name="debates_turn_reused")],
                "constraints": [models.UniqueConstraint(fields=("debate", "step", "attempt"), name="debates_turn_once")],
            },
        ),
    ]
