from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("console", "0014_former_secret")]

    operations = [
        migrations.AddField(
            model_name="knownbroker",
            name="store_id",
            field=models.TextField(default=""),
        ),
    ]
