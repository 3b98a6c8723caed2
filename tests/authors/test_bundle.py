"""Joining modules into the files a page loads; what is joined is run by node where there is one."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from apps.authors.bundle import joined
from labelhub.core.errors import InvalidInput

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no node to run scripts with")


def ran(sources: Mapping[str, str], folder: Path, name: str = "main.js") -> str:
    """What the joined file prints."""
    files = joined(sources) | {"package.json": '{"type": "module"}'}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    done = subprocess.run(
        [NODE or "", name], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_what_is_imported_comes_first_and_once() -> None:
    sources = {
        "main.js": 'import { a } from "./a.js";\nimport { b } from "./b.js";\nlog(a + b);',
        "a.js": 'import { base } from "./deep/base.js";\nexport const a = base + 1;',
        "b.js": 'import { base } from "./deep/base.js";\nexport const b = base + 2;',
        "deep/base.js": "export const base = count();",
    }
    (only,) = joined(sources).items()
    assert only == ("main.js", "let base=count();let a=base+1;let b=base+2;log(a+b);")


def test_comments_and_blanks_go() -> None:
    code = "// one\nfoo(  1, /* two */ 2 ); // three\n\n  bar();\n"
    assert joined({"main.js": code}) == {"main.js": "foo(1,2);bar();"}


def test_a_constant_is_told_by_its_value() -> None:
    sources = {"main.js": 'const MOST = 5_000;\nconst SIGN = "x";\nwait(MOST, SIGN, its.MOST);'}
    assert joined(sources)["main.js"] == 'wait(5_000,"x",its.MOST);'


@needs_node
def test_names_of_a_module_are_its_own(tmp_path: Path) -> None:
    sources = {
        "main.js": 'import { twice } from "./twice.js";\n'
        "const FACTOR = [3];\n"
        "function helper(left) { const kept = left * FACTOR[0]; return kept; }\n"
        "console.log(helper(twice(1)));",
        "twice.js": "const FACTOR = [2];\nfunction helper(left) { return left * FACTOR[0]; }\n"
        "export const twice = (left) => helper(left);",
    }
    assert ran(sources, tmp_path) == "6"


@needs_node
def test_names_that_are_keys_are_kept(tmp_path: Path) -> None:
    sources = {
        "main.js": "const left = 1;\n"
        "const right = [2];\n"
        "function both({ left: first, right = 9 }) {\n"
        "  const total = first + right; return { total };\n}\n"
        "const made = { left, right: right[0], async later() { return 4; } };\n"
        "console.log(JSON.stringify(both(made)), made.left, both({ left: 1 }).total);"
    }
    assert ran(sources, tmp_path) == '{"total":3} 1 10'


@needs_node
def test_renamed_and_default_imports(tmp_path: Path) -> None:
    sources = {
        "main.js": 'import words, { count as number } from "./words.js";\n'
        'import { again } from "./again.js";\nconsole.log(words.yes, number, again);',
        "again.js": 'import words from "./words.js";\nexport const again = words.yes;',
        "words.js": 'export default { yes: "ja" };\nexport const count = 7;',
    }
    assert ran(sources, tmp_path) == "ja 7 ja"


def test_a_table_that_nobody_imports_stays_a_file_of_its_own() -> None:
    sources = {"locales/de.js": 'export default {\n  yes: "Ja  /* nein */",\n};'}
    assert joined(sources) == {"locales/de.js": 'export default{yes:"Ja  /* nein */",};'}


@needs_node
def test_what_looks_like_code_in_literals_stays(tmp_path: Path) -> None:
    code = r"""
