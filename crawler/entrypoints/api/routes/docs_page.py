"""The API description: `openapi.json` for programs and `docs` for people, without scripts or external files."""

import base64
import hashlib
import json
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

router = APIRouter(include_in_schema=False)

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h2{margin-top:2.5rem;border-bottom:1px solid #ccc}details{margin:.4rem 0}summary{cursor:pointer}
code,pre{font:14px/1.45 ui-monospace,monospace}pre{background:#f4f4f4;padding:.6rem;overflow:auto}
.method{display:inline-block;min-width:4.5rem;font-weight:700}table{border-collapse:collapse}
td,th{text-align:left;padding:.15rem .8rem .15rem 0;vertical-align:top}
@media(prefers-color-scheme:dark){body{color:#eee;background:#16181c}pre{background:#23262c}h2{border-color:#444}}
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_CSP = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; frame-ancestors 'none'"


@router.get("/openapi.json")
def openapi(request: Request) -> JSONResponse:
    return JSONResponse(request.app.openapi())


@router.get("/docs")
def docs(request: Request) -> HTMLResponse:
    page = "".join(_page(request.app.openapi()))
    return HTMLResponse(page, headers={"Content-Security-Policy": _CSP})


def _page(spec: dict[str, Any]) -> Iterator[str]:
    title = escape(f"{spec['info']['title']} {spec['info']['version']}")
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>"
    yield '<meta name=viewport content="width=device-width"><h1>' + title + "</h1>"
    yield f"<p>{escape(spec['info'].get('description', ''))} <code>openapi.json</code> beside this page has it all.</p>"
    groups: dict[str, list[str]] = {}
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            groups.setdefault(operation.get("tags", ["other"])[0], []).append(_operation(method, path, operation))
    for tag, operations in groups.items():
        yield f"<h2>{escape(tag)}</h2>" + "".join(operations)
    yield "<h2>Shapes</h2>" + "".join(_shape(*shape) for shape in spec["components"]["schemas"].items())


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    head = f"<span class=method>{escape(method.upper())}</span><code>{escape(path)}</code>"
    parts = [f"<details><summary>{head} {escape(operation.get('summary', ''))}</summary>"]
    rows = "".join(_parameter(parameter) for parameter in operation.get("parameters", []))
    parts.append(f"<table>{rows}</table>" if rows else "")
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    parts.append(f"<p>Body: <code>{escape(_named(body))}</code></p>" if body else "")
    answers = (f"<tr><td><code>{code}</code><td>{_answer(found)}" for code, found in operation["responses"].items())
    return "".join(parts) + f"<table>{''.join(answers)}</table></details>"


def _parameter(parameter: dict[str, Any]) -> str:
    needed = "" if parameter.get("required") else " (optional)"
    words = escape(parameter.get("description", ""))
    return (
        f"<tr><td><code>{escape(parameter['name'])}</code>{needed}<td>{escape(_named(parameter['schema']))}<td>{words}"
    )


def _answer(found: dict[str, Any]) -> str:
    shapes = ", ".join(_named(content.get("schema")) for content in found.get("content", {}).values())
    return f"{escape(found.get('description', ''))} <code>{escape(shapes)}</code>"


def _named(schema: dict[str, Any] | None) -> str:
    if not schema:
        return ""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    either = [_named(each) for each in schema.get("anyOf", []) if each.get("type") != "null"]
    return " or ".join(either) or str(schema.get("type", "anything"))


def _shape(name: str, schema: dict[str, Any]) -> str:
    text = escape(json.dumps(schema, indent=2))
    return f"<details><summary><code>{escape(name)}</code></summary><pre>{text}</pre></details>"
