"""Every option of every command, used wrongly: one line that says what was expected, the documented code, nothing lost."""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest

from pteron.cli import COMMANDS, __doc__, main, parser
from pteron.cli.pairs import file

BASE = {
    "export": "{onnx} -q",
    "quantize": "{onnx} -o {new}.onnx --format nf4 -q",
    "run": "{pte}",
    "generate": "{pte} --tokens 1",
    "inspect": "{pte}",
    "verify": "{pte}",
    "profile": "{pte} --runs 1",
    "bench": "{pte} --runs 1",
    "amalgamate": "{pte} -o {new}",
    "doctor": "",
    "completion": "bash",
}
FEEDS = {
    "--input": [
        ("{folder}", "expected a file, got a folder"),
        ("{none}.npz", "no such file"),
        ("{text}", "write it with numpy.savez"),
        ("{npy} --input {npy}", "expected image once, got it twice"),
        ("image={npz}", "expected an .npy file of one input"),
        ("nope={npy}", "no input is called nope"),
        ("{wide}", "expected float32, got float64"),
        ("{npy} --seed 1", "--seed: is for random inputs"),
        ("{npy} --dim batch=2", "--dim: is for random inputs"),
        ("{torn}", "write it with numpy.savez"),
    ],
    "--seed": [("-1", "at least 0"), ("x", "at least 0"), ("1.5", "at least 0"), ("9" * 30, "at most")],
    "--dim": [
        ("batch=1_0", "expected SYMBOL=N"),
        ("batch=\u0663", "expected SYMBOL=N"),
        ("batch", "expected SYMBOL=N"),
        ("batch=x", "expected SYMBOL=N"),
        ("=3", "expected SYMBOL=N"),
        ("batch=", "expected SYMBOL=N"),
        ("batch=1.5", "expected SYMBOL=N"),
        ("nope=3", "the inputs have batch"),
        ("batch=-1", "expected a size from 0"),
        (f"batch={'9' * 30}", "expected a size from 0"),
        ("batch=1 --dim batch=2", "expected batch once, got it twice"),
    ],
    "--threads": [("-1", "at least 0"), ("many", "at least 0"), ("1_0", "at least 0"), ("\u0663", "at least 0"), ("100000", "at most 256")],
    "--method": [("nope", "the program has main")],
    "--delegate": [("npu", "this build has"), (",", "this build has")],
}  # fmt: skip
STATIC = {
    "--calibrate": [
        ("{none}.npz {int8}", "no such file"),
        ("{folder} {int8}", "expected a folder with .npz or .npy files, got none"),
        ("{text} {int8}", "expected an .npz or .npy file of samples"),
        ("{json} {nf4}", "expected samples, or"),
        ("{named} {int8}", "expected arrays named image, got nope"),
        ("{json} {int8}", "expected a file of ranges"),
    ],
    "--samples": [
        ("0", "at least 1"),
        ("-1", "at least 1"),
        ("x", "at least 1"),
        ("3", "expected --calibrate, too"),
    ],
    "--ranges": [
        ("{new}.json", "int8 --calibrate, too"),
        ("{npz}", "another kind of file"),
    ],
    "--statistics": [
        ("{none}.npz {nf4}", "no such file"),
        ("{npz} {nf4}", "expected pteron.statistics version 2"),
        ("{new}.npz {int8} --calibrate {npz}", "expected weights alone"),
        ("{npz}", "expected"),
    ],
    "--activations": [("fast", "invalid choice"), ("turned", "it is called int8-token")],
}
TABLE = {
    "export": {
        **STATIC,
        "--random-seed": [("-1", "expected an integer from 0"), ("x", "invalid integer value")],
        "--output": [
            ("{folder}", "got a folder"),
            ("{none}/d.pte", "expected a folder"),
            ("{onnx}", "another kind of file"),
            ("{new}.onnx", "another kind of file"),
            ("{npz}", "another kind of file"),
            ("-", "the standard output is /dev/stdout"),
        ],
        "--state": [
            ("image=logits", "expected the output to be f32[batch, 1, 8, 8] as the input, got f32[batch, 10]"),
            ("past", "expected INPUT=OUTPUT"),
            ("nope=logits", "expected one of the inputs"),
            ("p*=q", "as many *"),
            ("p*=q*", "matches no input"),
            ("image=logits --state image=logits", "expected image once"),
        ],
        "--max-context": [
            ("x", "invalid integer value"),
            ("1", "expected a number of tokens from 2"),
            ("-5", "expected a number of tokens from 2"),
        ],
        "--cache": [("f4", "invalid choice"), ("f16", "expected max_context, too")],
        "--logits": [("first", "invalid choice"), ("all", "expected max_context, too")],
        "--hint": [
            ("batch=1_0", "expected SYMBOL=N"),
            ("batch", "expected SYMBOL=N"),
            ("batch=x", "expected SYMBOL=N"),
            ("nope=3", "those are batch"),
            ("batch=-3", "expected a size of 0"),
            (f"batch={'9' * 30}", "expected a size of 0"),
            ("batch=1 --hint batch=2", "once"),
            ("batch=1 --fix batch=2", "leaves nothing to plan for"),
        ],
        "--fix": [
            ("batch=99999999999", "at most 2147483647"),
            ("batch=x", "expected SYMBOL=N"),
            ("nope=3", "those are batch"),
            ("batch=0", "at least 1"),
            ("batch=-1", "at least 1"),
            ("batch=1 --fix batch=2", "once"),
        ],
        "--example": [
            ("{none}.npz", "no such file"),
            ("{folder}", "got a folder"),
            ("{text}", "expected an .npz file with an array for each input"),
            ("{npy}", "expected an .npz file with an array for each input"),
            ("{named}", "expected inputs of the model, those are image"),
        ],
        "--mode": [("fast", "invalid choice"), ("reduce-overhead", "give --hint batch=N")],
        "--tune": [
            ("{none}.json", "no such file"),
            ("{folder}", "got a folder"),
            ("{json}", "expected a profile, got something else"),
            ("{npz}", "another kind of file"),
            ("{none}/p.json --mode max-autotune", "expected a folder"),
        ],
        "--delegate": [("npu", "expected"), (",", "expected"), ("cpu,cpu,x", "got 'x'")],
        "--placement": [("never", "invalid choice"), ("forbid", "expected a delegate, got the CPU alone")],
        "--report": [("{new}.txt", "expected an .html or .json"), ("{onnx}", ".html or .json")],
        "--weights": [
            ("{none}.gguf", "no such file"),
            ("{text}", "expected a .gguf or .safetensors file"),
            ("{folder}", "expected .safetensors files in it, got none"),
        ],
        "--tokenizer": [
            ("{none}.json", "no such file"),
            ("{text}", "expected a tokenizer.json, got no JSON"),
            ("{folder}", "expected a tokenizer.json in it, got none"),
        ],
        "--kernel-list": [("{folder}", "got a folder"), ("{none}/k.h", "expected a folder"), ("{onnx}", "expected another file")],
        "--quantize": [("nope", "expected one of int8, nf4"), ("", "expected one of int8, nf4")],
        "--evaluate": [("{none}.npz {nf4}", "no such file"), ("{npz}", "expected quantize and one source")],
        "--max-ram": [("x", "expected a number of bytes"), ("1GB {nf4}", "give a calibration"), ("1GB", "expected quantize and one source")],
        "--save-onnx": [("{folder}", "got a folder"), ("{none}/s.onnx", "expected a folder"), ("{onnx}", "expected another file"), ("{new}.pte", "another kind of file")],
    },
    "quantize": {
        **STATIC,
        "--output": [
            ("{folder}", "got a folder"),
            ("{none}/d.onnx", "expected a folder"),
            ("{new}.txt", "expected an .onnx or .pte file"),
            ("{new}", "expected an .onnx or .pte file"),
            ("{npz}", "another kind of file"),
        ],
        "--format": [("nope", "expected one of int8, nf4"), ("NF4", "expected one of int8, nf4")],
        "--rule": [
            ("x", "expected REGEX=FORMAT"),
            ("(=skip", "not a regular expression"),
            ("x=nope", "expected one of"),
            ("x=skip --rule x=nf4", "expected x once"),
            ("nope=skip", "decides no layer"),
        ],
        "--algorithm": [("awq", "invalid choice"), ("gptq", "expected samples or statistics")],
        "--scaling": [("awq", "invalid choice"), ("fold", "expected samples or statistics"), ("fold --calibrate {npz} --format int8", "expected weights alone")],
        "--rotation": [("r1", "invalid choice"), ("all", "expected a residual stream or values of attention"), ("all --calibrate {npz} --format int8", "expected weights alone")],
        "--seed": [("-1", "at least 0"), ("3", "and a rotation, too")],
        "--range": [("kl", "invalid choice"), ("mse", "expected int8 activations"), ("mse --calibrate {npz} --format nf4", "expected int8 activations")],
        "--recipe": [("{none}.yaml", "give one")],
        "--target-bpw": [("x", "invalid float"), ("0", "above 0"), ("nan", "above 0"), ("4", "expected samples")],
        "--target-size": [("x", "expected a number of bytes"), ("0", "above 0"), ("1MB --target-bpw 4", "one of them"), ("1MB --calibrate {npz} --format int8", "weights of 8 bits and no fewer, so there is nothing to give out: max_loss gives units 16 bits or f32")],
        "--max-loss": [("x", "invalid float"), ("-1", "above 0"), ("inf", "above 0")],
        "--metric": [("top5", "invalid choice")],
        "--among": [("int8", "expected target_bpw"), (", --target-bpw 4 --calibrate {npz}", "expected one of int8"), ("nope --target-bpw 4", "expected one of int8")],
        "--evaluate": [("{none}.npz", "no such file"), ("{text}", "expected an .npz or .npy file of samples")],
        "--max-ram": [("x", "expected a number of bytes"), ("-1", "expected a number of bytes"), ("1GB", "give a calibration"), ("0 --calibrate {npz}", "above 0")],
        "--activations": [("int4", "invalid choice"), ("exact", "it is called float"), ("int8-static", "give both")],
        "--report": [("{new}.txt", "expected an .html or .json"), ("{none}/r.html", "expected a folder")],
    },
    "run": {
        **FEEDS,
        "--output": [
            ("{folder}", "got a folder"),
            ("{none}/y.npz", "expected a folder"),
            ("{onnx}", "another kind of file"),
            ("{pte}", "another kind of file"),
        ],
        "--timeout": [("-1", "at least 0"), ("x", "at least 0"), ("nan", "at least 0"), ("inf", "at least 0")],
    },
    "generate": {
        "--tokens": [("1,x", "expected tokens as 1,2,3"), ("1,,2", "expected tokens as 1,2,3"), ("1,", "expected tokens as 1,2,3"), ("-3", "expected tokens as 1,2,3"), ("1,2", "export the decoder with --max-context")],
        "--text": [("x", "expected either --tokens or --text")],
        "--max-new-tokens": [("-1", "at least 0"), ("x", "at least 0")],
        "--stop": [("x", "expected tokens as 1,2,3")],
        "--temperature": [("x", "at least 0"), ("nan", "at least 0"), ("-1", "at least 0"), ("inf", "at least 0")],
        "--top-k": [("-1", "at least 0"), ("3", "expected a --temperature above 0")],
        "--top-p": [("x", "at least 0"), ("2 --temperature 1", "top_p"), ("0 --temperature 1", "top_p")],
        "--min-p": [("-1", "at least 0"), ("2 --temperature 1", "min_p")],
        "--seed": [("-1", "at least 0"), ("3", "expected a --temperature above 0")],
        "--threads": [("-1", "at least 0"), ("999", "at most 256")],
    },
    "inspect": {
        "--html": [
            ("{folder}", "got a folder"),
            ("{none}/p.html", "expected a folder"),
            ("{onnx}", "another kind of file"),
        ],
        "--dim": [
            ("batch", "expected SYMBOL=N"),
            ("nope=3", "the program has batch"),
            ("batch=-1", "expected a size from 0"),
            (f"batch={'9' * 30}", "expected a size from 0"),
            ("batch=1 --dim batch=2", "once"),
        ],
        "--tune": [("{none}.json", "no such file"), ("{json}", "expected a profile, got something else")],
    },
    "verify": {
        "--inputs": [("{npz}", "got one of them"), ("{none}.npz --outputs {npz}", "no such file"),
                     ("{npz} --outputs {bare}", "expected at least one output"),
                     ("{npy} --outputs {npz}", "got .npy"), ("{folder} --outputs {npz}", "got a folder")],
        "--outputs": [("{npz}", "got one of them"), ("{text} --inputs {npz}", "numpy.savez")],
        "--rtol": [("-1", "at least 0"), ("nan", "at least 0"), ("x", "at least 0")],
        "--atol": [("-1", "at least 0"), ("inf", "at least 0"), ("x", "at least 0")],
    },
    "profile": {
        **FEEDS,
        "--runs": [("0", "at least 1"), ("-1", "at least 1"), ("x", "at least 1"), ("9" * 30, "at most")],
        "--output": [("{folder}", "got a folder"), ("{none}/t.json", "expected a folder"), ("{onnx}", "another kind")],
        "--html": [("{folder}", "got a folder"), ("{none}/t.html", "expected a folder"), ("{npz}", "another kind")],
        "--top": [("-1", "at least 0"), ("x", "at least 0")],
    },
    "bench": {
        **FEEDS,
        "--runs": [("0", "at least 1"), ("x", "at least 1")],
        "--warmup": [("-1", "at least 0"), ("x", "at least 0")],
        "--vs": [("openvino", "expected --vs-onnx ONNX with it"), ("nobody --vs-onnx {onnx}", "expected one of onnxruntime"), (", --vs-onnx {onnx}", "expected one of"), ("litert --vs-onnx {onnx}", "expected litert=FILE.tflite"), ("llama.cpp", "expected llama.cpp=FILE.gguf"), ("onnxruntime={none}.onnx", "no such file"), ("onnxruntime={text}", "refuses")],
        "--vs-onnx": [("{other}", "expected the program's model"), ("{none}.onnx", "no such file"), ("{folder}", "got a folder"), ("{text}", "refuses")],
    },
    "amalgamate": {
        "--output": [("{onnx}", "expected a folder"), ("{onnx}/out", "expected a folder")],
        "--dim": [
            ("batch", "expected SYMBOL=N"),
            ("nope=3", "the program has batch"),
            ("batch=-1", "expected a size from 0"),
            ("batch=1 --dim batch=2", "once"),
        ],
        "--package": [("mbed", "expected one of arduino, cmsis, platformio, zephyr"), ("zephyr --package ''", "expected one of")],
    },
    "doctor": {},
    "completion": {},
}  # fmt: skip
IDLE = (
    "--target-bpw 5", "--target-size 1MB",
    "--embeddings", "--statistics {new}.npz", "--dry-run",
)  # fmt: skip
"""What static int8 has no use for."""
PROGRAMS = ("run", "generate", "inspect", "verify", "profile", "bench", "amalgamate")
NEEDED = {"generate": " --tokens 1", "amalgamate": " -o {new}"}
POSITIONAL = [
    ("export", "{none}.onnx -q", 2, "no such file"),
    ("export", "{folder} -q", 2, "got a folder"),
    ("export", "/dev/null -q", 2, "got a device"),
    ("quantize", "{onnx} -o {new}.onnx --format nf4 -q --calibrate /dev/zero", 2, "got a device"),
    ("quantize", "{onnx} -o {new}.onnx --format nf4 -q --statistics /dev/zero", 2, "got a device"),
    ("run", "{pte} -o {new}.gguf", 2, "got the name of another kind"),
    ("export", "{onnx} -o {new}.yaml -q", 2, "got the name of another kind"),
    ("export", "{pte} -q -o {new}.pte", 2, "compiled already"),
    ("export", "{text} -q -o {new}.pte", 3, "expected an ONNX model"),
    ("quantize", "{none}.onnx -o {new}.onnx --format nf4", 2, "no such file"),
    ("quantize", "{folder} -o {new}.onnx --format nf4", 2, "got a folder"),
    ("quantize", "{pte} -o {new}.onnx --format nf4", 2, "compiled already"),
    *((c, "{none}.pte" + NEEDED.get(c, ""), 2, "no such file") for c in PROGRAMS),
    *((c, "{folder}" + NEEDED.get(c, ""), 2, "got a folder") for c in PROGRAMS),
    *((c, "{onnx}" + NEEDED.get(c, ""), 2, "got a model") for c in PROGRAMS if c != "inspect"),
    ("inspect", "{onnx} --html {new}.html", 2, "got a model"),
    *((c, "{text}" + NEEDED.get(c, ""), 4, "text.bin: header") for c in PROGRAMS),
    *((c, device + NEEDED.get(c, ""), 2, "got a device") for c in PROGRAMS for device in ("/dev/null", "/dev/zero")),
    ("completion", "tcsh", 2, "invalid choice"),
    ("quantize", "{onnx} -o {new}.onnx --format nf4 --activations int8-token -q", 2, "--activations int8-token: found while running"),
    ("quantize", "{onnx} -o {new}.onnx -q", 2, "expected --format or --recipe"),
    ("quantize", "{onnx} --format nf4 -q", 2, "expected --output"),
    *(("quantize", "{onnx} -o {new}.onnx -q --format int8 --calibrate {npz} " + idle, 2, "expected weights alone") for idle in IDLE),
    ("quantize", "{onnx} -o {new}.onnx -q --format nf4 --dry-run --resume", 2, "--resume: has nothing to do"),
    ("quantize", "{onnx} -o {new}.onnx -q --format nf4 --dry-run --evaluate {npz}", 2, "--evaluate: has nothing to do"),
    ("amalgamate", "{pte} -o /proc/out", 5, "/proc/out: cannot be made"),
    ("run", "{pte} more", 2, "unrecognized arguments: more; pteron run --help"),
]  # fmt: skip


