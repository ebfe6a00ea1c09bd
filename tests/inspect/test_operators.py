"""What each instruction costs: the table, its file, and how it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.chart import operators_svg
from bench.cli import app
from bench.errors import InputError, RecordError
from bench.operators import REMAINDER, OperatorTable, read_table, shape_text

RUN = CliRunner()


def test_rows_and_remainder_are_the_whole(table: OperatorTable) -> None:
    """What the rows do not have is the remainder; shares are of the whole."""
    assert 100 == table.remainder
    assert table.latency == sum(row.value for row in table.rows) + table.remainder
    assert [0.1, 0.75, 0.05] == [row.share for row in table.rows]
    assert 800 / 750 == table.rows[1].macs_per_unit


def test_file_round_trip(table: OperatorTable) -> None:
    """What is written is read, with and without estimated cycles."""
    estimated = table.with_estimate({0: 120.0, 1: 900.5, 2: 70.0})

    assert table == read_table(table.to_json())
    assert estimated == read_table(estimated.to_json())


def test_file_names_the_unit_of_each_figure(table: OperatorTable) -> None:
    """A reader of the JSON finds the unit at the figure, and the remainder by its name."""
    raw = json.loads(table.to_json())

    assert 750 == raw["rows"][1]["instructions"]
    assert 800 / 750 == raw["rows"][1]["macs_per_instruction"]
    assert {"name": REMAINDER, "instructions": 100} == {
        key: raw["remainder"][key] for key in ("name", "instructions")
    }
    assert "est_cycles" not in raw["rows"][1]


def test_foreign_file_is_refused() -> None:
    """A table of another version is not read as this one."""
    with pytest.raises(ValueError, match="schema 2"):
        read_table('{"schema": 2}')


def test_shapes_as_text(table: OperatorTable) -> None:
    """Shapes of activations, as inputs -> output."""
    assert "1x4 -> 1x200" == shape_text(table.rows[1].info)


def test_chart_is_reproducible_svg(table: OperatorTable) -> None:
    """The same table gives the same bytes: charts can be committed."""
    first = operators_svg(table, "toy")

    assert first.startswith(b"<?xml")
    assert first == operators_svg(table, "toy")


def test_show_operators_prints_rows_and_remainder(results: Path) -> None:
    """The table has every instruction, the remainder and the whole."""
    shown = RUN.invoke(app, ["show", str(results), "--operators"])

    assert 0 == shown.exit_code
    for text in ("cortex_m::quantized_linear.out", "net.0", "750", "75.0%", REMAINDER, "1,000"):
        assert text in shown.output


def test_show_operators_as_json(results: Path, table: OperatorTable) -> None:
    """--json prints a list of the files."""
    shown = RUN.invoke(app, ["show", str(results), "--operators", "--json"])

    assert [json.loads(table.to_json())] == json.loads(shown.output)


def test_show_operators_writes_files(results: Path, tmp_path: Path) -> None:
    """--etdump and --chart write the one run that is left."""
    etdump, chart = tmp_path / "run.etdp", tmp_path / "run.svg"

    RUN.invoke(
        app,
        ["show", str(results), "--operators", f"--etdump={etdump}", f"--chart={chart}"],
        catch_exceptions=False,
    )

    assert etdump.read_bytes()[8:12] == b"ED00"
    assert b"<svg" in chart.read_bytes()


def test_files_need_one_run(results: Path, tmp_path: Path) -> None:
    """A file of no run or of several is refused, not guessed."""
    with pytest.raises(InputError, match="0 match"):
        RUN.invoke(
            app,
            ["show", str(results), "--operators", "--model=no", f"--chart={tmp_path / 'x'}"],
            catch_exceptions=False,
        )


def test_changed_table_is_refused(results: Path) -> None:
    """A table that is not what the run wrote is not shown."""
    file = next(results.rglob("*operators.json"))
    file.write_bytes(file.read_bytes().replace(b"750", b"350"))

    with pytest.raises(RecordError, match="not what the run wrote"):
        RUN.invoke(app, ["show", str(results), "--operators"], catch_exceptions=False)
