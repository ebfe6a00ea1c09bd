"""Commands about devices on this bench: doctor, flash, recover, and which boards are attached."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.attach import Attach, Mode, target_for
from bench.board import all_boards
from bench.cache import write_atomically
from bench.catalogue import find_boards
from bench.errors import InputError
from bench.site import Device, draft, read_site, same_id, site_path
from bench.targets.attached import attached_both
from bench.targets.chips import target_name
from bench.targets.device import DeviceTarget

if TYPE_CHECKING:
    from bench.board import Board
    from bench.doctor import Report
    from bench.image import Image

_JSON = typer.Option("--json", help="Print JSON for a machine instead of a table.")
_PACK_DIR = typer.Option("--pack-dir", help="Where CMSIS-Packs lie (repeatable).")
_NOT_USABLE = 3


def register(app: typer.Typer) -> None:
    """Add this module's commands to the `bench` command."""
    app.command()(doctor)
    app.command()(flash)
    app.command()(recover)


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    for heading in headings:
        table.add_column(heading)
    return table


def _simulated_bus() -> tuple[tuple[str, str], ...]:
    """Return simulated devices that $BENCH_SIMULATED_BUS plugs in: KIND:UID, separated by commas."""
    named = os.environ.get("BENCH_SIMULATED_BUS", "")
    pairs = [item.partition(":") for item in named.split(",") if item]
    return tuple((kind, uid) for kind, _, uid in pairs)