@pytest.fixture(scope="module")
def files(root: Path, digits: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("options")
    (home / "folder").mkdir()
    shutil.copy(root / "examples/digits/digits.onnx", home / "m.onnx")
    shutil.copy(digits, home / "m.pte")
    (home / "text.bin").write_text("neither this nor that\n" * 20)
    image = np.zeros((2, 1, 8, 8), np.float32)
    np.save(home / "x.npy", image)
    np.savez(home / "x.npz", image=image)
    np.savez(home / "wide.npz", image=image.astype(np.float64))
    np.savez(home / "named.npz", nope=image)
    np.savez(home / "bare.npz")
    other = onnx.load(home / "m.onnx")
    first = onnx.helper.make_tensor_value_info(other.graph.node[0].output[0], 1, None)
    other.graph.output[0].CopyFrom(first)
    onnx.save(other, home / "other.onnx")
    (home / "ranges.json").write_text("{}")
    (home / "torn.npz").write_bytes((home / "x.npz").read_bytes()[:-40])
    names = {
        "folder": "folder",
        "onnx": "m.onnx",
        "pte": "m.pte",
        "text": "text.bin",
        "npy": "x.npy",
    }
    names |= {
        "npz": "x.npz",
        "none": "nowhere/none",
        "new": "new",
        "wide": "wide.npz",
        "torn": "torn.npz",
        "named": "named.npz",
        "other": "other.onnx",
        "bare": "bare.npz",
        "json": "ranges.json",
    }
    return {key: str(home / name) for key, name in names.items()}


DAMAGED = {
    "--calibrate": ("{json} {int8}",),
    "--statistics": ("{npz} {nf4}",),
    "--tune": ("{json}",),
    "--weights": ("{text}",),
    "--tokenizer": ("{text}", "{folder}"),
    "--evaluate": ("{text}",),
    "--example": ("{text}", "{npy}"),
    "--input": ("{text}", "{torn}"),
    "--outputs": ("{text} --inputs {npz}",),
}
"""Files that are there and hold something else: 3, not 2."""


def options(command: str) -> Iterator[argparse.Action]:
    (subs,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    yield from (a for a in subs.choices[command]._actions if a.option_strings and a.nargs != 0)


def refuses(
    argv: list[str],
    code: int,
    words: str,
    files: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    home = Path(files["onnx"]).parent
    before = {p: p.read_bytes() for p in home.rglob("*") if p.is_file()}
    try:
        got = main(argv)
    except SystemExit as end:
        got = int(str(end.code))
    out, err = capsys.readouterr()
    with contextlib.suppress(FileNotFoundError):
        Path(files["new"]).unlink()
    after = {p: p.read_bytes() for p in home.rglob("*") if p.is_file()}
    assert got == code and words in err, (got, err)
    assert len(err.splitlines()) == 1 and not out, (err, out)
    assert err.startswith(f"pteron {argv[0]}: ")
    assert before == after, "something was written"


def cases() -> Iterator[tuple[str, str, str, str]]:
    for command, rows in TABLE.items():
        for option, wrong in rows.items():
            for value, words in wrong:
                yield command, option, value, words


@pytest.mark.parametrize("command, option, value, words", list(cases()))
def test_a_wrong_value_is_one_line(
    command: str,
    option: str,
    value: str,
    words: str,
    files: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    choice = {"export": "--quantize", "quantize": "--format"}.get(command, "")
    names = {**files, "int8": f"{choice} int8", "nf4": f"{choice} nf4"}
    base = BASE[command].format(**names).split()
    given = f"{option} {value}".format(**names).split() if value else [option, ""]
    for name in {v for v in given if v.startswith("--")} & set(base):  # the base's own value goes
        del base[base.index(name) : base.index(name) + 2]
    if option == "--output" and "-o" in base:
        del base[base.index("-o") : base.index("-o") + 2]
    is_damaged = value in DAMAGED.get(option, ())
    is_damaged |= (command, option, value) == ("quantize", "--statistics", "{npz}")
    refuses([command, *base, *given], 3 if is_damaged else 2, words, files, capsys)


@pytest.mark.parametrize("command, words, code, text", POSITIONAL)
def test_a_wrong_file_is_one_line(
    command: str,
    words: str,
    code: int,
    text: str,
    files: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    refuses([command, *words.format(**files).split()], code, text, files, capsys)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_with_a_value_is_in_the_table(command: str) -> None:
    assert {a.option_strings[-1] if a.option_strings[-1].startswith("--") else a.option_strings[0]
            for a in options(command)} == set(TABLE[command])  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_needs_its_value_and_takes_one(
    command: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    base = BASE[command].format(**files).split()
    for a in options(command):
        for name in a.option_strings:
            refuses([command, *base, name], 2, "expected one argument", files, capsys)
            if not isinstance(a, argparse._AppendAction) and not a.choices:
                once = [v for v in base if v not in a.option_strings]
                twice = [command, *once, name, "1", a.option_strings[0], "2"]
                refuses(twice, 2, "expected once, got it twice", files, capsys)
            if name.startswith("--"):
                refuses([command, *base, f"{name}=--"], 2, "expected one argument", files, capsys)


@pytest.mark.parametrize("command", PROGRAMS)
@pytest.mark.parametrize(
    "name, shown", [("a\nb", r"a\nb"), ("\x1b[31mred", r"\x1b[31mred"), ("a\rb\x9b", r"a\rb\x9b")]
)
def test_what_was_given_does_not_break_the_line(
    command: str, name: str, shown: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = NEEDED.get(command, "").format(**files).split()
    refuses([command, name, *words], 2, f"{shown}: no such file", files, capsys)


@pytest.mark.parametrize(
    "argv, words",
    [
        ([], "required: COMMAND"),
        (["nope"], "invalid choice: 'nope'"),
        (["run", "m.pte", "more"], "unrecognized arguments: more"),
        (["run", "m.pte", "--see", "1"], "unrecognized arguments: --see 1"),
        (["run"], "required: program"),
    ],
)
def test_the_command_line_itself(
    argv: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(argv)
    err = capsys.readouterr().err
    assert end.value.code == 2 and words in err and len(err.splitlines()) == 1


def test_codes_are_documented() -> None:
    assert re.findall(r"^(\d+) ", str(__doc__), flags=re.M) == [
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "130",
    ]


@pytest.mark.parametrize("command", sorted(BASE))
def test_no_file_has_an_empty_name(
    command: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Path("") would be the folder that one stands in."""
    (subs,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    for action in subs.choices[command]._actions:
        if action.type is not file:
            continue
        name = action.option_strings[-1:] or [action.dest]
        words = BASE[command].format(**files).split()
        given = [*words, *name, ""] if action.option_strings else ["", *words[1:]]
        said = f"argument {'/'.join(action.option_strings) or name[0]}: expected the name of a file"
        refuses([command, *given], 2, said, files, capsys)


@pytest.mark.parametrize("name", ["m.txt", "m", "m.tar.gz", "  ", "tmp.aB3x"])
def test_a_program_is_one_under_any_name(name: str, files: dict[str, str], tmp_path: Path) -> None:
    """Its bytes say what it is; names of other kinds of files are refused (above)."""
    out = tmp_path / name
    assert main(["export", files["onnx"], "-q", "-o", str(out)]) == 0
    for command in ("run", "verify", "inspect"):
        assert main([command, str(out)]) == 0
