"""Records as a table for people: evidence apart, every figure with its unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from bench.program import NO_ORACLE, is_quantized
from bench.record import Evidence, Measure, Record, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.program import Manifest

_TITLES = {
    Evidence.SILICON: "measured on silicon (cycles)",
    Evidence.COUNT: "emulated boards, and twins of boards that were not there: instructions under QEMU, not cycles",
    Evidence.WALLCLOCK: "this machine: wall-clock time",
}


def evidence_of(record: Record) -> Evidence | None:
    """Return what the record's latency is, None for a record without one."""
    latency = record.find("latency_first")
    return latency.evidence if latency is not None else None


def evidence_title(record: Record) -> str:
    """Return what the record's latency is, as the titles of tables say it."""
    kind = evidence_of(record)
    return "" if kind is None else _TITLES.get(kind, kind.value)


def tables(records: Iterable[Record]) -> list[Table]:
    """Return a table for each kind of evidence, and one of the invalid records."""
    groups: dict[Evidence | None, list[Record]] = {}
    for record in records:
        groups.setdefault(evidence_of(record), []).append(record)
    found = []
    for evidence, group in groups.items():
        if evidence is None:
            found.append(_invalid_table(group))
        else:
            found.append(_table(_TITLES.get(evidence, evidence.value), group))
            if any(best_latency(record, estimated=True) for record in group):
                found.append(_estimate_table(group))
    return found


