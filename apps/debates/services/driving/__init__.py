"""Driving a run: claim debates, call models within limits and budget, store turns, close the run.

A worker calls ``worker.run_slice`` until the run has ended. Planning uses this package's call
costs, item preparation and precedents.
"""
