"""A night as Markdown and as JUnit XML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from bench.nightly.values import Finding, Kind, Level, Night

_COMMENT = 60_000  # characters; a comment on GitHub holds 65,536
_FIRST = re.compile(r"(latency|outputs|top1_device|flash_total|ram_total) \[|outputs")
_CAUSE = re.compile(r"(baseline: )?(operator|symbol)\b")
_UNWRITABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, 2.2
_MARKS = {Level.FAIL: "❌", Level.WARN: "⚠️", Level.NOTE: "i"}


def summary(night: Night) -> str:
    """Return the night in Markdown, fit for a comment: what failed first, what ran last.

    If all of it is too long for a comment, each cell tells its most important lines, causes among them, and how many
    more there are; the JUnit XML has all.
    """
    texts = (_summary(night, lines_a_cell) for lines_a_cell in (1_000, 12, 6, 4, 2))
    text = next((text for text in texts if len(text) <= _COMMENT), "")
    if not text:
        whole = _summary(night, 2)
        text = whole[: whole.rindex("\n", 0, _COMMENT)] + "\n\nand more: junit.xml has all of it\n"
    return text


def _brief(findings: Sequence[Finding], room: int) -> list[Finding]:
    """Return at most `room` findings of a cell, half of them causes if there are any, and how many more there are."""
    if len(findings) <= room:
        return list(findings)
    causes = [f for f in findings if _CAUSE.match(f.text)]
    rest = sorted((f for f in findings if f not in causes), key=lambda f: not _FIRST.search(f.text))
    chosen = rest[: room - min(len(causes), room // 2)]
    chosen += causes[: room - len(chosen)]
    more = Finding(findings[0].level, f"and {len(findings) - len(chosen)} more: junit.xml")
    return [*chosen, more]


def _summary(night: Night, lines_a_cell: int) -> str:
    ran = [one for one in night.cells if one.kind is Kind.RAN]
    retried = [one for one in ran if one.retries]
    lines = [f"## Night of {night.started_utc}: {night.verdict}", ""]
    counts = {kind: sum(one.kind is kind for one in night.cells) for kind in Kind}
    lines.append(", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count) + f"; {len(retried)} passed on retry")  # fmt: skip
    told = [(f, "") for f in night.findings]
    told += [
        (f, str(one.cell))
        for one in night.cells
        for level in Level
        for f in _brief([f for f in one.findings if f.level is level], lines_a_cell)
    ]
    told += [
        (Finding(Level.FAIL, one.messages[-1] if one.messages else "failed"), str(one.cell))
        for one in night.cells
        if one.kind is Kind.FAILED
    ]
    for level in Level:
        chosen = [(f, cell) for f, cell in told if f.level is level]
        if chosen:
            lines += ["", f"### {_MARKS[level]} {level.value}", "", "| cell | what |", "|---|---|"]
            lines += [f"| {cell or 'the night'} | {_one_line(f.text)} |" for f, cell in chosen]
    for title, kind in (
        ("could not run", Kind.INFRASTRUCTURE),
        ("left out, no time", Kind.LEFT_OUT),
    ):
        chosen_cells = [one for one in night.cells if one.kind is kind]
        if chosen_cells:
            lines += ["", f"### {title}", ""]
            lines += [
                f"- {one.cell}"
                + (f": {_one_line(one.messages[-1])} ({one.retries} tries)" if one.messages else "")
                for one in chosen_cells
            ]
    if retried:
        lines += ["", "### passed on retry", ""]
        lines += [f"- {one.cell}: {_one_line(one.messages[0])}" for one in retried]
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")[:300]


def junit(night: Night) -> bytes:
    """Return the night as JUnit XML: a case a cell, failures for what got worse, errors for what could not run."""
    suite = ET.Element("testsuite", name="bench nightly", timestamp=night.started_utc)
    for one in night.cells:
        case = ET.SubElement(
            suite, "testcase", classname=one.cell.board, name=f"{one.cell.model}-{one.cell.scheme}", time=f"{one.seconds:.1f}"
        )  # fmt: skip
        bad = [f.text for f in one.findings if f.level is Level.FAIL]
        if one.kind is Kind.FAILED:
            bad += one.messages[-1:]
        if bad:
            ET.SubElement(case, "failure", message=bad[0][:200]).text = "\n".join(bad)
        if one.kind is Kind.INFRASTRUCTURE:
            text = one.messages[-1] if one.messages else "could not run"
            ET.SubElement(case, "error", message=text[:200]).text = text
        if one.kind is Kind.LEFT_OUT:
            ET.SubElement(case, "skipped", message="left out, no time")
        rest = [f"{f.level.value}: {f.text}" for f in one.findings if f.level is not Level.FAIL]
        if rest or one.retries:
            out = [*rest, *([f"passed on retry {one.retries}"] if one.retries else [])]
            ET.SubElement(case, "system-out").text = "\n".join(out)
    for finding in night.findings:
        case = ET.SubElement(suite, "testcase", classname="night", name=finding.text[:80])
        if finding.level is Level.FAIL:
            ET.SubElement(case, "failure", message=finding.text).text = finding.text
    suite.set("tests", str(len(suite)))
    for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    for part in suite.iter():  # what a device said may have what XML has not
        part.text = part.text and _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", part.text)
        for key, value in part.items():
            part.set(key, _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", value))
    data: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return data