const quoted = "import { a } from './a.js';  // no";
const template = `
import { b } from "./b.js";  /* no */
${ [1].map((one) => `  ${ one }  // in`) } const MOST = 2;`;
const pattern = ["a  'b"].map((text) => /a  '[/"`]?b/.test(text));
const half = (4) / 2;
console.log(JSON.stringify([quoted, template, pattern, half]));
"""
    expected = (
        r'["import { a } from ' + "'./a.js';  // no" + r'","\nimport { b } from \"./b.js\";'
        r'  /* no */\n  1  // in const MOST = 2;",[true],2]'
    )
    assert ran({"main.js": code}, tmp_path) == expected


def test_style_sheets_lose_their_blanks_too() -> None:
    css = "export const css = `\n.a .b {\n  color: red;\n}\n@media (x) { .c{ top:0; } }\n`;"
    assert (
        ".a .b{color: red}@media (x){.c{top:0}}"
        in joined({"card-styles.js": css})["card-styles.js"]
    )


@needs_node
def test_a_part_is_loaded_later_and_shares_what_the_entry_has(tmp_path: Path) -> None:
    sources = {
        "main.js": 'import { state } from "./state.js";\nstate.push("main");\n'
        'import("./part.js").then(({ told }) => console.log(told()));',
        "other.js": 'import { state } from "./state.js";\nstate.push("other");\n'
        'import("./part.js").then(({ told }) => console.log(told()));',
        "part.js": 'import { state as shared } from "./state.js";\n'
        'import { own } from "./own.js";\n'
        "export const told = () => own(shared);",
        "own.js": 'export const own = (list) => list.join(" ");',
        "state.js": 'export const state = ["state"];',
    }
    assert set(joined(sources)) == {"main.js", "main.part.js", "other.js", "other.part.js"}
    assert "state" not in joined(sources)["main.part.js"].replace("{state as", "").split(";", 1)[1]
    assert ran(sources, tmp_path) == "state main"
    assert ran(sources, tmp_path, "other.js") == "state other"


@pytest.mark.parametrize(
    ("sources", "fault"),
    [
        (
            {"main.js": 'import "./a.js";', "a.js": 'import "./b.js";', "b.js": 'import "./a.js";'},
            "import each other: main.js → a.js → b.js → a.js",
        ),
        (
            {"a.js": 'import "./b.js";', "b.js": 'import "./a.js";'},
            "import each other: a.js → b.js → a.js",
        ),
        (
            {
                "main.js": 'import { a } from "./a.js";\nimport { b } from "./b.js";',
                "a.js": "export const a = 1;\nexport const both = f();",
                "b.js": "export const b = 1;\nexport const both = g();",
            },
            "b.js: both is declared in a.js too",
        ),
        (
            {"main.js": 'import "./a.js";\nshow((a) => a);', "a.js": "export const a = f();"},
            "main.js: a is declared in a.js; import or rename it",
        ),
        ({"main.js": 'import { a } from "./a.js";'}, "main.js: there is no a.js to import"),
        (
            {"main.js": 'import { b } from "./a.js";', "a.js": "export const a = 1;"},
            "a.js does not export b",
        ),
        ({"main.js": "const { a } = b;"}, "main.js: outside functions, declare one name"),
        ({"main.js": "let a, b;"}, "main.js: outside functions, declare one name"),
        (
            {"main.js": 'import * as all from "./a.js";', "a.js": "export const a = 1;"},
            "main.js: import names one by one",
        ),
        ({"main.js": 'export { a } from "./a.js";'}, "main.js: this cannot be joined"),
        ({"main.js": "class Card {}"}, "main.js: this cannot be joined"),
        ({"main.js": "f();\nconst a = `open"}, "main.js, line 2: what begins here does not end"),
        (
            {
                "main.js": 'import("./a.js");\nimport("./b.js");',
                "a.js": 'import "./c.js";',
                "b.js": 'import "./c.js";',
                "c.js": "",
            },
            "c.js: two files of main.js would have to hold it",
        ),
        (
            {"main.js": 'import "./in/a.js";', "in/a.js": "import(`./${name}.js`);"},
            "in/a.js: a computed import() belongs beside main.js",
        ),
    ],
)
def test_what_cannot_be_joined_is_told(sources: dict[str, str], fault: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        joined(sources)
    assert fault in refused.value.message
