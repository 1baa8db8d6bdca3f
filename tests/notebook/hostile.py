"""Texts that try to become live nodes, and a look at what they became."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from html.parser import HTMLParser

_SCRIPTS = (
    "<script>alert(1)</script>", "</script><script>alert(1)</script>", "<ScRiPt>alert(1)</sCrIpT>", "<script src=//evil/x.js>",
    "<script\n>alert(1)</script\n>", "<<script>alert(1)//<</script>", "<script/x>alert(1)</script>", "\"'><script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</script>", "<script type=module>import('//evil')</script>", "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
)  # fmt: skip
_HANDLERS = (
    "<img src=x onerror=alert(1)>", "<img src=x onerror='alert(1)'", "<svg onload=alert(1)>", "<svg/onload=alert(1)//", "<body onload=alert(1)>",
    "<input autofocus onfocus=alert(1)>", "<details open ontoggle=alert(1)>", "<video><source onerror=alert(1)>", "<marquee onstart=alert(1)>",
    "<select autofocus onfocus=alert(1)>", "\" onmouseover=\"alert(1)", "' onmouseover='alert(1)", "x\" onload=alert(1) y=\"", "` onclick=alert(1) `",
    "<a onclick=alert(1)>x</a>", "<x onpointerenter=alert(1)>", "\"><img src=x onerror=alert(1)>",
)  # fmt: skip
_ADDRESSES = (
    "<a href=javascript:alert(1)>x</a>", "<a href=\"java\tscript:alert(1)\">x</a>", "<iframe src=javascript:alert(1)>", "<iframe srcdoc='<script>alert(1)</script>'>",
    "<object data=javascript:alert(1)>", "<embed src=javascript:alert(1)>", "<form action=javascript:alert(1)><button>x", "<base href=//evil/>",
    "<link rel=stylesheet href=//evil/x.css>", "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>", "javascript:alert(1)",
    "<svg><a xlink:href=javascript:alert(1)><text y=9>x", "data:text/html,<script>alert(1)</script>",
)  # fmt: skip
_BREAKERS = (
    "</title><script>alert(1)</script>", "</style><script>alert(1)</script>", "</svg><script>alert(1)</script>", "</text><image href=x onerror=alert(1)>",
    "]]><script>alert(1)</script>", "<!--<script>alert(1)</script>-->", "--><script>alert(1)</script>", "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;script&#62;", "\x00\x08\x0b\x1b[31m<b>\x7f\ufffe", "\u202e<script>alert(1)</script>", "{{7*7}}${alert(1)}<%= 1 %>",
)  # fmt: skip
PAYLOADS = (*_SCRIPTS, *_HANDLERS, *_ADDRESSES, *_BREAKERS)

ALIVE = {
    "script", "img", "image", "iframe", "object", "embed", "form", "base", "link", "meta", "body", "video", "source", "audio", "input",
    "details", "marquee", "select", "a", "noscript", "foreignobject", "use", "animate", "set", "x", "button", "b", "p", "html", "frame",
}  # fmt: skip


class _Watch(HTMLParser):
    def __init__(self, allowed: set[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.allowed, self.found, self.text = allowed, list[str](), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ALIVE - self.allowed:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name in ("href", "src", "srcdoc", "xlink:href", "action", "formaction", "data"):
                self.found.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def live_nodes(html: str, allowed: set[str] = frozenset()) -> list[str]:  # type: ignore[assignment]
    """Every node or attribute that could run or fetch something; `allowed`: tags that the page itself uses."""
    watch = _Watch(set(allowed))
    watch.feed(html)
    watch.close()
    return watch.found


def shown_text(html: str) -> str:
    """What a reader sees."""
    watch = _Watch(set())
    watch.feed(html)
    watch.close()
    return "".join(watch.text)


def svg_tags(svg: str) -> set[str]:
    """The element names of a picture. Raises: ET.ParseError when it is no well-formed XML."""
    return {node.tag.removeprefix("{http://www.w3.org/2000/svg}") for node in ET.fromstring(svg).iter()}
