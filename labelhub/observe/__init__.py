"""What an operator sees: log lines, metrics, traces and error reports."""
