"""Names of models and keys of programs, without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.errors import InputError, ModelSourceError, UnknownNameError
from bench.model import (
    ModelSource,
    build_model,
    list_models,
    program_key,
    resolve_model,
    source_sha256,
    summary,
)

BUILD = "from torch import nn, zeros\ndef build():\n    return nn.Linear(4, 2), (zeros(1, 4),)\n"


def user_model(folder: Path, text: str = BUILD) -> ModelSource:
    """Write a model file and resolve it."""
    path = folder / "mine.py"
    path.write_text(text)
    source = resolve_model(f"{path}:build")
    assert isinstance(source, ModelSource)
    return source


def test_zoo_names_resolve() -> None:
    """Every name of the zoo resolves to its file."""
    for name in list_models():
        source = resolve_model(name)

        assert isinstance(source, ModelSource)
        assert source.builtin
        assert source.path.is_file()
        assert summary(name).endswith((".", ":", ")"))
    assert {"digits_cnn", "ds_cnn", "linear"} <= set(list_models())


def test_unknown_name_offers_the_nearest() -> None:
    """A misspelt model is answered with the nearest name and the list."""
    with pytest.raises(UnknownNameError) as caught:
        resolve_model("dscnn")

    assert "did you mean 'ds_cnn'?" in caught.value.hint
    assert "mobilenet_v1_025" in caught.value.hint


def test_user_file_and_program_file(tmp_path: Path) -> None:
    """file.py:function, file.py and file.pte are told apart; a missing file is named."""
    source = user_model(tmp_path)
    (tmp_path / "x.pte").write_bytes(b"")

    assert (source.name, source.function, source.builtin) == ("mine", "build", False)
    assert resolve_model(str(tmp_path / "mine.py")) == source
    assert resolve_model(f"{tmp_path}/mine.py:small").name == "mine-small"  # type: ignore[union-attr]
    assert resolve_model(str(tmp_path / "x.pte")) == tmp_path / "x.pte"
    for missing in ("nowhere.py:build", "nowhere.pte"):
        with pytest.raises(InputError, match="no such"):
            resolve_model(missing)


def test_keys_need_no_torch() -> None:
    """Resolving and computing keys imports neither torch nor executorch, so a warm run does not."""
    code = (
        "import sys; from bench.model import program_key, resolve_model; "
        "program_key(resolve_model('ds_cnn'), 'int8', 'cortex-m4', None); "
        "assert not {'torch', 'executorch', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_key_depends_on_what_makes_the_program(tmp_path: Path) -> None:
    """Source, scheme, cpu and sample count change the key; nothing else does."""
    source = user_model(tmp_path)
    key = program_key(source, "int8", "cortex-m4", None)

    assert program_key(source, "int8", "cortex-m4", None) == key
    others = {
        program_key(source, "fp32", "cortex-m4", None),
        program_key(source, "int8", "cortex-m55", None),
        program_key(source, "int8", "cortex-m4", 3),
    }
    user_model(tmp_path, BUILD + "# changed\n")
    others.add(program_key(source, "int8", "cortex-m4", None))
    assert len(others) == 4
    assert key not in others


@pytest.mark.parametrize("beside", ["layers.py", "weights.pt"])
def test_key_sees_neighbours_that_the_source_names(tmp_path: Path, beside: str) -> None:
    """A module imported from beside the model, or a weights file that it names, is part of its source."""
    (tmp_path / beside).write_text("x = 1\n")
    source = user_model(tmp_path, f"import layers\nWEIGHTS = 'weights.pt'\n{BUILD}")
    before = source_sha256(source)

    (tmp_path / beside).write_text("x = 2\n")

    assert source_sha256(source) != before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise RuntimeError('no data set')", "RuntimeError: no data set"),
        ("def build(:", "SyntaxError"),
        ("def built():\n    pass\n", "no function 'build'"),
        ("def build():\n    return 3\n", "returned int"),
        ("def build():\n    return 3, 4\n", "tuple of tensors"),
        (
            "def build():\n    raise ValueError('bad size')\n",
            r"build\(\) raised ValueError: bad size",
        ),
    ],
)
def test_bad_model_files_are_named(tmp_path: Path, text: str, message: str) -> None:
    """A model file that cannot be used says why in one line, with its path."""
    source = user_model(tmp_path, text)

    with pytest.raises(ModelSourceError, match=message) as caught:
        build_model(source)

    assert "mine.py" in caught.value.where
