"""A store that speaks the S3 protocol, on loopback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BUCKET = "logs-of-a-job"


@contextmanager
def serve_s3(folder: Path) -> Iterator[str]:
    """Serves the files of a folder; the URL below which they are. The environment says where the server is."""
    import boto3
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    there = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_RETRY_MODE": "standard",
        "AWS_MAX_ATTEMPTS": "10",  # on a busy machine the server may be slow to answer
        "NO_PROXY": "127.0.0.1,localhost",
    }
    before = {name: os.environ.get(name) for name in there}
    os.environ.update(there)
    s3fs.S3FileSystem.clear_instance_cache()  # a client remembers the server that was there when it was made
    try:
        client = boto3.client("s3", endpoint_url=there["AWS_ENDPOINT_URL"])
        client.create_bucket(Bucket=BUCKET)
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            client.put_object(Bucket=BUCKET, Key=f"run-7/{file.relative_to(folder).as_posix()}", Body=file.read_bytes())
        yield f"s3://{BUCKET}/run-7"
    finally:
        server.stop()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
