# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""libvczc as one file: vczc.c, which with vczc.h is all that a program needs to compile.

The headers come first, once each, then the sources of csrc/SOURCES. Names that a source keeps to
itself (static ones, types, constants, macros) get that file's name in front: no two files clash,
and none clashes with what a system header brings. What is internal becomes static, unless the C
tests, which call it, define VCZI_PRIVATE. yyjson is included; zstd, lz4 and zlib are the system's,
or (bundled) included too, under names of our own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import native
from native import CSRC, vendored

TOKEN = re.compile(
    r"""(?P<space>\s+|\\\n)|(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<word>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)|(?P<punct>->|\#\#|.)""",
    re.VERBOSE | re.DOTALL,
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"].*$', re.MULTILINE)
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
FEATURE_MACRO = re.compile(r"_\w+|WIN32_LEAN_AND_MEAN|ZLIB_CONST|ZSTD_STATIC_LINKING_ONLY")
SYSTEM_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<", re.MULTILINE)
CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b")
EMPTY_CONDITIONAL = re.compile(
    r"^[ \t]*#[ \t]*if[^\n]*\n(?:[ \t]*#[ \t]*(?:else|elif)[^\n]*\n)*[ \t]*#[ \t]*endif[^\n]*\n",
    re.MULTILINE,
)

HEAD = """\
/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/*
 * libvczc {version} as one file, made by `./dev amalgamate` out of its sources: change those.
 *
 *     cc -O3 -c vczc.c
 *     cc program.c vczc.o {libraries} -pthread -o program
 *
 * yyjson ({yyjson}, MIT){codecs} included, with their notices below. vczc.h has the interface.
 */
#define VCZC_BUILD 1
#ifndef VCZI_PRIVATE
#define VCZI_PRIVATE static
#define VCZI_PRIVATE_DATA static
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE 1
#endif
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#endif
"""

# A shared object shows nothing of the libraries in it. Headers of the system say for themselves.
VISIBILITY = """\
#if defined(__GNUC__) && !defined(_WIN32)
#define VCZI_HIDE _Pragma("GCC visibility push(hidden)")
#define VCZI_SHOW _Pragma("GCC visibility push(default)")
#define VCZI_AS_BEFORE _Pragma("GCC visibility pop")
#else
#define VCZI_HIDE
#define VCZI_SHOW
#define VCZI_AS_BEFORE
#endif
"""


@dataclass(frozen=True)
class Token:
    kind: str
    text: str


def tokens_of(text: str) -> list[Token]:
    return [Token(match.lastgroup or "", match[0]) for match in TOKEN.finditer(text)]


def write(folder: Path, *, bundled: bool = False) -> list[Path]:
    """Write vczc.c and vczc.h into `folder`; the third-party sources must be there."""
    header = CSRC / "include" / "vczc.h"
    return [
        native.write_if_changed(folder / "vczc.c", text_of(bundled=bundled)),
        native.write_if_changed(folder / "vczc.h", header.read_text(encoding="utf-8")),
    ]


def text_of(*, bundled: bool) -> str:
    sources = native.own_sources()
    read = {path: path.read_text(encoding="utf-8") for path in sources}
    headers = _own_headers(sources)
    feature_macros = {name for text in read.values() for name in _feature_macros(text)}
    parts = [
        _head(bundled),
        *map(_preamble, read.values()),
        *_vendored(bundled),
        '#include "vczc.h"\n',
        *(_place(path, _own_header(path.read_text(encoding="utf-8"))) for path in headers),
        *map(_system_includes, read.values()),
    ]
    taken: dict[str, Path] = {}
    for path, text in read.items():
        names = _local_names(text) - feature_macros
        for name in sorted(names):
            if taken.setdefault(f"{path.stem}_{name}", path) != path:
                msg = f"{path}: {path.stem}_{name} is taken"
                raise ValueError(msg)
        body = _rename(text, {name: f"{path.stem}_{name}" for name in names})
        parts.append(_place(path, _own_source(_without_includes(body), feature_macros)))
    text = "\n".join(part for part in parts if part.strip())
    if (
        bundled
    ):  # names of functions, types and macros alike: of the libraries, and where they are used
        prefixes = "|".join(prefix for how in BUNDLES.values() for prefix in how.prefixes)
        text = re.sub(rf"\b(?=(?:{prefixes}))", "vczi_", text)
    return text


def _head(bundled: bool) -> str:
    version = vendored.pins()["yyjson"][0]
    codecs = " and the decoders of zstd, lz4 and zlib are" if bundled else " is"
    libraries = "-lm" if bundled else "-lzstd -llz4 -lz -lm"
    return HEAD.format(
        version=native.version(),
        yyjson=f"{version} of its package",
        codecs=codecs,
        libraries=libraries,
    )


def _place(path: Path, text: str) -> str:
    """A heading, and the text without the licence, which stands at the top of all."""
    text = re.sub(r"\A/\* SPDX[^\n]*\n/\* Copyright[^\n]*\n", "", text)
    return f"/* ======== {path.relative_to(native.ROOT).as_posix()} ======== */\n{text.strip()}\n"


# ---- Headers and includes


def _own_headers(sources: list[Path]) -> list[Path]:
    """Each header of csrc/ once, behind those that it includes."""
    where = {path.name: path for path in CSRC.glob("*/*.h")}
    ordered: list[Path] = []

    def visit(path: Path) -> None:
        for quote, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if quote == '"' and name in where:
                visit(where[name])
        if path.suffix == ".h" and path.name != "vczc.h" and path not in ordered:
            ordered.append(path)

    for source in sources:
        visit(source)
    return ordered


def _without_includes(text: str, quoted_only: bool = False) -> str:
    return INCLUDE.sub(lambda m: m[0] if quoted_only and m[1] == "<" else "", text)


def _feature_macros(text: str) -> set[str]:
    """Macros that a source defines for the system headers below them."""
    return {name for name in DEFINE.findall(text) if FEATURE_MACRO.fullmatch(name)}


def _preamble(text: str) -> str:
    """The feature macros of a source, which all system headers are to see."""
    mine = _feature_macros(text)
    text = _without_comments(text)
    return _lines_kept(text, lambda line: bool((m := DEFINE.match(line)) and m[1] in mine))


def _system_includes(text: str) -> str:
    text = _without_comments(text)
    return _lines_kept(text, lambda line: SYSTEM_INCLUDE.match(line) is not None)


def _lines_kept(text: str, keep: Callable[[str], bool]) -> str:
    """The lines to keep, inside the conditionals that they stand in; empty ones go."""
    lines = [line for line in text.splitlines() if CONDITIONAL.match(line) or keep(line)]
    text = "".join(f"{line.rstrip()}\n" for line in lines)
    before = None
    while before != text:
        before, text = text, EMPTY_CONDITIONAL.sub("", text)
    return text


# ---- Names that a source keeps to itself


def _local_names(text: str) -> set[str]:
    """Static names, types, tags, constants and macros of a source, at the level of the file."""
    names = set(DEFINE.findall(text))
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", _without_comments(text), flags=re.MULTILINE)
    tokens = [token for token in tokens_of(code) if token.kind != "space"]
    tokens, made = _without_calls(tokens, _defining_macros(_without_comments(text)))
    names |= made
    for chunk in _declarations(tokens):
        names |= _declared(chunk)
    return {name for name in names if not name.startswith(("vczi_", "vczc_", "VCZI_", "VCZC_"))}


def _defining_macros(text: str) -> dict[str, int | None]:
    """Macro with parameters -> which of them names the static function that its body defines."""
    macros: dict[str, int | None] = {}
    pattern = r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)]*)\)((?:\\\n|[^\n])*)"
    for name, listed, body in re.findall(pattern, text, re.MULTILINE):
        parameters = [parameter.strip() for parameter in listed.split(",")]
        found = re.search(r"\bstatic\b[^;{(]*?(\w+)\s*\(", body)
        is_named = found is not None and found[1] in parameters
        macros[name] = parameters.index(found[1]) if found and is_named else None
    return macros


