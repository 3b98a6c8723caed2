"""How a process that is to end tells its learners."""

import threading

_closing = threading.Event()


def stop_all_learning() -> None:
    """Ask whatever learns in this process to stop soon; another worker takes it up."""
    _closing.set()


def closing() -> bool:
    """Whether this process is about to end."""
    return _closing.is_set()
