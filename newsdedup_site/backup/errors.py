"""Why a backup is not made or not restored."""


class BackupError(RuntimeError):
    """A backup cannot be made; nothing was written, and an older file of that name stays."""


class DamagedBackupError(RuntimeError):
    """A file is no backup, or not as it was written. Nothing was restored."""


class RestoreError(RuntimeError):
    """A backup cannot be restored here, and the message says what to do. Nothing was restored."""
