"""Which tests ``make test-services`` repeats on PostgreSQL: those of what can differ there.

Where SQL, threads or processes are the subject, the second database may disagree with the first.
What only asks for rows and shows them is proven on SQLite; that each page and each REST operation
can ask PostgreSQL at all is proven once, in ``tests/services``.
"""

from pathlib import Path

HERE = Path(__file__).parent
#: Why → files of ``tests/``. ``tests/architecture/test_suite.py`` says when one names nothing.
REPEATED = {
    "processes: servers, workers and widgets over one PostgreSQL and one Redis": ["services/*"],
    "programs that are killed, and go on with what they had committed": [
        "*/test_kill*",
        "labelhub/test_repeat*",
        "labelhub/test_recovery*",
        "exchange/archive/*",
    ],
    "one who takes a thing shuts others out: leases, the queue, reserved money": [
        "labels/*",
        "reviews/test_*claim*",
        "reviews/test_*queue*",
        "reviews/test_assign*",
        "reviews/test_leaving*",
        "reviews/test_submi*",
        "reviews/test_adjudication.py",
        "debates/test_budget*",
        "debates/test_slices*",
        "authors/test_database*",
        "authors/test_limits*",
        "authors/test_rewards*",
        "complaints/*",
    ],
    "requests at the same instant, and what is told in order": [
        "common/test_api_races*",
        "common/test_conditional*",
        "common/test_idempotency*",
        "exchange/test_items_api*",
        "exchange/test_label_import*",
        "exchange/test_since*",
    ],
    "long work: chunks that commit, and what is undone with them": [
        "common/test_jobs*",
        "common/test_bulk*",
        "reviews/test_bulk_jobs*",
        "reviews/test_schema_changes.py",
        "debates/test_store*",
        "exchange/test_webhook_queue*",
        "exchange/test_webhook_threads*",
        "exchange/test_import*",
        "echo/test_learning*",
    ],
    "SQL that each database spells in its own way: JSON, text, order, prepared statements": [
        "agreement/test_rulings*",
        "agreement/test_sli*",
        "common/test_cache*",
        "common/test_throttle*",
        "common/test_outages*",
        "common/test_prepared*",
        "labelhub/test_console*",
        "llm/test_spending*",
        "common/test_rows*",
        "debates/test_*filters*",
        "debates/test_routing_rules*",
        "exchange/test_webhook_feed*",
        "projects/test_selectors*",
        "reviews/test_search*",
    ],
    "what is erased is gone, and constraints hold": [
        "authors/test_privacy*",
        "common/test_audit*",
        "dashboards/test_personal_data*",
        "labelhub/test_retention*",
        "authors/test_answers*",
    ],
}


def is_repeated(path: Path) -> bool:
    """Whether PostgreSQL runs the tests of this file too."""
    within = path.relative_to(HERE)
    return any(within.match(pattern) for files in REPEATED.values() for pattern in files)
