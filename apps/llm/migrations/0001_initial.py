import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name="PromptVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hash", models.CharField(max_length=64, unique=True)),
                ("name", models.CharField(help_text="protocol/role", max_length=200)),
                ("body", models.TextField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["name", "-created_at"],
            },
        ),
        migrations.CreateModel(
            name="Provider",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                ("kind", models.CharField(choices=[("openai", "OpenAI-compatible endpoint"), ("offline", "Offline model (not an LLM)")], default="openai", max_length=10)),
                ("base_url", models.CharField(blank=True, max_length=500)),
                ("api_key_env", models.CharField(blank=True, help_text="Name of the environment variable that holds the key.", max_length=100)),
                ("connect_timeout", models.FloatField(default=5, help_text="Seconds.")),
                ("read_timeout", models.FloatField(default=120, help_text="Seconds.")),
                ("max_concurrency", models.PositiveSmallIntegerField(default=64, validators=[django.core.validators.MinValueValidator(1)])),
                ("rpm", models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ("tpm", models.PositiveBigIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ("rpd", models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ("tpd", models.PositiveBigIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ("headers", models.JSONField(blank=True, default=dict, help_text="Sent with every request; values are shown nowhere.")),
                ("learnt_limits", models.JSONField(blank=True, default=dict, editable=False, help_text="What the endpoint's answers said last: rpm, tpm, rpd, tpd, at.")),
                ("rate_limited", models.JSONField(blank=True, default=dict, editable=False, help_text="Since when it has answered nothing but 429, and when last; empty: it has not.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="DailyUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("provider", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="daily_use", to="llm.provider")),
                ("day", models.DateField()),
                ("requests", models.PositiveBigIntegerField(default=0)),
                ("tokens", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "ordering": ["-day"],
                "constraints": [models.UniqueConstraint(fields=("provider", "day"), name="llm_day_once")],
            },
        ),
        migrations.CreateModel(
            name="ModelSpec",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("provider", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="models", to="llm.provider")),
                ("name", models.CharField(help_text="As the provider spells it.", max_length=200)),
                ("purpose", models.CharField(choices=[("chat", "labelling and debating"), ("embedding", "embeddings of texts")], default="chat", max_length=10)),
                ("price_in", models.DecimalField(blank=True, decimal_places=6, help_text="USD per million tokens; empty = unknown.", max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ("price_out", models.DecimalField(blank=True, decimal_places=6, help_text="USD per million tokens; empty = unknown.", max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ("price_cached_in", models.DecimalField(blank=True, decimal_places=6, help_text="USD per million tokens; empty = as other input.", max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ("price_reasoning", models.DecimalField(blank=True, decimal_places=6, help_text="USD per million tokens; empty = as other output.", max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ("priced_at", models.DateField(blank=True, editable=False, null=True)),
                ("context_tokens", models.PositiveIntegerField(blank=True, help_text="Longest input and answer together; empty = unknown.", null=True)),
                ("takes_temperature", models.BooleanField(default=True, help_text="Learnt from the endpoint when it refuses.")),
                ("fixed_temperature", models.FloatField(blank=True, help_text="Sent in place of any other; empty = as asked.", null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ("takes_seed", models.BooleanField(default=True)),
                ("takes_stop", models.BooleanField(default=True)),
                ("logprobs", models.BooleanField(default=True, help_text="Learnt when the endpoint refuses.")),
                ("structured", models.CharField(choices=[("none", "none: free text"), ("json_object", "any JSON object"), ("json_schema", "JSON by a schema")], default="json_schema", help_text="Lowered to what the endpoint takes when it refuses.", max_length=12)),
                ("reasoning_effort", models.CharField(blank=True, choices=[("none", "none"), ("minimal", "minimal"), ("low", "low"), ("medium", "medium"), ("high", "high"), ("omit", "never sent")], max_length=10)),
                ("extra_body", models.JSONField(blank=True, default=dict, help_text="Sent as it is with every request: a JSON object.")),
                ("max_tokens_param", models.CharField(choices=[("max_tokens", "max_tokens"), ("max_completion_tokens", "max_completion_tokens")], default="max_tokens", max_length=30)),
                ("system_role", models.CharField(choices=[("system", "system"), ("developer", "developer"), ("merge", "put before the user message")], default="system", max_length=10)),
                ("max_output_tokens", models.PositiveIntegerField(default=1024)),
                ("thinking_tokens", models.PositiveIntegerField(blank=True, editable=False, help_text="Added to the longest answer for what the model thinks; empty: not known yet.", null=True)),
                ("output_limit", models.PositiveIntegerField(blank=True, editable=False, help_text="The longest answer that the endpoint takes; learnt when it refuses.", null=True)),
                ("learnt", models.JSONField(blank=True, default=list, editable=False, help_text="What refusals taught: field, value, what was said, and when.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["provider__name", "name"],
                "constraints": [models.UniqueConstraint(fields=("provider", "name"), name="llm_model_once")],
            },
        ),
    ]
