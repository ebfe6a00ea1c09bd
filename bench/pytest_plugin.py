"""The front door: `pytest --board=ID [--model=NAME|FILE] [--scheme=int8|int8-ends|fp32] [--method=NAME]`.

Without --board pytest runs the project's own tests; with it, only the hardware benchmarks of tests/hil.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.bundle import Options
from bench.cache import BUILD
from bench.catalogue import find_boards
from bench.engine import ENGINES, LAB
from bench.errors import Blame, LabError
from bench.locks import device_lock
from bench.model import SCHEMES, list_models, resolve_model, split_method
from bench.pytest_results import Results, print_results
from bench.quantity import parse_bytes
from bench.sampling import WIDTH, Wanted
from bench.site import read_site
from bench.store import RESULTS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from bench.board import Board
    from bench.image import Image
    from bench.pipeline import Case, Plan
    from bench.program import Program
    from bench.record import Record
    from bench.targets import Target

_HIL = Path("tests") / "hil"
_BUILD_WAIT_S = 3600.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the lab's options."""
    group = parser.getgroup("bench", "benchmarks on boards")
    group.addoption("--board", action="append", default=[], metavar="ID",
                    help="board to run on (repeatable): an id, an alias, `emulated` for all that QEMU runs, `chips` for those with chips, `catalogue`, `all` for the two; "
                         "see `bench boards`")  # fmt: skip
    group.addoption("--model", action="append", default=[], metavar="NAME|FILE",
                    help="model (repeatable): a name of `bench models`, path/to/file.py:build, or file.pte; "
                         "default: the whole zoo")  # fmt: skip
    group.addoption("--method", default="", metavar="NAME",
                    help="method of the program that runs; default: forward")  # fmt: skip
    group.addoption("--scheme", action="append", default=[], choices=SCHEMES,
                    help="quantization scheme (repeatable); default: int8")  # fmt: skip
    group.addoption("--samples", type=int, default=None, metavar="N",
                    help="run N samples of the model's test data; default: all that it has")  # fmt: skip
    group.addoption("--iterations", type=int, default=3, metavar="N",
                    help="measured inferences of the first run; default: 3 (emulators are deterministic)")  # fmt: skip
    group.addoption("--latency-width", type=float, default=WIDTH, metavar="FRACTION",
                    help="where samples vary, measure on until the 95 %% interval of the median is so wide, as a fraction "
                         f"of it; 0: the first run's alone; default: {WIDTH:g}")  # fmt: skip
    group.addoption("--reserve-ram", default="0", metavar="BYTES",
                    help="RAM that the application needs beside the model, e.g. 32KB: taken off the headroom in the record")  # fmt: skip
    group.addoption("--reserve-flash", default="0", metavar="BYTES", help="likewise of Flash")
    group.addoption("--warmup", type=int, default=1, metavar="N",
                    help="inferences between the first and the measured ones; default: 1")  # fmt: skip
    group.addoption("--pack", action="store_const", const="equal", default="",
                    help="re-encode weights for the boards' kernels first; the models are called <model>-<packing>")  # fmt: skip
    # argparse knows an option by its whole word first, so that --pack alone takes no word after it
    group.addoption("--pack=winograd", dest="pack", action="store_const", const="winograd", default="",
                    help="the same, and 3x3 convolutions by Winograd: larger and faster")  # fmt: skip
    group.addoption("--engine", default=LAB, choices=ENGINES,
                    help="what runs the programs: the lab's own runtime, or an installed ExecuTorch found by "
                         "CMAKE_PREFIX_PATH; default: lab")  # fmt: skip
    group.addoption("--resets", type=int, default=1, metavar="N",
                    help="run N times from reset and compare outputs and counts; default: 1")  # fmt: skip
    group.addoption("--record", nargs="?", const=str(RESULTS), default=str(RESULTS), metavar="DIR",
                    help="where records go; default: results/")  # fmt: skip
    group.addoption("--attach", default="auto", choices=["auto", "hardware", "twin", "fvp"],
                    help="auto: a device of bench.toml if one is attached, else an emulator, and it is said; "
                         "hardware: a device or an error; twin: never a device; fvp: Arm's FVP; default: auto")  # fmt: skip
    group.addoption(
        "--fvp", default="", metavar="FILE", help="with --attach=fvp: the FVP's program"
    )
    group.addoption("--device", default="", metavar="NAME", help="the device of bench.toml to use")
    group.addoption("--pack-dir", action="append", default=[], type=Path, metavar="DIR",
                    help="where CMSIS-Packs lie (repeatable); nothing is downloaded")  # fmt: skip
    group.addoption("--no-record", action="store_true", help="write no records")
    group.addoption("--deadline", type=float, default=None, metavar="S",
                    help="of one run, in seconds; default: from the amount of work")  # fmt: skip
    group.addoption("--tolerance-steps", type=float, default=0.0, metavar="N",
                    help="largest difference from host int8 that passes, in quantization steps; default: 0")  # fmt: skip


