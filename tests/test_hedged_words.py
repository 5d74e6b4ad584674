"""A report's sentences claim no more than is known."""

from __future__ import annotations

from pathlib import Path

from .told import told

STORE_FULL = """Traceback (most recent call last):
  File "/home/mei/tune.py", line 12, in <module>
    ref = ray.put(weights)
  File "/opt/conda/lib/python3.8/site-packages/ray/worker.py", line 1480, in put
    object_ref = worker.put_object(value)
  File "python/ray/_raylet.pyx", line 142, in ray._raylet.check_status
ray.exceptions.ObjectStoreFullError: Failed to put object ffffffff in object store because it is full. Object size is 25892330588 bytes.
"""


def test_frames_that_cython_compiled_are_not_the_users_own(tmp_path: Path) -> None:
    report = told(tmp_path, {"tune.log": STORE_FULL})
    assert [c.file for c in report.diagnosis.evidence[0].own_code] == ["/home/mei/tune.py"]
