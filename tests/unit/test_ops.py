"""The coverage table says what the sources register, against the wheel's own lists."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from bench.cache import PROJECT
from bench.ops import coverage, others, summary

README = PROJECT / "README.md"


def test_every_cortex_m_operator_has_a_kernel() -> None:
    """Nothing of the wheel's operators.yaml is missing, the explicit-layout variants included."""
    part = coverage()["cortex_m"]

    assert [] == [o.name for o in part.operators if not o.kernel]
    assert "cortex_m::quantized_conv2d_nhwc.out" in {o.name for o in part.operators}


def test_faster_kernels_are_named() -> None:
    """Where an instruction set has its own kernel, the table says so."""
    by_name = {o.name: o for o in coverage()["cortex_m"].operators}

    assert {"dsp", "mve", "scalar"} <= set(by_name["cortex_m::quantized_conv2d.out"].faster)


def test_kernels_beside_the_lists() -> None:
    """What upstream lists nowhere is still shown."""
    assert "aten::linear.out" in others()


def test_missing_operators_are_told() -> None:
    """`bench ops --json` has every operator, with and without a kernel, and counts that add up."""
    done = subprocess.run(
        [sys.executable, "-m", "bench", "ops", "--json"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    portable = json.loads(done.stdout)["lists"]["portable"]
    without = [o["name"] for o in portable["operators"] if not o["kernel"]]
    assert portable["total"] == portable["covered"] + len(without)
    assert "aten::nonzero.out" in without


def test_what_has_no_kernel_is_documented_with_its_reason() -> None:
    """docs/kernels.md lists exactly the operators without a kernel."""
    text = (PROJECT / "docs" / "kernels.md").read_text(encoding="utf-8")
    rows = text.partition("## Operators without a kernel")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`((?:aten|et_copy)::[\w.]+)`", rows))
    missing = {o.name for part in coverage().values() for o in part.operators if not o.kernel}

    assert missing == documented


def test_the_readme_has_the_summary() -> None:
    """The README's line is the one that the command prints."""
    assert summary(coverage()) in README.read_text(encoding="utf-8")