@dataclass
class _Session:
    """What the cases of one pytest run share: made once, when the first case needs it."""

    cases: list[Case] = field(default_factory=list)
    programs: dict[tuple[str, str, str], Program | LabError] = field(default_factory=dict)
    images: dict[str, Image | LabError] = field(default_factory=dict)
    results: Results = field(default_factory=Results)
    targets: dict[str, Target] = field(default_factory=dict)
    unreachable: dict[str, LabError] = field(default_factory=dict)


_SESSION = pytest.StashKey[_Session]()


def pytest_configure(config: pytest.Config) -> None:
    """Check every name before anything is collected; register the markers."""
    config.stash[_SESSION] = _Session()
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Controller(config), "bench-controller")
    if not config.getoption("board"):
        return
    try:
        for name in config.getoption("board"):
            find_boards(name)
        for model in _models(config):
            resolve_model(model)
        samples = config.getoption("samples")
        parse_bytes(config.getoption("reserve_ram"))
        parse_bytes(config.getoption("reserve_flash"))
        if config.getoption("device"):
            read_site().named(config.getoption("device"))
        if samples is not None and samples < 1:
            raise pytest.UsageError("--samples must be 1 or more")
        if config.getoption("resets") < 1:
            raise pytest.UsageError("--resets must be 1 or more")
        if not 0 <= config.getoption("latency_width") < 1:
            raise pytest.UsageError(
                "--latency-width is a fraction: 0.01 for 1 %, 0 to take what the first run gives"
            )
    except LabError as fault:
        raise pytest.UsageError(str(fault)) from fault


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Keep benchmarks and the project's own tests apart."""
    inside = (
        collection_path.relative_to(config.rootpath)
        if collection_path.is_relative_to(config.rootpath)
        else collection_path
    )
    hil = inside.is_relative_to(_HIL)
    if config.getoption("board"):
        return None if hil or _HIL.is_relative_to(inside) else True
    return True if hil else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a case of every board, model and scheme."""
    if "case" not in metafunc.fixturenames:
        return
    from bench.pipeline import Case  # noqa: PLC0415  keeps plain test runs free of the pipeline

    config = metafunc.config
    boards = {board.id: board for name in config.getoption("board") for board in find_boards(name)}
    models = _models(config)
    schemes = config.getoption("scheme") or [SCHEMES[0]]
    cases = [
        Case(board, model, scheme)
        for model in dict.fromkeys(models)
        for scheme in dict.fromkeys(["pte"] if split_method(model)[0].endswith(".pte") else schemes)
        for board in boards.values()
    ]
    config.stash[_SESSION].cases = cases
    names = [f"{case.board.id}-{Path(case.model).name}-{case.scheme}" for case in cases]
    metafunc.parametrize("case", cases, ids=names)


def _models(config: pytest.Config) -> list[str]:
    """Return the models that are asked for, each with its method."""
    method = config.getoption("method")
    models = config.getoption("model") or list_models()
    return [f"{model}#{method}" if method else model for model in models]


def _say(config: pytest.Config, text: str) -> None:
    """Tell the user between the dots what takes long; a worker of pytest-xdist tells it through its controller."""
    if hasattr(config, "workerinput"):
        config.stash[_SESSION].results.said.append(text)
        return
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")
    if reporter is not None and capture is not None:
        with capture.global_and_fixture_disabled():
            reporter.ensure_newline()
            reporter.write_line(f"  {text}")


def _plan(config: pytest.Config) -> Plan:
    from bench.pipeline import Plan  # noqa: PLC0415  as above

    options = Options(
        warmup=config.getoption("warmup"),
        iterations=config.getoption("iterations"),
        operator_ticks=True,
    )
    return Plan(
        options,
        config.getoption("samples"),
        config.getoption("deadline"),
        resets=config.getoption("resets"),
        engine=config.getoption("engine"),
        wanted=Wanted(config.getoption("latency_width")),
        reserves={
            "RAM": parse_bytes(config.getoption("reserve_ram")),
            "Flash": parse_bytes(config.getoption("reserve_flash")),
        },
    )


@pytest.fixture(scope="session")
def bench_session(request: pytest.FixtureRequest) -> _Session:
    """Export every program and build every image of this run, once."""
    from bench import pipeline, programs, show  # noqa: PLC0415  as above

    config = request.config
    session = config.stash[_SESSION]
    wanted = [
        item.callspec.params["case"] for item in request.session.items if hasattr(item, "callspec")
    ]
    cases = [case for case in session.cases if case in wanted]
    # First of all: who asked for hardware that is not there waits for no export and no build.
    for board in {case.board.id: case.board for case in cases}.values():
        try:
            _target(session, board, config)
        except LabError as fault:
            session.unreachable[board.id] = fault
    cases = [case for case in cases if case.board.id not in session.unreachable]
    # Under pytest-xdist each worker comes here: one of them makes what is missing, the others find it.
    with device_lock([f"build-{BUILD}"], _BUILD_WAIT_S):
        session.programs = programs.ensure_programs(
            cases, config.getoption("samples"), lambda t: _say(config, t)
        )
        session.images = pipeline.ensure_images(
            [case.board for case in cases],
            lambda t: _say(config, t),
            config.getoption("engine"),
        )
    used = [p.manifest for p in session.programs.values() if not isinstance(p, LabError)]
    session.results.export = show.export_report(used)
    return session


def _target(session: _Session, board: Board, config: pytest.Config) -> Target:
    """Return the way to reach a board, the same for the whole run: a device that fails again is left alone."""
    from bench import attach, pipeline  # noqa: PLC0415  as above

    if board.id not in session.targets:
        wanted = attach.Attach(
            attach.Mode(config.getoption("attach")),
            config.getoption("device"),
            tuple(config.getoption("pack_dir")),
            config.getoption("fvp"),
        )
        session.targets[board.id] = pipeline.target_for(board, wanted, lambda t: _say(config, t))
    return session.targets[board.id]


def _add_properties(node: pytest.Item, record: Record) -> None:
    """Give the measures to pytest's own JUnit XML."""
    node.user_properties.append(("run_id", record.run_id))
    node.user_properties.append(("status", record.status.value))
    for measure in record.measures:
        name = f"{measure.name} [{measure.unit}, {measure.evidence}]"
        node.user_properties.append((name, measure.median))


