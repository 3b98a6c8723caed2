

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_rotated_keys"),
    ]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="made_by",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                help_text="The key of the program that created it, with which it ends.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="made_keys",
                to="accounts.apikey",
            ),
        ),
    ]
