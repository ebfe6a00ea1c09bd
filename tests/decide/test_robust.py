"""Killed, raced, out of space: no record is half there, and none that was written is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bench
from bench import store
from bench.errors import RecordError
from tests.decide.records import instructions, make_record, night

KILLS = int(os.environ.get("BENCH_KILLS", "20"))
WRITER = """
import sys
from pathlib import Path
from bench import store
from tests.decide.records import instructions, make_record
root, tag, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
big = bytes(200_000)
print("ready", flush=True)
for number in range(count):
    record = make_record(instructions(number), run_id=f"{tag}{number:06x}")
    store.save(record, {"output_0.bin": big, "transcript.txt": big}, root)
    print(record.run_id, flush=True)
"""


def _writer(root: Path, tag: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root), tag, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def test_a_killed_writer_leaves_no_half_record_and_loses_none(tmp_path: Path) -> None:
    """SIGKILL at random moments; every record that was said to be written is there, whole, with its files."""
    rng = random.Random(1)
    promised: set[str] = set()
    for kill in range(KILLS):
        writer = _writer(tmp_path, f"{kill:02x}", 100_000)
        assert writer.stdout is not None
        assert "ready\n" == writer.stdout.readline()
        time.sleep(rng.uniform(0, 0.15))
        writer.send_signal(signal.SIGKILL)
        promised |= {line.strip() for line in writer.stdout.read().splitlines(keepends=True) if line.endswith("\n")}  # fmt: skip
        writer.wait()

    found = bench.load(tmp_path)

    assert [] == found.attrs["left_out"]
    assert promised <= set(found["run_id"])
    for record in tmp_path.rglob("2*.json"):
        for suffix in ("output_0.bin", "transcript.txt"):
            assert 200_000 == record.with_suffix(f".{suffix}").stat().st_size


def test_two_writers_and_a_reader_do_not_harm_one_another(tmp_path: Path) -> None:
    """All records of both, while the index is being written too."""
    writers = [_writer(tmp_path, tag, 40) for tag in ("aa", "bb")]
    while any(writer.poll() is None for writer in writers):
        assert [] == bench.load(tmp_path).attrs["left_out"]
        time.sleep(0.02)

    assert [0, 0] == [writer.returncode for writer in writers]
    assert 80 == bench.load(tmp_path)["path"].nunique()


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    """A file-size limit stands for the disk: the fault is named, the old records stay, nothing half is left."""
    store.save(make_record(instructions(1)), {}, tmp_path)
    script = (
        "import resource, signal, sys\nfrom pathlib import Path\nfrom bench import store\n"
        "from bench.errors import RecordError\nfrom tests.decide.records import instructions, make_record\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    store.save(make_record(instructions(2), run_id='ffffffff'), {}, Path(sys.argv[1]))\n"
        "except RecordError as fault:\n    print(fault)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )

    assert "cannot be written" in done.stdout
    assert "free the disk or pass --record=DIR" in done.stdout
    assert 1 == bench.load(tmp_path)["path"].nunique()
    assert 1 == len([p for p in tmp_path.rglob("*") if p.is_file() and "index" not in p.name])


def test_a_directory_that_cannot_be_written_is_told_and_still_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading works without an index; saving names the folder."""
    store.save(make_record(instructions(1)), {}, tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("bench.cache.tempfile.mkstemp", refuse)

    assert 1 == len(bench.load(tmp_path))
    assert not (tmp_path / ".index.parquet").exists()
    with pytest.raises(RecordError, match="Permission denied"):
        store.save(make_record(instructions(2)), {}, tmp_path)


def test_a_clock_that_jumps_back_overwrites_nothing(tmp_path: Path) -> None:
    """Two runs of one second, and one from before: three records, in order of their times."""
    for at, value in ((5, 1), (5, 2), (1, 3)):
        store.save(make_record(instructions(value), at=night(at)), {}, tmp_path)

    assert [3.0, 1.0, 2.0] == list(bench.load(tmp_path)["median"])
