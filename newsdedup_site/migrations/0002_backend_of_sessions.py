from django.contrib.sessions.backends.db import SessionStore
from django.db import migrations

BEFORE = "django.contrib.auth.backends.ModelBackend"
AFTER = "newsdedup_site.access.backend.RightsBackend"


def name(old, new):
    """Let those who are logged in stay so: a session names the backend of its login."""

    def rename(apps, _editor):
        store = SessionStore()
        for session in apps.get_model("sessions", "Session").objects.iterator():
            data = store.decode(session.session_data)
            if data.get("_auth_user_backend") == old:
                session.session_data = store.encode(data | {"_auth_user_backend": new})
                session.save(update_fields=["session_data"])

    return rename


class Migration(migrations.Migration):
    dependencies = [("newsdedup_site", "0001_key_maps"), ("sessions", "0001_initial")]

    operations = [migrations.RunPython(name(BEFORE, AFTER), name(AFTER, BEFORE))]
