"""Tonight's records of a cell against what was before: exact figures, steps, accuracy, what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from bench import baseline, compare
from bench.changes import tool_changes
from bench.nightly.values import Cell, CellNight, Finding, Level
from bench.noise import difference_of_proportions, find_step, suspicious
from bench.quantity import show

if TYPE_CHECKING:
    import pandas as pd

    from bench.policy import MeasureRule, Policy

_WATCHED = 4  # suspicious nights in a row that are looked at together
_PAST = 200  # nights of history
_COLLAPSE = 20  # answers that are all the same class are no accident
_NOISY = frozenset({"silicon", "wallclock", "fvp"})


@dataclass(frozen=True)
class _Series:
    """A measure over nights, as `find_step` wants it."""

    history: list[float]
    firsts: list[float]
    again: list[float]
    settled: list[float]


class Judge:
    """Tonight's records of a cell against what was before."""

    def __init__(
        self,
        policy: Policy,
        baselines: baseline.Baselines,
        cell: Cell,
        found: pd.DataFrame,
        nights: Sequence[Mapping[str, Any]],
        one: CellNight,
    ) -> None:
        self.policy = policy
        self.baselines = baselines
        self.one = one
        self.tonight = found[found["run_id"] == one.first]
        run = self.run = self.tonight.iloc[0].to_dict()
        same = found["workload_id"] == run["workload_id"]
        for key in ("board", "device", "model", "scheme", "engine", "toolchain"):
            same &= found[key] == run[key]
        again = {name for night in nights for c in night["cells"] for name in c["again"]}
        mine = {one.first, *one.again}
        ids = found["run_id"]
        self.cell_rows = found[same]
        self.again_of = {c["first"]: c["again"] for night in nights for c in night["cells"]}
        past = found[same & ~ids.isin(mine | again) & (found["status"] != "invalid")]
        since = self._accepted_until()
        self.past = past[past["time_utc"].astype(str) > since]
        self.watched, self.rerun_before = self._watch(str(cell), nights)
        self.past_ids = list(dict.fromkeys(self.past["run_id"].astype(str)))

    def _accepted_until(self) -> str:
        """Return when the last change of this cell was accepted; history starts after it."""
        times = [
            change.time_utc
            for change in self.baselines.changes
            if all(
                getattr(change, key) == self.run[key]
                for key in ("board", "device", "model", "scheme", "engine")
            )
        ]
        return max(times, default="")

    def _watch(self, cell: str, nights: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
        """Return first runs and further runs of the suspicious nights directly before this one."""
        firsts: list[str] = []
        again: list[str] = []
        for night in reversed(nights[-_WATCHED:]):
            mine = next((c for c in night["cells"] if c["cell"] == cell), None)
            if mine is None or not mine["again"]:
                break
            firsts.insert(0, mine["first"])
            again += mine["again"]
        return firsts, again

    def _series(self, row: Mapping[Any, Any]) -> _Series:
        key = ("measure", "unit", "evidence")
        same = self.cell_rows
        for name in key:
            same = same[same[name] == row[name]]
        value = dict(zip(same["run_id"], same["median"].astype(float), strict=True))
        past = [name for name in self.past_ids if name in value]
        history = [name for name in past if name not in self.watched][-_PAST:]
        firsts = [*(name for name in past if name in self.watched), self.one.first]
        again = [
            value[name]
            for name in (*self.rerun_before, *self.one.again)
            if name in value and self.one.again
        ]
        more = {**self.again_of, self.one.first: self.one.again}
        settled = [
            median([value[name], *(value[m] for m in more.get(name, ()) if m in value)])
            for name in (*history, *firsts)
        ]
        return _Series([value[n] for n in history], [value[n] for n in firsts], again, settled)

    def _noisy(self) -> list[dict[Any, Any]]:
        return [
            row
            for row in self.tonight.to_dict("records")
            if row["evidence"] in _NOISY and row["unit"] != "fraction"
        ]

    def suspicious(self) -> bool:
        """Whether any noisy measure of the first run deserves more runs."""
        for row in self._noisy():
            rule = self.policy.rule(row["measure"], row["evidence"])
            series = self._series(row)
            if series.history and _small(rule, median(series.history), row["median"]):
                continue
            if suspicious(
                series.history,
                row["median"],
                _worse(rule, row),
                watching=bool(self.watched),
                sensitivity=self.policy.sensitivity,
            ):
                return True
        return False

    def findings(self) -> list[Finding]:
        """Return everything there is to tell."""
        found = [*self._gate(), *self._steps(), *self._accuracy(), *self._missing()]
        counts = compare.class_counts(self.run)
        if counts is not None and sum(counts) >= _COLLAPSE and max(counts) == sum(counts):
            text = f"every one of {sum(counts)} answers is class {counts.index(max(counts))}"
            found.append(Finding(Level.FAIL, text))
        if str(self.run["status"]) == "degraded":
            found.append(Finding(Level.NOTE, f"degraded: {self.run['issues']}"))
        return found

    def _gate(self) -> list[Finding]:
        found = []
        for told in baseline.gate(self.baselines, self.tonight):
            if told.state is baseline.State.CHANGED:
                found += [Finding(Level.FAIL, f"baseline: {line}") for line in told.lines]
            elif told.state is baseline.State.NO_BASELINE:
                found += self._changed_since_last()
            elif told.state is not baseline.State.SAME:
                found.append(Finding(Level.WARN, f"{told.state.value}: {'; '.join(told.lines)}"))
        return found

    def _changed_since_last(self) -> list[Finding]:
        """Return changes of exact figures since the run before; without a baseline they warn."""
        last = self._last()
        if last is None:
            return []
        rows = {(r["measure"], r["unit"], r["evidence"]): r for r in last.to_dict("records")}
        found = []
        for row in self.tonight.to_dict("records"):
            before = rows.get((row["measure"], row["unit"], row["evidence"]))
            if before is None or row["evidence"] not in compare.DETERMINISTIC:
                continue
            rule = self.policy.rule(row["measure"], row["evidence"])
            if before["median"] != row["median"] and not _small(
                rule, before["median"], row["median"]
            ):
                text = f"{row['measure']}: {show(before['median'], row['unit'])} → {show(row['median'], row['unit'])} since the last run (no baseline)"
                found.append(Finding(Level.WARN, text))
        return found

    def _last(self) -> pd.DataFrame | None:
        if self.past.empty:
            return None
        last: pd.DataFrame = self.past[self.past["path"] == self.past["path"].iloc[-1]]
        return last

    def _steps(self) -> list[Finding]:
        found = []
        for row in self._noisy():
            rule = self.policy.rule(row["measure"], row["evidence"])
            nights = self._series(row)
            step = find_step(
                nights.history, nights.firsts, nights.again, nights.settled, self.policy.sensitivity
            )
            if step is None:
                if self.one.again and suspicious(nights.history, row["median"], _worse(rule, row)):
                    text = f"{row['measure']}: {show(row['median'], row['unit'])} did not come again in {len(self.one.again)} runs"
                    found.append(Finding(Level.NOTE, text))
                continue
            worse = _worse(rule, row)
            small = _small(rule, step.before, step.after)
            bad = not small and (worse == 0 or step.score * worse > 0)
            text = (
                f"{row['measure']}: {show(step.before, row['unit'])} → {show(step.after, row['unit'])} "
                f"({step.relative:+.2%}, {abs(step.score):.1f} standard deviations, {len(nights.history)} nights of history)"
            )
            why = self._since_last_good()
            level = Level.FAIL if bad else Level.NOTE
            found.append(Finding(level, text + (f"; changed since: {why}" if why else "")))
        return found

    def _since_last_good(self) -> str:
        last = self._last()
        if last is None:
            return ""
        before = last.iloc[0].to_dict()
        told = tool_changes(before, self.run)
        if before["commit"] != self.run["commit"]:
            told.append(f"commit {str(before['commit'])[:8]} → {str(self.run['commit'])[:8]}")
        return "; ".join(told)

    def _accuracy(self) -> list[Finding]:
        """Compare top-1 with the run before: worse if the 95 % interval of the difference leaves out 0."""
        last = self._last()
        mine = self.tonight[self.tonight["measure"] == "top1_device"]
        if last is None or mine.empty:
            return []
        before = last[last["measure"] == "top1_device"]
        if before.empty:
            return []
        a, b = before.iloc[0], mine.iloc[0]
        n1, n2 = int(a["n"]), int(b["n"])
        c1, c2 = round(float(a["median"]) * n1), round(float(b["median"]) * n2)
        low, high = difference_of_proportions(c2, n2, c1, n1)
        if high >= 0:
            return []
        why = self._since_last_good()
        text = f"top-1: {c1 / n1:.1%} → {c2 / n2:.1%} (95 % interval of the difference {low:+.1%} to {high:+.1%})"
        return [Finding(Level.FAIL, text + (f"; changed since: {why}" if why else ""))]

    def _missing(self) -> list[Finding]:
        last = self._last()
        if last is None:
            return []
        key = ["measure", "unit", "evidence"]
        there = set(self.tonight[key].itertuples(index=False, name=None))
        found = []
        for name in last[key].itertuples(index=False, name=None):
            rule = self.policy.rule(name[0], name[2])
            if name[0] and name not in there and rule.missing != "ignore":
                text = f"{' '.join(name)} was there last time and is missing"
                found.append(Finding(Level(rule.missing), text))
        return found


def _worse(rule: MeasureRule, row: Mapping[Any, Any]) -> int:
    known = {"lower": 1, "higher": -1, "none": 0}
    return known.get(rule.direction, compare.direction(str(row["measure"]), str(row["unit"])))


def _small(rule: MeasureRule, before: float, after: float) -> bool:
    limit = max(rule.absolute, rule.relative * abs(before))
    return limit > 0 and abs(after - before) <= limit
