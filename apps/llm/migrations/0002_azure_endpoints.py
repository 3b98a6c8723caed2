from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("llm", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="provider",
            name="api_version",
            field=models.CharField(blank=True, help_text="Of an Azure resource.", max_length=40),
        ),
        migrations.AlterField(
            model_name="provider",
            name="kind",
            field=models.CharField(choices=[("openai", "OpenAI-compatible endpoint"), ("azure", "Azure OpenAI resource"), ("offline", "Offline model (not an LLM)")], default="openai", max_length=10),
        ),
    ]
