#!/usr/bin/env bash
# What the action does: annotations, the report on the run's page, outputs. An install that fails fails no job twice.
set -uo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
if [ "${INSTALL:-}" ]; then
  python3 -m venv "$home/venv" && "$home/venv/bin/pip" install --quiet --disable-pip-version-check "$INSTALL" ||
    { echo "::warning::diagnose could not be installed"; exit 0; }
  PATH=$home/venv/bin:$PATH
fi
options=()
[ "${EXIT_CODE:-}" ] && options+=(--exit-code "$EXIT_CODE")
[ "${RULES:-}" ] && options+=(--rules "$RULES")
[ "${REPORT:-}" ] && options+=(-o "$REPORT")
paths=()
while IFS= read -r path; do [ "$path" ] && paths+=("$path"); done <<<"$PATHS"
diagnose --format github -o "$home/report.md" -o "$home/report.json" ${options[@]+"${options[@]}"} -- "${paths[@]}"
code=$?
[ -f "$home/report.md" ] && cat "$home/report.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
[ -f "$home/report.json" ] && python3 - "$home/report.json" >>"${GITHUB_OUTPUT:-/dev/null}" <<'PYTHON'
import json, sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
found = report.get("diagnosis") or {}
for name, value in (("outcome", report["outcome"]), ("cause", found.get("cause", "")), ("summary", report["summary"])):
    print(f"{name}={' '.join(str(value).split())}")
PYTHON
if [ "${FAIL:-false}" = true ]; then exit "$code"; fi
exit 0
