import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("debates", "0002_jobs"),
        ("llm", "0002_azure_endpoints"),
    ]

    operations = [
        migrations.AlterField(
            model_name="runrole",
            name="model",
            field=models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name="+", to="llm.modelspec"),
        ),
        migrations.AlterField(
            model_name="turn",
            name="model",
            field=models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name="+", to="llm.modelspec"),
        ),
    ]