def _table(title: str, records: list[Record]) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    for heading in ("board", "core", "model", "scheme"):
        table.add_column(heading, no_wrap=True)
    for heading in (
        "latency",
        "per MAC",
        "RAM B",
        "Flash B",
        "≠ host int8",
        "SNR vs float",
        "top-1",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("status")
    for record in sorted(records, key=lambda r: (r.model.name, r.scheme, r.board.cpu, r.board.id)):
        table.add_row(
            board_label(record),
            record.board.cpu.removeprefix("cortex-").upper(),
            record.model.name,
            record.scheme,
            _latency(record),
            _per_mac(record),
            _ram(record),
            _flash(record),
            _mismatch(record),
            _decibel(record),
            _top1(record),
            _status(record),
        )
    return table


def _estimate_table(records: list[Record]) -> Table:
    """Return what the timing models say, apart from what was counted or measured."""
    title = "estimated cycles: a timing model over the counts, never measured; the band is its error (docs/estimate.md)"
    table = Table(title=title, title_justify="left", header_style="bold")
    for heading in ("board", "core", "model", "scheme"):
        table.add_column(heading, no_wrap=True)
    for heading in ("estimate", "band", "per MAC"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("band from")
    for record in sorted(records, key=lambda r: (r.model.name, r.scheme, r.board.cpu, r.board.id)):
        measure = best_latency(record, estimated=True)
        if measure is None or measure.band is None:
            continue
        low, high = measure.band
        table.add_row(
            board_label(record),
            record.board.cpu.removeprefix("cortex-").upper(),
            record.model.name,
            record.scheme,
            f"{measure.median:,.0f} est. cycles",
            f"{low:,.0f} - {high:,.0f}",
            f"{measure.median / record.program.macs:.2f}" if record.program.macs else "-",
            measure.source,
        )
    return table


def _invalid_table(records: list[Record]) -> Table:
    table = Table(title="invalid: nothing was measured", title_justify="left", header_style="bold")
    for heading in ("board", "model", "scheme", "why"):
        table.add_column(heading)
    for record in records:
        why = "; ".join(f"{issue.code}: {issue.message}" for issue in record.issues)
        table.add_row(board_label(record), record.model.name, record.scheme, why)
    return table


def best_latency(record: Record, *, estimated: bool = False) -> Measure | None:
    """Return the warm latency, else the first; of the timing model only if asked for."""
    for name in ("latency", "latency_first"):
        for measure in record.measures:
            if measure.name == name and (measure.evidence is Evidence.ESTIMATE) == estimated:
                return measure
    return None


def _latency(record: Record) -> str:
    measure = best_latency(record)
    if measure is None:
        return "-"
    if measure.unit == "ms":
        return f"{measure.median:.3f} ms"
    short = {"instructions": "instr", "cycles": "cycles"}.get(measure.unit, measure.unit)
    return f"{measure.median:,.0f} {short}"


def _per_mac(record: Record) -> str:
    measure = best_latency(record)
    if measure is None or measure.unit == "ms" or not record.program.macs:
        return "-"
    return f"{measure.median / record.program.macs:.2f}"


_LAB_RAM = (
    "lab_ram_static",
    "lab_ram_planned",
    "lab_ram_method",
    "lab_ram_temporary",
    "lab_ram_stack",
)


def _ram(record: Record) -> str:
    """Return the deployment image's RAM; `<` marks the lab image's, an upper bound."""
    return _sum(record, "ram_total") if record.find("ram_total") else "< " + _sum(record, *_LAB_RAM)


def _flash(record: Record) -> str:
    """Return the deployment image's Flash, the program included; `<` marks the lab image's."""
    if record.find("flash_total"):
        return _sum(record, "flash_total")
    return "< " + _sum(record, "lab_flash_image", "pte")


def _sum(record: Record, *names: str) -> str:
    found = [record.find(name) for name in names]
    if any(measure is None for measure in found[:1]):
        return "-"
    return f"{sum(measure.median for measure in found if measure is not None):,.0f}"


def _mismatch(record: Record) -> str:
    measure = record.find("mismatch_host_int8", "elements")
    if measure is None:
        return "-" if is_quantized(record.scheme) else "n/a"
    return f"{measure.median:,.0f} of {measure.n:,}"


def _decibel(record: Record) -> str:
    measure = record.find("error_float", "dB")
    return f"{measure.median:.1f} dB" if measure is not None else "-"


def _top1(record: Record) -> str:
    device = record.find("top1_device")
    if device is None or device.interval is None:
        # of a ready .pte nobody knows
        return "-" if record.model.trained or record.oracle == NO_ORACLE else "untrained"
    low, high = device.interval
    text = f"{device.median:.1%} [{low:.1%}, {high:.1%}] n={device.n}"
    beside = [
        f"{label} {measure.median:.1%}"
        for label, measure in (
            ("host int8", record.find("top1_host_int8")),
            ("float", record.find("top1_float")),
        )
        if measure is not None
    ]
    return f"{text} ({', '.join(beside)})" if beside else text


def _status(record: Record) -> str:
    text = record.status.value
    if record.status is not Status.VALID:
        text += f" ({', '.join(sorted({issue.code for issue in record.issues}))})"
    return text + (" dirty" if record.dirty else "")


_SHOWN_FINDINGS = 6


def export_report(manifests: Iterable[Manifest]) -> list[str]:
    """Return what the export has to say, a paragraph for each model and scheme: int8 share, floats, copies, warnings."""
    lines: list[str] = []
    for manifest in {(m.model, m.scheme): m for m in manifests}.values():
        if not manifest.macs:  # a ready .pte: its layers and MACs are unknown
            continue
        groups: dict[str, list[str]] = {}
        for finding in manifest.findings:
            text = f"{finding.node}: {finding.message}" if finding.node else finding.message
            groups.setdefault(finding.code, []).append(text)
        share = (
            f"{manifest.int8_mac_fraction:.1%} of {manifest.macs:,} MACs in int8, "
            if manifest.quantized
            else ""
        )
        counts = [
            f"{len(groups.get(code, []))} {name}"
            for code, name in (("float-node", "nodes left float"), ("layout-copy", "layout copies"))
        ]
        lines.append(f"{manifest.model} {manifest.scheme}: {share}{', '.join(counts)}")
        for code, texts in groups.items():
            if code == "untrained":
                continue  # the table says so
            lines += [f"  {code}: {text}" for text in texts[:_SHOWN_FINDINGS]]
            if len(texts) > _SHOWN_FINDINGS:
                lines.append(
                    f"  {code}: and {len(texts) - _SHOWN_FINDINGS} more, in program.json beside the record"
                )
    return lines


def board_label(record: Record) -> str:
    """Return the board's name; of one that was not there, with what stood in for it."""
    stands_in = record.attachment in {"twin", "fvp", "simulated"}
    return f"{record.board.id} ({record.attachment})" if stands_in else record.board.id


def one_line(record: Record) -> str:
    """Return a record in a few words, for progress."""
    top1 = record.find("top1_device")
    accuracy = f", top-1 {top1.median:.1%}" if top1 is not None else ""
    return f"{board_label(record)} {record.model.name} {record.scheme}: {_latency(record)}{accuracy}, {record.status}"
