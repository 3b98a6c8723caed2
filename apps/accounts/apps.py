from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "apps.accounts"
    verbose_name = "People and keys"  # the account library has a group of that name in the console

    def ready(self) -> None:
        """Log sign-ins, and deletions in the console."""
        from apps.accounts import security_log  # noqa: F401, PLC0415 - connects signals; needs models
