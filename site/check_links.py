"""Checks that every link of the built site leads to a file of it and, with a fragment, to an element there. Other hosts are left alone.

    check_links.py SITE BASE    prints what is wrong; exit code 1 if anything is
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def main(folder: str, base: str) -> int:
    site = Path(folder)
    pages = {file.relative_to(site).as_posix(): Page(file.read_text()) for file in site.rglob("*.html")}
    wrong, checked = [], 0
    for name, page in pages.items():
        for link in page.links:
            url, fragment = urldefrag(urljoin(f"http://site{base}{name}", link))
            if urlsplit(url).netloc != "site" or urlsplit(url).scheme != "http":
                continue
            checked += 1
            path = unquote(urlsplit(url).path)
            target = path.removeprefix(base) if path.startswith(base) else None
            if target is None:
                wrong.append(f"{name}: {link} is outside {base}")
                continue
            target = target + "index.html" if target == "" or target.endswith("/") else target
            if not (site / target).is_file():
                wrong.append(f"{name}: {link} leads nowhere")
            elif fragment and target in pages and unquote(fragment) not in pages[target].ids:
                wrong.append(f"{name}: {link}: {target} has nothing of that name")
    print(*sorted(set(wrong)), sep="\n")
    print(f"{len(pages)} pages, {checked} links, {len(set(wrong))} of them wrong")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
