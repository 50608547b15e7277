"""Makes the API reference of C and C++ as Markdown out of Doxygen's XML.

    cpp_reference.py XML OUT    writes OUT/c.md and OUT/cpp.md

The headers are written for people: a comment stands before a group of declarations that belong together. So a declaration without a
comment joins the one before it, and a page shows them under one heading.
"""

import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

SECTION = re.compile(r"^/\* -{4} (.+?) -+ \*/")


def text_of(element) -> str:
    """A description as Markdown: paragraphs, with everything inside them as plain text."""
    if element is None:
        return ""
    paragraphs = [" ".join("".join(part.itertext()).split()) for part in element.iter("para")]
    return "\n\n".join(escape(paragraph) for paragraph in paragraphs if paragraph)


def escape(text: str) -> str:
    return re.sub(r"([<>{}*_\[\]|])", r"\\\1", text)


def plain(element) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def description(member) -> str:
    return "\n\n".join(filter(None, (text_of(member.find("briefdescription")), text_of(member.find("detaileddescription")))))


def declaration(member) -> str:
    name, kind = member.findtext("name"), member.get("kind")
    if kind == "define":
        return f"#define {name} {plain(member.find('initializer'))}".rstrip()
    if kind == "enum":
        values = member.findall("enumvalue")
        return f"enum {name} {{ {', '.join(value.findtext('name') for value in values)} }};"
    if kind == "typedef":
        arguments = tidy(plain(member.find("argsstring")))
        return f"typedef {tidy(plain(member.find('type')))} {name}{arguments};".replace(f") {name})", f"){name})")
    templates = [" ".join(filter(None, (plain(p.find("type")), plain(p.find("declname"))))) for p in member.findall("templateparamlist/param")]
    words = [f"template <{', '.join(templates)}>" if templates else "", "static" if member.get("static") == "yes" else "",
             "explicit" if member.get("explicit") == "yes" else "", tidy(plain(member.find("type")))]
    rest = tidy(plain(member.find("argsstring"))) if kind == "function" else tidy(plain(member.find("initializer")))
    return " ".join(filter(None, [*words, name])) + (rest if kind == "function" else f" {rest}".rstrip()).replace("=", " = ").replace("  =  ", " = ") + ";"


def tidy(text: str) -> str:
    text = re.sub(r"\s*([*&])", r"\1", text)
    text = re.sub(r"([*&])(?=\w)", r"\1 ", text)
    text = re.sub(r"<\s+", "<", re.sub(r"\s+>", ">", text))
    return text.replace("override", "").strip()


def line_of(member) -> int:
    return int(member.find("location").get("line"))


def groups_of(members):
    """Each declaration with those after it that its comment speaks of, too."""
    groups = []
    for member in sorted(members, key=line_of):
        said = description(member)
        if said or not groups or not belongs(member, groups[-1][0]):
            groups.append(([member], said))
        else:
            groups[-1][0].append(member)
    return groups


def belongs(member, group) -> bool:
    """Whether a declaration without a comment goes with the group before it."""
    before, name = group[-1], member.findtext("name")
    if "enum" in (member.get("kind"), before.get("kind")):
        return False
    if member.get("kind") == "define":
        return name.rpartition("_")[0] == before.findtext("name").rpartition("_")[0]
    if not member.find("location").get("file").endswith(".h"):
        return name.removeprefix("try_") in {other.findtext("name").removeprefix("try_") for other in group}
    lines = Path(member.find("location").get("file")).read_text().splitlines()
    return all(line.strip() for line in lines[line_of(before):line_of(member) - 1])


def statuses(member) -> list[str]:
    lines = ["| Status | Number | Meaning |", "|---|---:|---|"]
    for value in member.findall("enumvalue"):
        number = plain(value.find("initializer")).lstrip("= ")
        lines.append(f"| `{value.findtext('name')}` | {number} | {description(value)} |")
    return lines


def write_group(out: list[str], members, said: str, language: str) -> None:
    if members[0].get("kind") == "enum":
        out += ["", "### Statuses", "", *statuses(members[0])]
        return
    names = list(dict.fromkeys(member.findtext("name") for member in members))
    out += ["", f"### {', '.join(escape(name) for name in names)}", "", f"```{language}", *(declaration(member) for member in members), "```"]
    if said:
        out += ["", said]


def c_page(folder: Path) -> str:
    root = xml.parse(folder / "ipc_8h.xml").getroot().find("compounddef")
    source = Path(root.find("location").get("file"))
    lines = source.read_text().splitlines() if source.exists() else []
    sections = [(number, match.group(1)) for number, line in enumerate(lines, 1) if (match := SECTION.match(line))]
    members = [m for m in root.iter("memberdef") if not m.findtext("name").startswith(("IPC_IPC_H", "IPC_API", "IPC_CALL"))]
    out = ["# C reference", "", "`#include <ipc/ipc.h>`. What holds for all functions, threads, ownership, time-outs and statuses, is in [The C ABI](../abi.md). "
           "What a function may return besides the statuses of all functions stands in brackets after its text."]
    placed = [0, *(number for number, _ in sections)]
    titles = ["Constants, statuses and handles", *(title[0].upper() + title[1:] for _, title in sections)]
    for begin, end, title in zip(placed, [*placed[1:], 1 << 30], titles):
        here = [m for m in members if begin <= line_of(m) < end]
        if here:
            out += ["", f"## {escape(title)}"]
            for group, said in groups_of(here):
                write_group(out, group, said, "c")
    return "\n".join(out) + "\n"


def cpp_page(folder: Path) -> str:
    out = ["# C++ reference", "", "`#include <ipc/ipc.hpp>`, namespace `ipc`, C++17 or later. Each function that waits or can fail has a form that begins with `try_`: it throws nothing "
           "and gives a `Result`. The status of an `Error` or a `Result` is one of [the C reference](c.md#statuses).", ""]
    namespace = xml.parse(folder / "namespaceipc.xml").getroot().find("compounddef")
    free = [m for m in namespace.iter("memberdef") if m.get("prot") == "public"]
    compounds = [xml.parse(folder / f"{ref.get('refid')}.xml").getroot().find("compounddef") for ref in namespace.findall("innerclass")]
    compounds = [c for c in compounds if c.findtext("compoundname").count("::") == 1]
    order = {name: place for place, name in enumerate(
        "Channel Listener ReplyWriter Completion Client ClientOptions Server ServerOptions ServerError Queue Publisher Subscriber Bytes Result Error".split())}
    for compound in sorted(compounds, key=lambda c: order.get(c.findtext("compoundname").split("::")[1].split("<")[0].strip(), 99)):
        name = tidy(compound.findtext("compoundname").removeprefix("ipc::"))
        public = [m for m in compound.iter("memberdef") if m.get("prot") == "public" and m.get("kind") in ("function", "variable")
                  and "delete" not in m.findtext("argsstring", "")]
        if not public or name.startswith("Result<void"):
            continue
        out += ["", f"## {escape(name)}"]
        if said := description(compound):
            out += ["", said]
        for group, said in groups_of(public):
            write_group(out, group, said, "cpp")
    out += ["", "## Free functions and constants"]
    for group, said in groups_of(free):
        write_group(out, group, said, "cpp")
    return "\n".join(out) + "\n"


def main(folder: str, target: str) -> None:
    out = Path(target)
    out.mkdir(parents=True, exist_ok=True)
    (out / "c.md").write_text(c_page(Path(folder)))
    (out / "cpp.md").write_text(cpp_page(Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
