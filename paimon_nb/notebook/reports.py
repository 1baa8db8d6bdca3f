"""Reports as output cells (text and HTML): row history, compaction preview, health, comparison."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from paimon_nb.notebook.display import tip
from paimon_nb.notebook.grid.texts import value_text
from paimon_nb.notebook.svg import level_colour
from paimon_nb.table.tables.inspect.formatting import bytes_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.table.tables.inspect import CompactionPreview, Finding, RowHistory, RowVersion, SnapshotComparison

STYLE = """
.pnb-r{font:12px/1.45 var(--jp-ui-font-family,system-ui,sans-serif);color:var(--jp-ui-font-color1,inherit);max-width:900px;overflow-x:auto;padding-bottom:2px}
.pnb-r table{font:inherit;border-collapse:collapse;margin:4px 0;font-variant-numeric:tabular-nums}
.pnb-r.pnb-r th{text-align:left;font-weight:600;padding:3px 14px 3px 0;border-bottom:1px solid var(--jp-border-color1,#8886);white-space:nowrap}
.pnb-r.pnb-r td{text-align:left;padding:3px 14px 3px 0;border-bottom:1px solid var(--jp-border-color3,#8882);white-space:nowrap;max-width:320px;overflow:hidden;text-overflow:ellipsis}
.pnb-r.pnb-r.pnb-r tbody tr{background:none}
.pnb-r .rules td{max-width:none}.pnb-r .rules td.wide{white-space:normal}.pnb-r .dim{opacity:.68}.pnb-r .gone td{opacity:.5;text-decoration:line-through}.pnb-r .gone td.say{text-decoration:none}
.pnb-r .new{font-weight:700}.pnb-r .null{opacity:.45;font-style:italic}
.pnb-r .level{display:inline-block;min-width:1.7em;text-align:center;border-radius:3px;padding:0 3px;color:#111;font-weight:600}
.pnb-r code{font:12px var(--jp-code-font-family,monospace);background:var(--jp-layout-color2,#8881);padding:1px 5px;border-radius:3px;user-select:all}
.pnb-r .row td{border-top:2px solid var(--jp-border-color1,#8886);font-weight:600}
.pnb-r .grade{display:inline-block;width:1.4em;font-weight:700}
"""
SIGN = {"broken": ("✗", "#D55E00"), "slow": ("!", "#E69F00"), "ok": ("✓", "#009E73")}


class Report:
    """An output with a text and an HTML form."""

    def __init__(self, content: Any, text: str, html: str) -> None:
        self.content, self._text, self._html = content, text, html

    def __repr__(self) -> str:
        return self._text

    def _repr_mimebundle_(self, **_: Any) -> Mapping[str, str]:
        return {"text/plain": self._text, "text/html": f'<div class="pnb-r"><style>{STYLE}</style>{self._html}</div>'}


def why_report(answer: RowHistory, made_from: str = "") -> Report:
    """Row versions in merge order, the merged row after each, and the rule that decides; `made_from`: HTML that follows."""
    key = ", ".join(f"{k} = {value_text(v)}" for k, v in answer.key.items())
    columns = [c for c in (answer.versions[0].values if answer.versions else {}) if c not in answer.key]
    head = "".join(f"<th>{escape(h)}</th>" for h in ("", "sequence", *columns, "level", "file", "commit", ""))
    body: list[str] = []
    before: Mapping[str, Any] | None = None
    for version in answer.versions:
        body.append(_version_row(version, columns, before))
        before = before if version.hidden else version.after
    result = (
        "<td></td><td>no row</td>" + "<td></td>" * len(columns)
        if answer.row is None
        else "<td>=</td><td>current row</td>" + "".join(_value_cell(answer.row[c]) for c in columns)
    )
    html = (
        f"<div><b>{escape(answer.table)}</b> {escape(key)} <span class='dim'>{answer.version_label}</span></div>"
        f"<div>{escape(answer.rule)}</div>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}<tr class='row'>{result}<td></td><td></td><td></td><td></td></tr></tbody></table>{made_from}"
    )
    return Report(answer, str(answer), html)


def _version_row(version: RowVersion, columns: Sequence[str], before: Mapping[str, Any] | None) -> str:
    """One line; columns that this version changed in the merged row are bold."""
    cells = [f"<td>{escape(version.kind)}</td><td>{version.sequence}</td>"]
    for name in columns:
        changed = (
            not version.hidden
            and version.after is not None
            and (before is None or before.get(name) != version.after.get(name))
        )
        cells.append(_value_cell(version.values[name], "new" if changed else ""))
    commit = f"{version.snapshot}" if version.snapshot is not None else "expired"
    location = f"{version.file}:{version.position}"
    cells.append(
        f"<td>{_level_badge(version.level)}</td><td class='dim' title='{escape(location, quote=True)}'>…{escape(location[-24:])}</td><td>{commit}</td>"
    )
    cells.append(f"<td class='say dim'{tip(version.hidden or '')}>{escape(version.hidden or '')}</td>")
    return f"<tr{' class=gone' if version.hidden else ''}>{''.join(cells)}</tr>"


def _value_cell(value: Any, style: str = "") -> str:
    text = value_text(value)
    if text is None:
        return "<td class='null'>NULL</td>"
    return f"<td class='{style}'{tip(text)}>{escape(text)}</td>" if style else f"<td{tip(text)}>{escape(text)}</td>"


def _level_badge(level: int) -> str:
    return f"<span class='level' style='background:{level_colour(level)}'>L{level}</span>"


def due_report(buckets: Sequence[CompactionPreview], limit: int = 8) -> Report:
    """The compaction preview of each bucket: rules with the numbers they compare."""
    html = []
    for due in buckets[:limit]:
        where = f"{due.partition}, bucket {due.bucket}" if due.partition else f"bucket {due.bucket}"
        first_rule = str(due).splitlines()[0].split("; ", 1)[1]
        rules = "".join(
            f"<tr><td>{'▸' if r.name == due.decided_by else ''}</td><td class='{'new' if r.applies else 'dim'}'>{escape(r.name)}</td>"
            f"<td class='dim wide'>{escape(r.numbers)}</td><td>{'applies' if r.applies else ''}</td></tr>"
            for r in due.rules
        )
        html.append(
            f"<div><b>{escape(where)}</b> · {due.runs_text} · {escape(first_rule)}</div><table class='rules'>{rules}</table>"
        )
    hidden = len(buckets) - limit
    what = "files" if buckets and buckets[0].output_files is not None else "runs"
    hidden_note = [f"{hidden} more bucket{'s' * (hidden != 1)} with fewer {what}"] if hidden > 0 else []
    text = "\n".join([*(str(d) for d in buckets[:limit]), *hidden_note]) or "no files yet"
    return Report(
        buckets,
        text,
        "".join(html) + "".join(f"<div class='dim'>{m}</div>" for m in hidden_note) or "<div>no files yet</div>",
    )


def health_report(title: str, findings: Sequence[Finding]) -> Report:
    """Findings, worst first, each with its fix."""
    html = [f"<div><b>{escape(title)}</b></div>"]
    for f in findings:
        sign, colour = SIGN[f.grade]
        detail = f"<div style='margin-left:1.4em'>{escape(f.detail)}</div>" if f.detail else ""
        fix = f"<div style='margin-left:1.4em'><code>{escape(f.fix)}</code></div>" if f.fix else ""
        html.append(
            f"<div style='margin-top:5px'><span class='grade' style='color:{colour}'>{sign}</span><b>{escape(f.what)}</b>"
            f" <span class='dim'>· {f.grade}</span>{detail}{fix}</div>"
        )
    return Report(findings, "\n".join(str(f) for f in findings), "".join(html))


def static_compare_report(compared: SnapshotComparison, pictures: Sequence[str] = ()) -> Report:
    """Files added, moved and removed between two snapshots, schema and option changes.

    Args:
        pictures: the LSM trees of both snapshots as SVG, shown above.
    """
    rows = []
    for what, sign in (("added", "+"), ("moved", "→"), ("removed", "−")):
        for change in compared.only(what)[:50]:
            levels = " → ".join(_level_badge(n) for n in (change.level_before, change.level_after) if n is not None)
            location = ", ".join(filter(None, [change.partition, f"bucket {change.bucket}"]))
            rows.append(
                f"<tr><td class='new'>{sign}</td><td>{what}</td><td>{levels}</td><td class='dim' title='{escape(change.file, quote=True)}'>"
                f"…{escape(change.file[-22:])}</td><td>{change.rows:,} row{'s' * (change.rows != 1)}</td><td>{bytes_text(change.bytes)}</td><td class='dim'>{escape(location)}</td></tr>"
            )
    hidden = len(compared.files) - len(rows)
    changes = [f"column {c}" for c in compared.columns] + [f"option {o}" for o in compared.options]
    unchanged = f"{compared.same_files:,} {'file' if compared.same_files == 1 else 'files'}"
    html = (
        f"<div><b>{escape(compared.table)}</b> snapshot {compared.before} → {compared.after}"
        f" <span class='dim'>physical rows {compared.rows_before:,} → {compared.rows_after:,}; {unchanged} unchanged</span></div>"
        + "".join(f"<div class='pnb' style='margin:6px 0'>{p}</div>" for p in pictures)
        + (f"<table>{''.join(rows)}</table>" if rows else "")
        + (f"<div class='dim'>{hidden:,} more files</div>" if hidden > 0 else "")
        + "".join(f"<div>{escape(line)}</div>" for line in changes)
    )
    return Report(compared, str(compared), html)
