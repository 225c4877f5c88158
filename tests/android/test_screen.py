"""What a linter of Android would say of the demo's screen and library: texts, colours, sizes, rotation, names that C looks up."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APP = ROOT / "android_demo/app/src/main"
LIBRARY = ROOT / "bindings/java"
NAMED = "{http://schemas.android.com/apk/res/android}"
SMALLEST = 320
"""Width of the narrowest phones, in dp."""


def tree(path: str) -> ElementTree.Element:
    return ElementTree.parse(APP / path).getroot()


def values(file: str, kind: str) -> dict[str, str]:
    return {e.attrib["name"]: e.text or "" for e in tree(f"res/{file}.xml").iter(kind)}


def views() -> list[tuple[str, dict[str, str]]]:
    """Each element of the layout: its kind, its attributes."""
    return [
        (
            e.tag.rpartition(".")[2],
            {k.removeprefix(NAMED): v for k, v in e.attrib.items()},
        )
        for e in tree("res/layout/main.xml").iter()
    ]


def sources() -> str:
    return "".join(p.read_text() for p in sorted((APP / "java").rglob("*.java")))


def test_texts_are_resources_and_every_resource_is_used() -> None:
    for kind, said in views():
        for name in ("text", "hint", "contentDescription"):
            assert said.get(name, "@string/").startswith("@string/"), f"{kind}: {name} in letters"
    files = [*(APP / "res").rglob("*.xml"), APP / "AndroidManifest.xml"]
    texts = "".join(p.read_text() for p in files)
    used = set(re.findall(r"@(\w+)/(\w+)", texts)) | set(
        re.findall(r"\bR\.(\w+)\.(\w+)", sources())
    )
    for file, kind in (("strings", "string"), ("colors", "color"), ("dimens", "dimen"), ("themes", "style")):  # fmt: skip
        for name in values(f"values/{file}", kind):
            assert (kind, name) in used, f"{kind} {name}: nobody uses it"
    assert {("drawable", p.stem) for p in (APP / "res/drawable").iterdir()} <= used


def test_texts_take_as_many_words_as_they_are_given() -> None:
    strings = values("values/strings", "string")
    given = re.findall(r"getString\(\s*R\.string\.(\w+)((?:[^()]|\([^()]*\))*)\)", sources())
    assert len(given) >= 6
    for name, words in given:
        flat = re.sub(r"\([^()]*\)|\[[^\]]*\]", "", words)
        places = {int(n) for n in re.findall(r"%(\d+)\$", strings[name])}
        assert places == set(range(1, flat.count(",") + 1)), f"{name}: {strings[name]} of {words}"
        assert not re.search(r"%(?!\d+\$|%)", strings[name].replace("%%", "")), strings[name]


def light(colour: str) -> float:
    """Relative luminance, as the accessibility guidelines of the web define it."""
    parts = [int(colour[-6:][i : i + 2], 16) / 255 for i in (0, 2, 4)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("folder", ["values", "values-night"])
def test_letters_are_read_by_day_and_by_night(folder: str) -> None:
    colours = values(f"{folder}/colors", "color")
    for ground in ("paper", "box"):
        pair = sorted((light(colours["ink"]), light(colours[ground])))
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 7, f"{folder}: ink on {ground}"
    theme = next(e for e in tree(f"res/{folder}/themes.xml") if e.attrib["name"] == "Demo")
    items = {e.attrib["name"]: e.text for e in theme}
    bright = light(colours["paper"]) > 0.5
    assert items["android:windowLightStatusBar"] == str(bright).lower(), "signs of the system"
    assert items["android:statusBarColor"] == items["android:windowBackground"] == "@color/paper"
    assert (".Light." in theme.attrib["parent"]) == bright


def dp(size: str, folder: str = "values") -> int:
    at = re.fullmatch(r"@dimen/(\w+)", size)
    number = re.fullmatch(r"(\d+)dp", values(f"{folder}/dimens", "dimen")[at[1]] if at else size)
    assert number is not None, size
    return int(number[1])


def test_everything_fits_is_touched_and_grows_with_the_letters() -> None:
    (root, _), *rest = views()
    assert root == "ScrollView"
    for kind, said in rest:
        if kind in ("Button", "EditText"):
            assert dp(said["minHeight"]) >= 48, f"{kind}: too small for a finger"
        if kind == "DigitView":
            assert said["layout_width"] == said["layout_height"]
            edges = 2 * dp("@dimen/edge")
            assert dp(said["layout_width"]) <= SMALLEST - edges
            assert dp(said["layout_width"], "values-land") <= SMALLEST - edges - 2 * 48
        assert not [a for a in said if re.search(r"Left|Right", a)], f"{kind}: start and end"
    for style in tree("res/values/themes.xml"):
        assert all("textSize" not in item.attrib["name"] for item in style), (
            "sizes are the system's"
        )


def test_what_code_writes_is_kept_over_a_rotation_and_read_aloud() -> None:
    ids = [said["id"] for _, said in views() if "id" in said]
    assert len(ids) == len(set(ids))
    written = [said for kind, said in views() if kind == "TextView" and "id" in said]
    assert len(written) == 3
    for said in written:
        assert said.get("freezesText") == "true", f"{said['id']}: lost when the phone turns"
        assert said.get("accessibilityLiveRegion") == "polite", f"{said['id']}: not read aloud"
    titles = [s for _, s in views() if s.get("textAppearance") == "@style/Title"]
    assert len(titles) == 3
    assert all(s.get("accessibilityHeading") == "true" for s in titles)


def test_the_manifest_asks_for_nothing_and_names_what_there_is() -> None:
    manifest = tree("AndroidManifest.xml")
    assert "package" not in manifest.attrib, "the namespace is in build.gradle.kts"
    assert [e.tag for e in manifest] == ["application"], "a permission, a feature"
    (activity,) = manifest.iter("activity")
    space = re.search(r'namespace = "(.*)"', (ROOT / "android_demo/app/build.gradle.kts").read_text())  # fmt: skip
    assert space is not None
    name = space[1] + activity.attrib[f"{NAMED}name"]
    assert (APP / "java" / f"{name.replace('.', '/')}.java").exists()
    assert activity.attrib[f"{NAMED}exported"] == "true"
    assert f"{NAMED}configChanges" not in activity.attrib, "the system lays a turned screen out"


def test_the_shrinker_keeps_what_c_finds_by_name() -> None:
    rules = (LIBRARY / "consumer-rules.pro").read_text()
    texts = "".join(p.read_text() for p in (LIBRARY / "src/main/c").glob("*.c"))
    for name in re.findall(r'FindClass\(env, "([\w/$]+)"', texts):
        assert f"class {name.replace('/', '.')} {{" in rules, name
        assert (LIBRARY / f"src/main/java/{name}.java").exists(), name
    java = (LIBRARY / "src/main/java/dev/pteron/PteronException.java").read_text()
    for row in re.findall(r"\{ (static .*?);", rules):
        name, types = re.fullmatch(r"static \S*?(\w+) (\w+)\((.*)\)", row).group(2, 3)  # type: ignore[union-attr]
        words = r",\s+".join(rf"{re.escape(t.strip())} \w+" for t in types.split(","))
        assert re.search(rf"static \w+ {name}\({words}\)", java), row
    assert set(re.findall(r'MethodID\(env, \w+, "(\w+)"', texts)) <= set(re.findall(r"(\w+)\(", rules))  # fmt: skip
