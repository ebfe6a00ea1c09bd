"""The same app as a process: how it takes bad bundles. It runs under sanitizers."""

from __future__ import annotations

import dataclasses
import struct
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import compile_cache, process
from bench.board import Board, all_boards
from bench.build import FLATC, schema_dir
from bench.bundle import Bundle, pack_mailbox
from bench.cache import BUILD, PROJECT
from bench.wire import read_lines
from tests.firmware.support import FIELDS, NONCE, Ran, edited, raw_bundle, run_on, upstream_bundle

pytestmark = pytest.mark.toolchain

BOARD = all_boards()["host"]


@cache
def sanitized() -> Path:
    """Build the host image with AddressSanitizer and UndefinedBehaviorSanitizer."""
    folder = BUILD / "firmware" / "host-sanitized"
    commands = [["ninja", "-C", str(folder), "-j2", "lab.elf"]]
    if not (folder / "build.ninja").exists():
        configure = [
            *("cmake", "-G", "Ninja", "-S", str(PROJECT / "firmware"), "-B", str(folder)),
            *("-DBOARD=host", "-DSANITIZE=ON", compile_cache.launcher()),
            *(f"-DEXECUTORCH_SCHEMA_DIR={schema_dir()}", f"-DFLATC={FLATC}"),
        ]
        commands.insert(0, configure)
    for command in commands:
        done = process.run(command, deadline_s=300.0, environment=compile_cache.environment())
        assert done.exit_code == 0, done.stdout.decode()[-2000:]
    return folder / "lab.elf"


def run_sanitized(bundle: Bundle) -> Ran:
    """Run the bundle; a sanitizer's report or a signal fails the test."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "bundle", Path(folder) / "mailbox"]
        files[0].write_bytes(bundle.data)
        files[1].write_bytes(pack_mailbox(NONCE))
        done = process.run(
            [str(sanitized()), "--bundle", str(files[0]), "--mailbox", str(files[1])],
            deadline_s=30.0,
        )
    lines, noise_bytes, damage = read_lines(done.stdout)
    assert done.stderr == b""
    assert (noise_bytes, damage, done.exit_code in (0, 1)) == (0, (), True)
    return dataclasses.replace(Ran((), None), lines=lines)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "code", "have_need"),
    [
        ({"magic": b"LABC"}, "bundle-magic", None),
        ({"version": 2}, "bundle-version", (2, 1)),
        ({"header_bytes": 64}, "bundle-header", (64, 128)),
        ({"total_bytes": 64}, "bundle-header", (64, 128)),
        ({"total_bytes": 1 << 30}, "slot-too-small", (5616, 1 << 30)),
        ({"pte_offset": 136}, "bundle-layout", None),
        ({"pte_offset": 0}, "bundle-layout", None),
        ({"pte_offset": 0xFFFFFFF0}, "bundle-layout", None),
        ({"pte_bytes": 0xFFFFFFFF}, "bundle-layout", None),
        ({"samples_offset": 64}, "bundle-layout", None),
        ({"sample_count": 0}, "bundle-layout", None),
        ({"sample_count": 0x10000001}, "bundle-layout", None),
        ({"sample_stride_bytes": 8}, "bundle-layout", None),
        ({"method": bytes(32)}, "bundle-method", None),
        ({"method": b"x" * 32}, "bundle-method", None),
        ({"method": b"backward" + bytes(24)}, "method-missing", None),
        ({"flags": 16}, "bundle-flags", (16, 15)),
        ({"inject": 77}, "bundle-inject", (77, 10)),
        ({"inject": 5}, "inject-unsupported", None),
        ({"arena_limit_bytes": 1 << 30}, "arena-too-small", ((64 << 20) - 16, 1 << 30)),
        ({"sample_stride_bytes": 16}, "bundle-sample", (16, 256)),
    ],
    ids=str,
)
def test_a_wrong_header_is_named(
    fields: dict[str, int | bytes], code: str, have_need: tuple[int, int] | None
) -> None:
    """Each field that cannot be has its own error, with what is and what was needed."""
    ran = run_sanitized(edited(upstream_bundle(BOARD, "linear"), **fields))

    error = ran.one("error")
    assert error["code"] == code
    if have_need is not None:
        assert (int(error["have"]), int(error["need"])) == have_need
    assert ran.one("end")["status"] == "error"


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(set(FIELDS) - {"magic", "method", "inject"})),
    st.integers(0, 0xFFFFFFFF),
)
def test_no_header_makes_the_app_read_outside_the_bundle(field: str, value: int) -> None:
    """Whatever a field says, the sanitizers stay silent and the run ends."""
    ran = run_sanitized(edited(upstream_bundle(BOARD, "linear"), **{field: value}))

    assert ran.kinds[-1] == "end"


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 5_615))
def test_no_truncation_makes_the_app_read_outside_the_bundle(length: int) -> None:
    """A bundle that reached the slot in part ends in an error."""
    ran = run_sanitized(raw_bundle(upstream_bundle(BOARD, "linear").data[:length]))

    assert ran.one("end")["status"] == "error"


def test_the_host_answers_with_upstreams_output() -> None:
    """The sanitized process gives the same bytes as a device does."""
    ran = run_sanitized(upstream_bundle(BOARD, "linear", operator_ticks=True))

    assert ran.one("output_end")["crc"] == "c6d4d564"
    assert ran.one("end")["status"] == "ok"


def test_nobody_wrote_the_mailbox(tmp_path: Path) -> None:
    """Without a mailbox's magic and version the nonce is 0."""
    box = tmp_path / "mailbox"
    box.write_bytes(struct.pack("<4sIQ16x", b"XXXX", 1, NONCE))

    done = process.run([str(sanitized()), "--mailbox", str(box)], deadline_s=30.0)

    lines, _, _ = read_lines(done.stdout)
    assert lines[0].fields["nonce"] == "0" * 16


@pytest.mark.parametrize(("inject", "types"), [(2, {"ill"}), (4, {"stack_overflow"})])
def test_signals_are_fault_lines(host: Board, inject: int, types: set[str]) -> None:
    """A process that is hit by a signal says so in the wire's own words."""
    ran = run_on(host, edited(upstream_bundle(host, "linear"), inject=inject))

    assert ran.one("fault")["type"] in types
    assert ran.one("end")["status"] == "fault"
    assert ran.transcript.exit_code == 2
