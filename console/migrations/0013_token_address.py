from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("console", "0012_topic_notes")]

    operations = [
        migrations.AddField(
            model_name="token",
            name="last_used_address",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
    ]