def _without_calls(
    tokens: list[Token], macros: dict[str, int | None]
) -> tuple[list[Token], set[str]]:
    """Leave out what stands at file level as `MACRO(…)`; the names that such calls define."""
    kept: list[Token] = []
    names: set[str] = set()
    depth, i = 0, 0
    while i < len(tokens):
        token = tokens[i]
        is_start = depth == 0 and (not kept or kept[-1].text in ("}", ";"))
        if is_start and token.text in macros and tokens[i + 1].text == "(":
            arguments, nested = [""], 0
            while True:
                i += 1
                nested += (tokens[i].text == "(") - (tokens[i].text == ")")
                if nested == 0:
                    break
                if tokens[i].text == "," and nested == 1:
                    arguments.append("")
                elif tokens[i].text != "(" or nested > 1:
                    arguments[-1] += tokens[i].text
            place = macros[token.text]
            names |= {arguments[place]} if place is not None else set()
        else:
            kept.append(token)
            depth += (token.text == "{") - (token.text == "}")
        i += 1
    return kept, names


def _without_comments(text: str) -> str:
    return "".join(" " if token.kind == "comment" else token.text for token in tokens_of(text))


def _declarations(tokens: list[Token]) -> Iterator[list[Token]]:
    """File-level declarations, the bodies of functions left out."""
    chunk: list[Token] = []
    depth = 0
    for token in tokens:
        chunk.append(token)
        if token.text == "{":
            depth += 1
        elif token.text == "}":
            depth -= 1
            if depth == 0 and _is_function(chunk):
                yield chunk
                chunk = []
        elif token.text == ";" and depth == 0:
            yield chunk
            chunk = []