@pytest.fixture
def record(
    case: Case, bench_session: _Session, request: pytest.FixtureRequest
) -> Iterator[Record | LabError]:
    """Run one case: the record, or the reason why this model cannot run there.

    A fault of the bench or of the device is raised here, so that pytest calls it an error; what the model or
    program cannot do is a verdict, which the test reports as a failure.
    """
    from bench import pipeline, show, store  # noqa: PLC0415  as above
    from bench.image import symbol_sizes  # noqa: PLC0415  as above
    from bench.rewrite.programs import Packing, packed  # noqa: PLC0415  as above

    config = request.config
    root = None if config.getoption("no_record") else Path(config.getoption("record"))
    fault: LabError | None = None
    try:
        if case.board.id in bench_session.unreachable:
            raise bench_session.unreachable[case.board.id]
        program = bench_session.programs[case.model, case.scheme, case.board.cpu]
        image = bench_session.images[case.board.id]
        if isinstance(program, LabError):
            raise program
        if isinstance(image, LabError):
            raise image
        if config.getoption("pack"):
            program = packed(program, case.board, Packing(config.getoption("pack")))
        target = _target(bench_session, case.board, config)
        outcome = pipeline.run_case(pipeline.Attempt(case, program, image, target, _plan(config)))
        bench_session.results.target_seconds += outcome.transcript.seconds
        path = None
        if root is not None:
            symbols = json.dumps(symbol_sizes(image.elf), indent=0).encode()
            beside = pipeline.attachments(outcome) | {"symbols.json": symbols}
            path = store.save(outcome.record, beside, root)
        bench_session.results.records.append((path, outcome.record))
        _add_properties(request.node, outcome.record)
        _say(config, f"{show.one_line(outcome.record)} ({outcome.transcript.seconds:.1f} s)")
        yield outcome.record
        return
    except pipeline.RunFailedError as failure:
        fault = failure.fault
        raw = {"transcript.txt": failure.transcript.raw}
        kept = None if root is None else store.save(failure.record, raw, root)
        bench_session.results.records.append((kept, failure.record))
    except LabError as refusal:
        fault = refusal
    if fault.blame is not Blame.MODEL:
        pytest.fail(str(fault), pytrace=False)
    yield fault


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send a worker's records along with its reports: if it is killed, those of its finished cases are kept."""
    report = yield
    if hasattr(item.config, "workerinput"):
        item.config.stash[_SESSION].results.hand_over(report)
    return report


class _Controller:
    """Takes what workers send; registered where there are some."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a worker put on a report."""
        results = self._config.stash[_SESSION].results
        results.take_over(report, lambda text: _say(self._config, text))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the records as a table, and where they are."""
    print_results(terminalreporter, config.stash[_SESSION].results)
