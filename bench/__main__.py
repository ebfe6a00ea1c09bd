"""`python -m bench` is the `bench` command."""

from __future__ import annotations

from bench.cli import main

main()