def _is_function(chunk: list[Token]) -> bool:
    at = next(i for i, token in enumerate(chunk) if token.text == "{")
    return chunk[at - 1].text == ")"


def _declared(chunk: list[Token]) -> set[str]:
    words = [token.text for token in chunk]
    names = set()
    for i, word in enumerate(words[:-2]):
        if word in ("struct", "union", "enum"):
            tag = words[i + 1]
            has_tag = chunk[i + 1].kind == "word"
            if has_tag and words[i + 2] in "{;":
                names.add(tag)
            if word == "enum" and "{" in (tag, words[i + 2]):
                names |= _constants(words[i + 1 + has_tag :])
    head, depth = [], 0
    for token in chunk:  # the declaration without what stands in braces
        depth -= token.text == "}"
        if depth == 0:
            head.append(token)
        depth += token.text == "{"
    texts = [token.text for token in head]
    if "=" in texts:
        head = head[: texts.index("=")]
    elif texts[0] == "typedef" and "(" in texts and "*" in texts[texts.index("(") + 1]:
        return names | {texts[texts.index("(") + 2]}
    is_typedef = texts[0] == "typedef"
    if not is_typedef and "static" not in texts:
        return names
    return names | _declarators(head)


def _constants(words: list[str]) -> set[str]:
    """The constants of an enum whose body comes next."""
    end = words.index("}")
    return {words[i + 1] for i in range(end) if words[i] in "{," and words[i + 1] != "}"}


def _declarators(head: list[Token]) -> set[str]:
    """The names of one declaration: before the last parameters, else before `[,;` or the end."""
    texts = [token.text for token in head]
    if ")" in texts:
        depth = 0
        for i in range(len(texts) - texts[::-1].index(")") - 1, -1, -1):
            depth += (texts[i] == ")") - (texts[i] == "(")
            if depth == 0:
                return {texts[i - 1]}
    names, depth = set(), 0
    for i, token in enumerate(head):
        following = texts[i + 1] if i + 1 < len(texts) else ";"
        if token.kind == "word" and depth == 0 and following in ("[", ",", ";"):
            names.add(token.text)
        depth += (token.text == "[") - (token.text == "]")
    return names


def _rename(text: str, names: dict[str, str]) -> str:
    """Members of structs keep their names, where they are declared and where they are used."""
    tokens = tokens_of(text)
    code = [i for i, token in enumerate(tokens) if token.kind not in ("space", "comment")]
    out = [token.text for token in tokens]
    bodies: list[bool] = []  # of each open brace, whether it is that of a struct
    for at, i in enumerate(code):
        token = tokens[i]
        before = tokens[code[at - 1]].text if at else ""
        after = tokens[code[at + 1]].text if at + 1 < len(code) else ""
        if token.text == "{":
            words = [tokens[j].text for j in code[max(0, at - 2) : at]]
            bodies.append("struct" in words or "union" in words)
        elif token.text == "}":
            bodies.pop()
        elif token.kind == "word" and token.text in names:
            is_member = before in (".", "->")
            is_member |= bool(bodies and bodies[-1]) and after in (";", "[", ",", ":", ")")
            if not is_member:
                out[i] = names[token.text]
    return "".join(out)


# ---- What is internal becomes static


def _own_header(text: str) -> str:
    text = _without_includes(text, quoted_only=True)
    text = re.sub(r"^extern (?=const )", "VCZI_PRIVATE_DATA ", text, flags=re.MULTILINE)
    # A declaration of a function begins in column 0 and ends with `);`, as clang-format leaves it.
    other = r"typedef|static|extern|VCZI_PRIVATE|struct \w+;|\w+ static"
    begins = rf"^(?!{other})(?=[A-Za-z][\w \t*()]*[ *]?vczi_\w+[(;])"
    return re.sub(begins, "VCZI_PRIVATE ", text, flags=re.MULTILINE)


