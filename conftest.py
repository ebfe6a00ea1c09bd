"""Loads the lab's pytest plugin: options, fixtures and the summary table."""

from __future__ import annotations

pytest_plugins = ["bench.pytest_plugin"]
