"""What the tests say of themselves."""

from tests.postgresql import HERE, REPEATED


def test_the_files_that_postgresql_repeats_are_there() -> None:
    """Who renames a file that PostgreSQL must run names it there too."""
    files = [path.relative_to(HERE) for path in HERE.rglob("test_*.py")]
    patterns = [pattern for named in REPEATED.values() for pattern in named]
    assert [pattern for pattern in patterns if not any(path.match(pattern) for path in files)] == []
