"""Puts the pages of the site together: docs/ and the pages of the root as they are, the reference, the measurements.

    prepare.py TREE SOURCE CSHARP    writes SOURCE, from the tree and from what docfx wrote into CSHARP

Links are those of the tree. One to something that is no page of the site goes to the repository, if DOCS_REPOSITORY is the address of its
files (https://host/owner/name/blob/commit); without it only its text is left.
"""

import os
import posixpath
import re
import shutil
import sys
from pathlib import Path

# Files of the tree that are pages, or files beside the pages.
PAGES = {"README.md": "overview.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md",
         "examples/README.md": "examples.md", "packaging/README.md": "packaging.md"}
CHART = "results/reference/measurements.epyc-2cpu.64.svg"
FILES = {"measurements.epyc-2cpu.htm": "measurements.epyc-2cpu.htm", "measurements.xlsx": "measurements.xlsx", CHART: "64.svg",
         "managed/packaging/icon.png": "icon.png"}

# VitePress puts it before links to pages and pictures, but not before those to other files.
BASE = os.environ.get("DOCS_BASE", "/")
COMMAND = re.compile(r"^([A-Z_]+=\S+ |scripts/|distribution/|dotnet |cmake |sudo |apt-get |git |cc |c\+\+ |npm |npx |export |build/|ipc )")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def site_path(path: str) -> str | None:
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/") and path.endswith(".md"):
        return path.removeprefix("docs/")
    return None


def rewrite(text: str, page: str, tree: Path) -> str:
    """The page's links for the site. page: its path in the tree."""
    repository = os.environ.get("DOCS_REPOSITORY", "").rstrip("/")

    def link(match: re.Match) -> str:
        picture, words, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match.group(0)
        target, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if path == "examples" or not (tree / path).exists():
            path = f"{path}/README.md"
        if not (tree / path).exists():
            raise SystemExit(f"{page}: the link to {match.group(3)} leads nowhere")
        fragment = f"#{anchor}" if anchor else ""
        if (inside := site_path(path)) is not None:
            if re.fullmatch(r"(docs/)?[\w-]+\.md", words):
                words = re.search(r"^# (.+)$", (tree / path).read_text(), re.MULTILINE).group(1)
            return f"{picture}[{words}](/{inside}{fragment})"
        if path in FILES:
            return f"![{words}](/{FILES[path]})" if picture else f'[{words}]({BASE}{FILES[path]}{fragment}){{target="_blank"}}'
        return f"[{words}]({repository}/{path}{fragment})" if repository else words

    fenced, lines = False, []
    for line in fence_indented(text).splitlines():
        if line.startswith("```"):
            fenced = not fenced
        lines.append(line if fenced else LINK.sub(link, line))
    return without_braces("\n".join(lines)) + "\n"


def fence_indented(text: str) -> str:
    """Code that is marked by four spaces as a fenced block, which the site highlights and lets scroll by itself."""
    out, code, fenced, listed = [], [], False, False
    for line in [*text.splitlines(), ""]:
        if not fenced and not listed and line.startswith("    ") and (code or not out or not out[-1].strip()):
            code.append(line[4:])
            continue
        if code and not line.strip():
            code.append("")
            continue
        if code:
            language = "sh" if any(COMMAND.match(part) for part in code) else "text"
            trailing = next(place for place, part in enumerate(reversed(code)) if part)
            body = code[:-trailing] if trailing else code
            out += [f"```{language}", *body, "```", *[""] * trailing]
            code = []
        if line.startswith("```"):
            fenced = not fenced
        elif line.strip():
            # What is indented below an item of a list belongs to the item.
            listed = not fenced and (bool(re.match(r"\s*([-*]|\d+\.) ", line)) or (listed and line.startswith(" ")))
        out.append(line)
    return "\n".join(out)


def without_braces(text: str) -> str:
    """VitePress takes {{ }} outside code blocks for an expression."""
    return text.replace("{{", "&#123;&#123;") if "{{" in text else text


def csharp(pages: Path, out: Path) -> None:
    """What docfx wrote, with the links that it leaves to its own site generator, and without what every object has."""
    names = {file.stem for file in pages.glob("*.md")}

    def reference(match: re.Match) -> str:
        uid = re.sub(r"%([0-9a-fA-F]{2})", lambda code: chr(int(code.group(1), 16)), match.group(1))
        words = re.sub(r"\(.*", "", uid).removeprefix("Ipc.").removeprefix("System.")
        words = re.sub(r"`+\d+", "", words)
        file = next((name for name in (uid, uid.rpartition(".")[0], re.sub(r"\(.*", "", uid).rpartition(".")[0]) if name in names), None)
        anchor = re.sub(r"[^A-Za-z0-9]", "_", uid)
        # Values of an enumeration have no heading of their own.
        fragment = f"#{anchor}" if file and f'id="{anchor}"' in (pages / f"{file}.md").read_text() else ""
        return f"[`{words}`]({file}.md{fragment})" if file else f"`{words}`"

    out.mkdir(parents=True, exist_ok=True)
    for file in sorted(pages.glob("*.md")):
        text = file.read_text()
        text = re.sub(r'<xref href="([^"]+)"[^>]*></xref>', reference, text)
        text = re.sub(r"#### Inherited Members\n\n.*?(?=\n#)", "", text, flags=re.DOTALL)
        text = re.sub(r"^(#+) <a id=\"([^\"]+)\"></a> (.*)$", r"\1 \3 {#\2}", text, flags=re.MULTILINE)
        text = re.sub(r"^ {8,}", "", text, flags=re.MULTILINE)
        text = re.sub(r"learn\.microsoft\.com/([^)\s]*)\\#[^)]*\)(?=[,\s]|$)", r"learn.microsoft.com/\1)", text)
        (out / file.name).write_text(without_braces(text))


def front_page(tree: Path) -> str:
    readme = (tree / "README.md").read_text()
    table = re.search(r"<!-- measured: call raw 64 -->(.*?)<!-- /measured -->", readme, re.DOTALL).group(1).strip()
    machine = re.search(r"^<!-- machine -->\n(.*?)\n<!-- /machine -->$", readme, re.DOTALL | re.MULTILINE)
    if machine is None:
        raise SystemExit("README.md: the front page takes the sentence about the machine from between <!-- machine --> and <!-- /machine -->")
    return (tree / "site/index.md").read_text().replace("MACHINE", machine.group(1)).replace("TABLE", table).replace("BASE", BASE)


def main(tree_name: str, source_name: str, csharp_name: str) -> None:
    tree, source = Path(tree_name), Path(source_name)
    pages = {f"docs/{file.name}": file.name for file in (tree / "docs").glob("*.md")} | PAGES
    for path, name in pages.items():
        text = rewrite((tree / path).read_text(), path, tree)
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (source / "index.md").write_text(front_page(tree))
    (source / "public").mkdir(exist_ok=True)
    for path, name in FILES.items():
        shutil.copy(tree / path, source / "public" / name)
    shutil.copy(tree / "site/api.md", source / "api/index.md")
    csharp(Path(csharp_name), source / "api/csharp")


if __name__ == "__main__":
    main(*sys.argv[1:])
