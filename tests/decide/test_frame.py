"""All records in one frame: nothing damaged is silent, the index is never in the way."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import bench
from bench import frame, record_index, store
from bench.cli import app
from bench.errors import InputError
from bench.record import Record, Status, read_record
from tests.decide.records import Save, estimate, instructions, make_record, nbytes

DATA = Path(__file__).parent / "data"


def test_a_row_is_a_measure_and_an_invalid_record_has_one(save: Save) -> None:
    """Oldest first; a record without measures is not lost."""
    root = save(
        make_record(instructions(10), nbytes("pte", 5), at=2),
        make_record(at=1, status=Status.INVALID),
    )

    found = bench.load(root)

    assert ["", "latency", "pte"] == list(found["measure"])
    assert ["invalid", "valid", "valid"] == list(found["status"])
    assert [10.0, 10.0, 10.0] == list(found["values"][1])


def test_an_estimate_keeps_its_band(save: Save) -> None:
    """The band is what makes an estimate usable."""
    found = bench.load(save(make_record(estimate(100, 90, 120))))

    assert (90.0, 120.0) == (found["band_low"][0], found["band_high"][0])


def test_several_folders_are_one_frame(tmp_path: Path, save: Save) -> None:
    """Records of several benches are merged."""
    first = save(make_record(instructions(1), at=3)).rename(tmp_path / "a")
    second = save(make_record(instructions(2), at=1)).rename(tmp_path / "b")

    found = bench.load(first, second)

    assert [2.0, 1.0] == list(found["median"])


def test_a_record_of_two_folders_that_overlap_counts_once(save: Save) -> None:
    """A folder named twice, or one below another, doubles no figure; what is left out is told once."""
    root = save(make_record(instructions(1)), make_record(instructions(2), board="mps3-an547"))
    (root / "mps2-an386" / "half.json").write_text("{")

    found = bench.load(root, root / "mps2-an386", root)

    assert [1.0, 2.0] == sorted(found["median"])
    assert 1 == len(found.attrs["left_out"])


def test_damaged_and_foreign_files_are_named_and_left_out(save: Save) -> None:
    """Truncated, foreign, of a newer schema, a directory of another name: the good one stays."""
    root = save(make_record(instructions(1)))
    good = next(root.rglob("*.json"))
    folder = good.parent
    (folder / "20260101T000000Z-int8-00000001.json").write_bytes(good.read_bytes()[:100])
    (folder / "20260101T000000Z-int8-00000002.json").write_text('{"a": 1}')
    newer = json.loads(good.read_text()) | {"schema": 99}
    (folder / "20260101T000000Z-int8-00000003.json").write_text(json.dumps(newer))
    wrong = json.loads(good.read_text()) | {"retries": "many"}
    (folder / "20260101T000000Z-int8-00000004.json").write_text(json.dumps(wrong))

    for attempt in ("first", "from the index"):
        found = bench.load(root)
        told = {item.path.name[-8:-5]: item.reason for item in found.attrs["left_out"]}

        assert 1 == len(found), attempt
        assert ["001", "002", "003", "004"] == sorted(told)
        assert "not whole JSON" in told["001"]
        assert "no record of this lab" in told["002"]
        assert "newer lab" in told["003"]
        assert "retries" in told["004"]


def test_the_index_follows_every_change(save: Save) -> None:
    """Files that come, go or change are seen; a broken index is made again."""
    root = save(make_record(instructions(1)), make_record(instructions(2)))
    bench.load(root)
    first, second = sorted(root.rglob("*.json"))
    first.unlink()
    text = json.loads(second.read_text())
    text["measures"][0]["median"] = 77.0
    second.write_text(json.dumps(text))
    save(make_record(instructions(3), at=5))

    assert [77.0, 3.0] == list(bench.load(root)["median"])

    (root / record_index.INDEX_NAME).write_bytes(b"PAR1 no")

    assert [77.0, 3.0] == list(bench.load(root)["median"])


def test_a_damaged_file_that_was_mended_comes_back(save: Save) -> None:
    """What was left out once is read again when it changed."""
    root = save(make_record(instructions(1)))
    path = next(root.rglob("*.json"))
    whole = path.read_bytes()
    path.write_bytes(whole[:50])

    assert 0 == len(bench.load(root))

    path.write_bytes(whole)

    assert 1 == len(bench.load(root))


def test_a_record_of_the_first_schema_still_loads(tmp_path: Path) -> None:
    """A record as this lab wrote it before estimates had bands."""
    (tmp_path / "old.json").write_bytes((DATA / "schema1.json").read_bytes())

    found = bench.load(tmp_path)

    assert [] == found.attrs["left_out"]
    assert 22_556_875.0 == found.loc[found["measure"] == "latency", "median"].iloc[0]


def test_exports_hold_every_measure(save: Save) -> None:
    """CSV, JSON, Parquet and Markdown of the same frame."""
    found = bench.load(save(make_record(instructions(1234567), nbytes("pte", 5))))

    csv = pd.read_csv(io.BytesIO(frame.export(found, frame.Format.CSV)))
    rows = json.loads(frame.export(found, frame.Format.JSON))
    parquet = pd.read_parquet(io.BytesIO(frame.export(found, frame.Format.PARQUET)))
    markdown = frame.export(found, frame.Format.MARKDOWN).decode()

    assert ["[1234567.0, 1234567.0, 1234567.0]", "[5.0]"] == list(csv["values"])
    assert [1234567, 5] == [row["median"] for row in rows]
    assert [1234567.0, 5.0] == list(parquet["median"])
    assert "| latency | instructions | count | 1,234,567 |" in markdown


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "markdown"])
def test_what_was_left_out_spoils_no_export(save: Save, kind: str, tmp_path: Path) -> None:
    """It is told on standard error; the file holds the good records."""
    root = save(make_record(instructions(1234567)))
    (root / "half.json").write_text('{"run_id": ')

    done = CliRunner().invoke(app, ["show", str(root), f"--format={kind}", f"--out={tmp_path / 'x'}"])  # fmt: skip

    assert 0 == done.exit_code, done.exception
    assert "half.json: not whole JSON" in done.stderr
    assert (tmp_path / "x").stat().st_size > 0


def test_a_table_leaves_out_what_the_frame_leaves_out(save: Save) -> None:
    """`bench show` and `bench.load` read alike: the same files, the same reasons."""
    root = save(make_record(instructions(1)))
    good = next(root.rglob("*.json"))
    newer = json.loads(good.read_text()) | {"schema": 99}
    (good.parent / "20260101T000000Z-int8-00000003.json").write_text(json.dumps(newer))
    (root / "half.json").write_text('{"run_id": ')

    records, bad = store.load(root)
    left_out = bench.load(root).attrs["left_out"]

    assert [good] == [path for path, _ in records]
    assert {(b.path, b.reason) for b in bad} == {(b.path, b.reason) for b in left_out}
    assert 2 == len(bad)


def test_latest_is_one_record_a_cell(save: Save) -> None:
    """Newest of each board, device, model, scheme and engine."""
    root = save(
        make_record(instructions(1), at=1),
        make_record(instructions(2), at=2),
        make_record(instructions(3), at=1, scheme="fp32"),
    )

    assert {2.0, 3.0} == set(frame.latest(bench.load(root))["median"])


def test_a_folder_that_is_not_there_is_named() -> None:
    """Not an empty frame."""
    with pytest.raises(InputError, match="no such folder"):
        bench.load("no-such-folder")


def test_pandas_is_not_imported_by_the_package() -> None:
    """Nor by the command or the pytest plugin: a warm benchmark run need not pay for it."""
    script = (
        "import sys; from bench import load; import bench.cli, bench.pytest_plugin; "
        "sys.exit('pandas' in sys.modules)"
    )

    assert 0 == subprocess.run([sys.executable, "-c", script], check=False).returncode


def test_ten_thousand_records_load_within_two_seconds(tmp_path: Path) -> None:
    """From a warm index; the first time every file is validated."""
    text = make_record(instructions(1), nbytes("pte", 5)).model_dump_json(by_alias=True)
    for number in range(10_000):
        folder = tmp_path / f"board{number % 10}"
        folder.mkdir(exist_ok=True)
        (folder / f"20260101T000000Z-int8-{number:08x}.json").write_text(text)
    first = bench.load(tmp_path)

    fastest = float("inf")  # of three: the machine may be busy with other things
    for _ in range(3):
        start = time.perf_counter()
        again = bench.load(tmp_path)
        fastest = min(fastest, time.perf_counter() - start)

    assert 10_000 == first["path"].nunique() == again["path"].nunique()
    assert fastest < 2.0


def test_a_record_survives_being_written_and_read(save: Save) -> None:
    """`read_record` is the inverse of `store.save`, files apart."""
    made = make_record(estimate(3, 2, 4))
    path = next(save(made).rglob("*.json"))

    assert made == read_record(path.read_bytes())
    assert isinstance(made, Record)
