from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("labels", "0002_label_role")]

    operations = [
        # The condition of an index does not follow a renamed field.
        migrations.RemoveIndex(model_name="itemstate", name="labels_state_known"),
        migrations.RenameField("itemstate", "wanted", "required_labels"),
        migrations.RenameField("itemstate", "kept", "reserved_slots"),
        migrations.RenameField("itemstate", "known", "is_gold_question"),
        migrations.RenameField("itemstate", "learned", "model_uncertainty"),
        migrations.AddIndex(
            model_name="itemstate",
            index=models.Index(
                fields=["project", "item"],
                condition=models.Q(is_gold_question=True),
                name="labels_state_known",
            ),
        ),
    ]