def _own_source(text: str, feature_macros: set[str]) -> str:
    defines = "|".join(sorted(feature_macros)) or "(?!)"
    text = re.sub(
        rf"^[ \t]*#[ \t]*define[ \t]+(?:{defines})\b[^\n]*\n", "", text, flags=re.MULTILINE
    )
    return re.sub(r"^(?=const vczi_\w+_t vczi_\w+ = )", "VCZI_PRIVATE ", text, flags=re.MULTILINE)


# ---- Third-party sources


@dataclass(frozen=True)
class Bundle:
    """How a library is included."""

    public: tuple[str, ...]  # its headers for users: their macros stay
    prefixes: tuple[str, ...] = ()  # names that begin so get `vczi_` in front
    first: tuple[str, ...] = ()  # headers whose first inclusion is in dead code
    defines: tuple[tuple[str, str], ...] = ()


ZSTD_DEPENDENCIES = (("ZSTD_DEPS_NEED_MALLOC", ""), ("ZSTD_DEPS_NEED_MATH64", ""))

BUNDLES = {
    "zlib": Bundle(
        ("zlib.h", "zconf.h"), ("z_errmsg",), defines=(("Z_PREFIX", "1"), ("ZLIB_CONST", "1"))
    ),
    "lz4": Bundle(("lz4.h",), ("LZ4_",)),
    "zstd": Bundle(
        ("zstd.h", "zstd_errors.h"),
        ("ZSTD_", "HUF_", "FSE_", "ERR_", "BIT_", "MEM_", "g_debuglevel"),
        ("common/zstd_deps.h",),
        (("XXH_PRIVATE_API", "1"), ("DEBUGLEVEL", "0"), *ZSTD_DEPENDENCIES),
    ),
    "yyjson": Bundle(("yyjson.h",), defines=(("yyjson_api", "static"),)),
}

# Macros that stand in for those of a system header that was not there.
OF_THE_SYSTEM = re.compile(
    r"_|(bool|true|false|inline|const|assert|offsetof|restrict)$|U?INT\w*_(MAX|MIN)|SIZE_MAX|NULL|SEEK_"
)


def _vendored(bundled: bool) -> Iterator[str]:
    yield VISIBILITY
    for name in BUNDLES if bundled else ("yyjson",):
        yield f"VCZI_HIDE\n{_bundle(vendored.listed()[name], BUNDLES[name])}VCZI_AS_BEFORE\n"


def _bundle(library: vendored.Library, how: Bundle) -> str:
    """All of one library, its headers where they are first included."""
    seen: set[Path] = set()
    macros: set[str] = set()
    public: set[str] = set()

    def inline(path: Path) -> str:
        seen.add(path)
        text = path.read_text(encoding="utf-8", errors="replace")
        (public if path.name in how.public else macros).update(DEFINE.findall(text))

        def put(match: re.Match[str]) -> str:
            found = _find_include(match, path, library)
            if found is None:
                shown = f"VCZI_SHOW\n{match[0]}\nVCZI_AS_BEFORE"
                return shown if match[1] == "<" else f"/* {match[2]} */"
            return "" if found in seen else inline(found)

        return INCLUDE.sub(put, text)

    def forget(names: set[str]) -> list[str]:
        names = {name for name in names - public if not OF_THE_SYSTEM.match(name)}
        return [f"#undef {name}" for name in sorted(names)]

    defines = {**dict(library.defines), **dict(library.portable), **dict(how.defines)}
    parts = [f"#undef {name}\n#define {name} {value}" for name, value in defines.items()]
    parts += [inline(library.folder / name) for name in how.first]
    for source in library.sources:
        parts += [f"/* ======== {library.name}: {source.name} ======== */", inline(source)]
        parts += forget(set(DEFINE.findall(source.read_text(encoding="utf-8", errors="replace"))))
    parts += forget(macros | set(defines))
    text = "\n".join(parts) + "\n"
    if "Z_PREFIX" in defines:  # zlib's own way to rename: what it calls z_… is ours
        names = "|".join(re.findall(r"#\s*define\s+\w+\s+z_(\w+)[ \t]*$", text, re.MULTILINE))
        text = re.sub(rf"\bz_(?=(?:{names})\b)", "vczi_z_", text)
    return text


def _find_include(match: re.Match[str], path: Path, library: vendored.Library) -> Path | None:
    for folder in (path.parent, *library.include_dirs):
        found = (folder / match[2]).resolve()
        if match[1] == '"' and found.is_file():
            return found
    return None
