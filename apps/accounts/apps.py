from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "apps.accounts"
    verbose_name = "People and keys"  # the account library has a group of that name in the console

    def ready(self) -> None:
        """Record sign-ins, whichever way people take."""
        from apps.accounts import sign_ins  # noqa: F401, PLC0415 - models must be loaded first
