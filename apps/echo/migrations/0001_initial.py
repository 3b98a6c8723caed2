import uuid

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("authors", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Echo",
            fields=[
                ("site", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="echo", serialize=False, to="authors.site")),
                ("on", models.BooleanField(default=True, help_text="Chooses what is asked, and learns.")),
                ("k", models.PositiveSmallIntegerField(default=10, help_text="Features that go downstream.", validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)])),
                ("explore", models.FloatField(default=0.1, help_text="Share of the surveys that ask at random.", validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ("burden", models.FloatField(default=0.0, help_text="What a question must be worth to be asked.", validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ("models_per_message", models.PositiveSmallIntegerField(default=40, help_text="Feature models that are run for one message.", validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)])),
                ("llm_features", models.PositiveSmallIntegerField(default=4, help_text="Features a language model predicts for a message that is asked about.", validators=[django.core.validators.MaxValueValidator(20)])),
                ("example_tokens", models.PositiveSmallIntegerField(default=300, help_text="Tokens of authors' answers in each prediction's prompt.", validators=[django.core.validators.MaxValueValidator(2000)])),
                ("search_on", models.BooleanField(default=False, help_text="Looks for better instructions; each search is hundreds of calls.")),
                ("search_calls_per_day", models.PositiveIntegerField(default=300, help_text="Calls that searches may make in a day (UTC).", validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100000)])),
                ("search_day", models.DateField(help_text="The day (UTC) that is counted.", null=True)),
                ("search_calls", models.PositiveIntegerField(default=0, help_text="Calls of searches that day.")),
                ("offers_on", models.BooleanField(default=False, help_text="Items of the catalogue are offered; off: at once nowhere.")),
                ("offer_every_messages", models.PositiveSmallIntegerField(default=4, help_text="One offer in so many messages.", validators=[django.core.validators.MinValueValidator(1)])),
                ("offer_min_seconds", models.PositiveIntegerField(default=120, help_text="Seconds between two offers to one author.")),
                ("offer_least_match", models.FloatField(default=0.12, help_text="How well an item must fit.", validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ("offer_explore", models.FloatField(default=0.05, help_text="Share of the messages for which an item is drawn.", validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(0.5)])),
                ("reward_minutes", models.PositiveSmallIntegerField(default=30, help_text="An offer without a click after so long counts as none.", validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1440)])),
                ("logged", models.PositiveBigIntegerField(default=0, help_text="Number of the newest event.")),
                ("learnt", models.PositiveBigIntegerField(default=0, help_text="Events up to this are learnt.")),
                ("state", models.BinaryField(default=b"", help_text="The selector, packed.")),
                ("digest", models.CharField(blank=True, help_text="Of the whole state.", max_length=64)),
                ("era", models.PositiveIntegerField(default=0, help_text="How often it was all made anew.")),
                ("erased", models.PositiveIntegerField(default=0, help_text="Authors deleted since the state was made anew without them.")),
                ("lease_until", models.DateTimeField(blank=True, help_text="Somebody learns from the log until then.", null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
        ),
        migrations.CreateModel(
            name="AuthorTrust",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("echo", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="trusts", to="echo.echo")),
                ("author", models.CharField(help_text="As the log names them.", max_length=64)),
                ("answers", models.FloatField()),
                ("clicks", models.FloatField()),
                ("offers", models.FloatField()),
                ("expected", models.FloatField()),
                ("clicked", models.FloatField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("echo", "author"), name="echo_trust_of_author_once")],
            },
        ),
        migrations.CreateModel(
            name="CatalogueItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("echo", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="items", to="echo.echo")),
                ("ref", models.CharField(help_text="The site's own name for it.", max_length=100)),
                ("definition", models.JSONField(help_text="See labelhub.core.echo.recommending.items.")),
                ("active", models.BooleanField(default=True)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [models.UniqueConstraint(fields=("echo", "ref"), name="echo_item_once")],
            },
        ),
        migrations.CreateModel(
            name="Check",
            fields=[
                ("echo", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="check_of_log", serialize=False, to="echo.echo")),
                ("started_at", models.DateTimeField(help_text="And by this one check is told from the next.")),
                ("beat_at", models.DateTimeField(help_text="Somebody was at it then.")),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("number", models.PositiveBigIntegerField(default=0, help_text="Events that are looked at.")),
                ("done", models.PositiveBigIntegerField(default=0, help_text="Up to this one it has come.")),
                ("same", models.BooleanField(help_text="Equal to the last bit.", null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Experiment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("echo", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="experiments", to="echo.echo")),
                ("name", models.CharField(max_length=100)),
                ("design", models.JSONField(help_text="See labelhub.core.echo.experiments.assignment.")),
                ("sealed_key", models.BinaryField(help_text="The key by which arms are assigned, encrypted.")),
                ("fingerprint", models.CharField(max_length=64)),
                ("planned_days", models.PositiveSmallIntegerField(default=28)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [models.UniqueConstraint(condition=models.Q(("ended_at__isnull", True), ("started_at__isnull", False)), fields=("echo",), name="echo_experiment_one_runs")],
            },
        ),
        migrations.CreateModel(
            name="LogEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("echo", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="log", to="echo.echo")),
                ("number", models.PositiveBigIntegerField()),
                ("ref", models.CharField(help_text="What is told twice stands once.", max_length=64)),
                ("kind", models.CharField(choices=[("answered", "Answered"), ("rewarded", "Rewarded"), ("expected", "Expected by the owner"), ("withdrawn", "Withdrawn"), ("restored", "Restored"), ("frozen", "Frozen or thawed"), ("rolled_back", "Rolled back")], max_length=20)),
                ("feature", models.CharField(blank=True, max_length=60)),
                ("about", models.CharField(blank=True, help_text="The event that is withdrawn or restored.", max_length=64)),
                ("author", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="authors.author")),
                ("data", models.JSONField(help_text="See labelhub.core.echo.events.")),
                ("at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["number"],
                "indexes": [models.Index(fields=["echo", "kind", "number"], name="echo_event_of_kind"), models.Index(fields=["echo", "feature", "number"], name="echo_event_of_feature"), models.Index(fields=["echo", "about", "number"], name="echo_event_about")],
                "constraints": [models.UniqueConstraint(fields=("echo", "number"), name="echo_event_number_once"), models.UniqueConstraint(fields=("echo", "ref"), name="echo_event_told_once")],
            },
        ),
        migrations.CreateModel(
            name="ModelState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("echo", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="models", to="echo.echo")),
                ("feature", models.CharField(max_length=60)),
                ("packed", models.BinaryField()),
                ("learnt", models.PositiveBigIntegerField(help_text="Number of the event it learnt from last.")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("echo", "feature"), name="echo_model_of_feature_once")],
            },
        ),
        migrations.CreateModel(
            name="PromptSearch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("echo", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="searches", to="echo.echo")),
                ("feature", models.CharField(max_length=60)),
                ("status", models.CharField(choices=[("running", "Under way"), ("better", "Found a better one"), ("unchanged", "Nothing better"), ("stopped", "Switched off")], default="running", max_length=10)),
                ("present", models.CharField(blank=True, help_text="In use when it began.", max_length=400)),
                ("instruction", models.CharField(blank=True, help_text='What it found; "": none.', max_length=400)),
                ("active", models.BooleanField(default=False, help_text="Its instruction is in use.")),
                ("why", models.CharField(blank=True, max_length=30)),
                ("reason", models.CharField(blank=True, max_length=300)),
                ("found", models.JSONField(default=dict, help_text="See labelhub.core.echo.prompt_search.Found.")),
                ("answers", models.PositiveIntegerField(help_text="Answers about the feature when it began.")),
                ("until", models.PositiveBigIntegerField(help_text="Key of the newest of them.")),
                ("calls", models.PositiveIntegerField(default=0, help_text="Calls that were answered or failed.")),
                ("cost_nanousd", models.BigIntegerField(default=0)),
                ("lease_until", models.DateTimeField(blank=True, help_text="Somebody goes on with it until then.", null=True)),
                ("queued_until", models.DateTimeField(blank=True, help_text="A task for it is on its way until then.", null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["echo", "feature", "-id"], name="echo_search_of_feature")],
                "constraints": [models.UniqueConstraint(condition=models.Q(("status", "running")), fields=("echo",), name="echo_search_one_at_a_time"), models.UniqueConstraint(condition=models.Q(("active", True)), fields=("echo", "feature"), name="echo_search_one_in_use")],
            },
        ),
        migrations.CreateModel(
            name="Selection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("echo", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="selections", to="echo.echo")),
                ("author", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="authors.author")),
                ("message", models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="selection", to="authors.message")),
                ("number", models.PositiveBigIntegerField(help_text="Events learnt by then.")),
                ("predicted", models.JSONField(help_text='By feature: {"value", "probability", "sigma", "relevance", "signs", "said", "told"}.')),
                ("selected", models.JSONField(help_text="Keys of the k features, the most relevant first.")),
                ("asked", models.JSONField(default=dict, help_text="By feature that could be asked: worth and propensity; what was.")),
                ("explored", models.BooleanField(default=False)),
                ("at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["echo", "-id"], name="echo_selection_recent")],
            },
        ),
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("echo", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="snapshots", to="echo.echo")),
                ("number", models.PositiveBigIntegerField()),
                ("packed", models.BinaryField()),
                ("digest", models.CharField(max_length=64)),
                ("at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [models.UniqueConstraint(fields=("echo", "number"), name="echo_snapshot_number_once")],
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("echo", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="decisions", to="echo.echo")),
                ("author", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="authors.author")),
                ("message", models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="decision", to="authors.message")),
                ("message_at", models.DateTimeField()),
                ("selection", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="decisions", to="echo.selection")),
                ("experiment", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="decisions", to="echo.experiment")),
                ("arm", models.CharField(blank=True, max_length=64)),
                ("unit", models.CharField(blank=True, help_text="What the arm was assigned to.", max_length=64)),
                ("policy", models.CharField(max_length=64)),
                ("status", models.CharField(choices=[("pending", "Being decided"), ("nothing", "Nothing offered"), ("waiting", "Waits to be sent"), ("sent", "Sent"), ("shown", "Shown"), ("expired", "Too late")], default="pending", max_length=10)),
                ("why", models.CharField(blank=True, max_length=30)),
                ("propensity", models.FloatField(default=1.0, help_text="Chance of just this decision.")),
                ("propensities", models.JSONField(default=dict, help_text="Chance of each item to be offered.")),
                ("score", models.FloatField(null=True)),
                ("reasons", models.JSONField(default=list)),
                ("item", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="decisions", to="echo.catalogueitem")),
                ("item_ref", models.CharField(blank=True, max_length=100)),
                ("vertical", models.CharField(blank=True, max_length=60)),
                ("offer", models.JSONField(default=dict, help_text="What is shown, as the widget gets it.")),
                ("cost_nanousd", models.BigIntegerField(default=0)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                ("shown_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["echo", "-id"], name="echo_decision_recent"), models.Index(fields=["author", "-id"], name="echo_decision_of_author"), models.Index(fields=["experiment", "arm"], name="echo_decision_of_arm"), models.Index(fields=["status", "created_at"], name="echo_decision_of_status"), models.Index(fields=["echo", "shown_at"], name="echo_decision_shown"), models.Index(condition=models.Q(("status__in", ["waiting", "sent", "shown"])), fields=["author"], name="echo_decision_open")],
            },
        ),
        migrations.CreateModel(
            name="Scored",
            fields=[
                ("event", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="scored", serialize=False, to="echo.logevent")),
                ("echo", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="scored", to="echo.echo")),
                ("number", models.PositiveBigIntegerField(help_text="Of the answer's event.")),
                ("feature", models.CharField(max_length=60)),
                ("loss", models.FloatField(help_text="0 where it was right, 1 where not, or between.")),
                ("sigma", models.FloatField(help_text="The chance of being wrong that was told with it.")),
                ("stands", models.BooleanField(default=True, help_text="The answer counts.")),
            ],
            options={
                "indexes": [models.Index(fields=["echo", "number"], name="echo_scored_recent"), models.Index(fields=["echo", "feature", "number"], name="echo_scored_of_feature")],
            },
        ),
        migrations.CreateModel(
            name="SearchReply",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("search", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="replies", to="echo.promptsearch")),
                ("key", models.CharField(help_text="Of what was asked, and of whom.", max_length=64)),
                ("text", models.TextField(blank=True)),
                ("finish_reason", models.CharField(blank=True, max_length=40)),
                ("refused", models.BooleanField(default=False)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("search", "key"), name="echo_search_reply_once")],
            },
        ),
        migrations.CreateModel(
            name="OfferEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("decision", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="events", to="echo.decision")),
                ("kind", models.CharField(choices=[("shown", "Shown"), ("clicked", "Clicked"), ("helpful", "Helpful"), ("not_helpful", "Not helpful"), ("dismissed", "Sent away")], max_length=12)),
                ("ref", models.CharField(help_text="The sender's id: a second arrival is the same.", max_length=64)),
                ("at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [models.UniqueConstraint(fields=("decision", "ref"), name="echo_offer_event_once")],
            },
        ),
    ]
