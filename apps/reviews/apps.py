from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "apps.reviews"

    def ready(self) -> None:
        """Hear of people who leave a project."""
        from apps.projects.signals import reviewer_left  # noqa: PLC0415 - models must be loaded
        from apps.reviews.queue.reviewer_status import free_work  # noqa: PLC0415 - the same

        reviewer_left.connect(free_work)
