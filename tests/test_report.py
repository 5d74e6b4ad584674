"""The JSON contract: real reports keep it, the committed schema is the dataclasses' own, and the text is safe to print."""

from __future__ import annotations

import json
import math

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.advice.statement import Evidence
from diagnose.report.parts import Diagnosis, Link, Stats
from diagnose.report.report import Report, dumps, from_dict, json_pieces, schema, to_json

from .report_samples import all_samples

SAMPLES = all_samples()
CONTRACT = ["schema_version", "outcome", "summary", "diagnosis", "chain", "alternatives", "symptoms", "survived", "timeline", "ranks", "last_lines", "collect", "collectives", "stacks", "attempts", "other_jobs", "facts", "notices", "gaps", "inputs", "stats", "time_basis", "language"]


def test_keys_are_those_of_the_contract_in_its_order():
    assert list(to_json(Report())) == CONTRACT


@pytest.mark.parametrize("name", SAMPLES)
def test_reports_validate(name):
    jsonschema.Draft202012Validator(schema()).validate(to_json(SAMPLES[name]))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_report_comes_back_from_its_json(name):
    assert SAMPLES[name] == from_dict(json.loads(dumps(SAMPLES[name])))


@pytest.mark.parametrize("name", SAMPLES)
def test_pieces_of_json_make_its_text(name, monkeypatch):
    monkeypatch.setattr("diagnose.report.report.TOKENS", 7)
    pieces = list(json_pieces(to_json(SAMPLES[name])))
    assert len(pieces) > 9
    assert json.loads("".join(pieces)) == json.loads(json.dumps(to_json(SAMPLES[name])))


def test_a_link_says_from_without_an_underscore():
    assert {"from", "to", "why", "ranks", "delay_s"} == set(to_json(Report(chain=(Link("a", "b"),)))["chain"][0])


def test_a_captured_nan_is_kept_as_text():
    report = Report(diagnosis=Diagnosis(evidence=(Evidence(fields={"loss": math.nan}),)))
    assert json.loads(dumps(report))["diagnosis"]["evidence"][0]["fields"]["loss"] == "nan"


def test_a_time_that_is_not_finite_is_null():
    assert to_json(Report(stats=Stats(seconds=math.inf)))["stats"]["seconds"] is None


@given(st.text(st.characters(categories=None)))
def test_no_text_breaks_out_of_a_json_string_or_reaches_a_terminal(text):
    page = dumps(Report(diagnosis=Diagnosis(evidence=(Evidence(text=text),))))
    assert text == json.loads(page)["diagnosis"]["evidence"][0]["text"]
    assert not any(c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160) for c in page)
    page.encode()  # lone surrogates are escaped
