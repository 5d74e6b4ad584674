"""What users paste by symptom, whatever the project: one fact each, in the words of the libraries."""

from __future__ import annotations

import pytest

from .told import cause, told

HEAD = 'Traceback (most recent call last):\n  File "/app/train.py", line 9, in main\n    run()\n'
@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("nixl._bindings.nixlBackendError: NIXL_ERR_BACKEND", "nccl.ib-error"),
        ("nixl._bindings.nixlUnknownError: NIXL_ERR_UNKNOWN", "process.exception"),
        ("socket.timeout: timed out", "network.connect-timeout"),
        ("TimeoutError: The read operation timed out", "network.connect-timeout"),
    ],
)
def test_classes_that_python_2_and_c_named_are_exceptions_too(tmp_path, message, expected):
    assert expected == cause(told(tmp_path, {"train.log": f"{HEAD}{message}\n"}))
    assert expected == cause(told(tmp_path, {"tail.log": f"ERROR 06-13 08:28:11 [core.py:517] {message}\n"}))
