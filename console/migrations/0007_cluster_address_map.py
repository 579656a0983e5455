from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0006_offset_changes"),
    ]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="address_map",
            field=models.JSONField(default=dict),
        ),
    ]
