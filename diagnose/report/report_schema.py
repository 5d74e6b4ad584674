"""The JSON Schema of a report: pydantic's view of its dataclasses, committed as `schema/report.schema.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .report import Report

SCHEMA_PATH = Path(__file__).with_name("report.schema.json")


def schema() -> dict[str, Any]:
    """Yield the JSON Schema, made from the dataclasses."""
    from pydantic import TypeAdapter

    made = TypeAdapter(Report).json_schema(mode="serialization")
    link = made["$defs"]["Link"]
    link["properties"]["from"] = link["properties"].pop("from_") | {"title": "From"}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Report of diagnose"}
    return {**made, **head}


def dumps_schema() -> str:
    """Yield the schema as the committed file holds it."""
    return json.dumps(schema(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