def doctor(
    *,
    pack_dir: Annotated[list[Path] | None, _PACK_DIR] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """List tools, probes, ports, packs and devices, and what each missing thing would enable."""
    from bench.doctor import examine  # noqa: PLC0415  only this command looks at everything

    report = examine(tuple(pack_dir or ()), _simulated_bus())
    if as_json:
        told = asdict(report)
        for tool, entry in zip(report.tools, told["tools"], strict=True):
            entry["state"] = tool.state
        typer.echo(json.dumps(told, indent=1))
    else:
        _print_report(report)
    if report.problems or any(device.problem for device in report.devices):
        raise typer.Exit(_NOT_USABLE)


def _print_report(report: Report) -> None:
    console = Console(width=None if sys.stdout.isatty() else 240)
    table = _table("tools", "tool", "version", "state", "for")
    for tool in report.tools:
        table.add_row(tool.name, tool.version or "-", tool.state, tool.enables)
    console.print(table)
    table = _table("probes and ports", "what", "id", "description")
    for probe in report.attached.probes:
        table.add_row("probe", probe.uid, probe.description)
    for port in report.attached.ports:
        table.add_row(port.path, port.serial_number or "-", port.description)
    if table.row_count:
        console.print(table)
    else:
        console.print(
            "no probe is attached: boards that need one cannot be measured (docs/boards_on_a_bench.md)"
        )
    if report.packs:
        table = _table("packs", "pack", "version", "for", "file")
        for pack in report.packs:
            boards = ", ".join(pack.boards) or "no board"
            table.add_row(pack.id, pack.version, boards, pack.file or pack.problem)
        console.print(table)
    if report.devices:
        table = _table(f"devices of {report.site}", "device", "board", "probe", "port", "state")
        for device in report.devices:
            table.add_row(
                device.name,
                device.board,
                device.probe_uid,
                device.port or "-",
                device.problem or "ok",
            )
        console.print(table)
    else:
        console.print(
            "no devices: `bench boards --attached --write` drafts bench.toml from what is attached"
        )
    for problem in report.problems:
        console.print(problem)


def _one_board(board: str, device: str) -> Board:
    """Return the board that both options name."""
    if device and not board:
        board = read_site().named(device).board
    if not board:
        raise InputError("which device?", hint="--device=NAME of bench.toml, or --board=ID")
    chosen = find_boards(board)
    if len(chosen) != 1:
        raise InputError(f"{board!r} names {len(chosen)} boards, one is flashed")
    return chosen[0]


def _device_target(board: Board, attach: Attach) -> DeviceTarget:
    target = target_for(board, attach, _say)
    assert isinstance(target, DeviceTarget)  # --attach=hardware gives nothing else
    return target


def flash(
    *,
    board: Annotated[str, typer.Option(help="Board to flash.")] = "",
    device: Annotated[str, typer.Option(help="Device of bench.toml.")] = "",
    everything: Annotated[
        bool, typer.Option("--everything", help="Program what is there already, too.")
    ] = False,
    pack_dir: Annotated[list[Path] | None, _PACK_DIR] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Build a board's firmware, flash what differs, read it back."""
    from bench.build import build_image  # noqa: PLC0415  only this command builds

    chosen = _one_board(board, device)
    target = _device_target(chosen, Attach(Mode.HARDWARE, device, tuple(pack_dir or ())))
    image: Image = build_image(chosen)
    done = target.flash(chosen, image, everything=everything)
    if as_json:
        typer.echo(json.dumps(asdict(done)))
        return
    typer.echo(
        f"{done.device}: {done.programmed_bytes} bytes programmed, {done.identical_bytes} were there already "
        f"({done.seconds:.1f} s), read back and compared ({done.verify_seconds:.1f} s)"
    )


def recover(
    *,
    device: Annotated[str, typer.Option(help="Device of bench.toml.")],
    yes: Annotated[bool, typer.Option("--yes", help="Erase it.")] = False,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Unlock a device by erasing everything on it; without --yes only say what would be erased."""
    entry = read_site().named(device)
    board = _one_board("", device)
    what = f"all of {device} ({board.name}, probe {entry.uid}): Flash, settings and protection"
    if not yes:
        if as_json:
            typer.echo(json.dumps({"device": device, "erases": what, "erased": False}))
        else:
            typer.echo(f"this would erase {what}; add --yes to do it")
        raise typer.Exit(2)
    _say(f"erasing {what}")
    steps = _device_target(board, Attach(Mode.HARDWARE, device)).recover(board)
    if as_json:
        typer.echo(json.dumps({"device": device, "erases": what, "erased": True, "steps": steps}))
        return
    typer.echo(f"{device} is erased and answers ({', '.join(steps)}); flash it again")


def attached_boards(*, write: bool, as_json: bool) -> None:
    """List the probes that are attached with the device or board of each; with `write`, draft the site file.

    Devices that the file has already stay as they are.
    """
    known = read_site().device if site_path().exists() else []
    bus = (*(read_site().bus if known else ()), *_simulated_bus())
    kinds = {uid: kind for kind, uid in bus}
    probes = attached_both(bus, identify=True).probes
    rows, new = [], []
    for probe in probes:
        entry = next((d for d in known if same_id(d.uid, probe.uid)), None)
        boards = [
            b.id for b in all_boards().values() if probe.target and target_name(b) == probe.target
        ]
        board = entry.board if entry else boards[0] if boards else ""
        name = entry.name if entry else f"{board or 'unknown'}-{probe.uid[-4:]}"
        rows.append({"probe_uid": probe.uid, "description": probe.description, "board": board,
                     "device": entry.name if entry else ""})  # fmt: skip
        if entry is None:
            new.append(
                Device(
                    name=name,
                    board=board or "FILL-IN",
                    probe_uid=probe.uid,
                    simulated=kinds.get(probe.uid, ""),  # type: ignore[arg-type]
                )
            )
    if write and new:
        path = site_path()
        old = path.read_text() + "\n" if path.exists() else ""
        write_atomically(path, (old + draft(new, header=not old)).encode())
        _say(f"{len(new)} devices drafted in {path}")
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    table = _table("attached probes", "probe", "description", "board", "device")
    for row in rows:
        table.add_row(
            row["probe_uid"], row["description"], row["board"] or "?", row["device"] or "-"
        )
    Console(width=None if sys.stdout.isatty() else 240).print(
        table if rows else "no probe is attached"
    )
