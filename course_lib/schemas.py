"""Structured output, checked in code: parse a reply's JSON, fit it to a schema, and make any value sendable."""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]  # JSON Schema
Body: TypeAlias = dict[str, Any]


def fit(data: Any, schema: Schema, at: str = "the reply") -> Any:
    """Return `data` as a JSON schema wants it: a value of an enum that differs only in capitals gets the enum's.

    Checked are type, enum, const, anyOf, required, properties, additionalProperties: false and items; nothing else.
    Raises ValueError with a sentence that a model can act on.

    >>> fit({"id": "b"}, {"type": "object", "properties": {"id": {"enum": ["7.3", "B"]}}, "required": ["id"]})
    {'id': 'B'}
    """
    if "anyOf" in schema:
        return _fit_any(data, schema["anyOf"], at)
    wanted = schema.get("type", [])
    kinds = [wanted] if isinstance(wanted, str) else wanted
    if kinds and not any(_is(kind, data) for kind in kinds):
        raise ValueError(f"{at} is {short(data)}, but {' or '.join(kinds)} is needed")
    if "enum" in schema or "const" in schema:
        return _one_of(data, schema.get("enum", [schema.get("const")]), at)
    if isinstance(data, dict):
        return _fit_object(data, schema, at)
    if isinstance(data, list) and "items" in schema:
        return [fit(item, schema["items"], f"{at}[{position}]") for position, item in enumerate(data)]
    return data


def _is(kind: str, data: Any) -> bool:
    if kind == "integer":
        return not isinstance(data, bool) and (isinstance(data, int) or (isinstance(data, float) and data.is_integer()))
    if kind == "number":
        return not isinstance(data, bool) and isinstance(data, int | float)
    types = {"string": str, "boolean": bool, "null": type(None), "array": list, "object": dict}
    return isinstance(data, types.get(kind, object))


def _fit_any(data: Any, schemas: Sequence[Schema], at: str) -> Any:
    reasons = []
    for schema in schemas:
        try:
            return fit(data, schema, at)
        except ValueError as reason:
            reasons.append(str(reason))
    raise ValueError("; or ".join(reasons))


def _one_of(data: Any, values: Sequence[Any], at: str) -> Any:
    if any(type(value) is type(data) and value == data for value in values):
        return data
    texts = [value for value in values if isinstance(value, str)]
    alike = [text for text in texts if isinstance(data, str) and text.casefold() == data.strip().casefold()]
    if len(alike) == 1:
        return alike[0]
    near = get_close_matches(data[:200], texts) if isinstance(data, str) else []
    hint = f"nearest: {', '.join(map(short, near))}; " if near else ""
    more = f" and {len(values) - 40} more" if len(values) > 40 else ""
    raise ValueError(f"{at} is {short(data)}, {hint}allowed: {', '.join(map(short, values[:40]))}{more}")


def _fit_object(data: Body, schema: Schema, at: str) -> Body:
    properties = schema.get("properties", {})
    missing = [name for name in schema.get("required", []) if name not in data]
    if missing:
        raise ValueError(f"{at} lacks {', '.join(map(short, missing))}")
    unknown = [name for name in data if name not in properties]
    if unknown and schema.get("additionalProperties") is False:
        raise ValueError(f"{at} has {', '.join(map(short, unknown[:10]))}, which the schema does not know")
    return {name: fit(data[name], properties.get(name, {}), f"{at}.{name}") for name in data}


def short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return text if len(text) <= 120 else text[:119] + "…"


def parse(text: str) -> Any:
    """JSON by the standard: NaN and Infinity, which Python would take, are none. Raises ValueError."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def sendable(value: Any) -> Any:
    """Return a copy of JSON data without the lone halves of surrogate pairs, which UTF-8 cannot carry.

    Raises ValueError where `value` is not JSON data.

    >>> sendable({"question": "why \\ud800?"})
    {'question': 'why �?'}
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"This cannot be sent as JSON: {error}") from None
