"""Times uploads and downloads by boto3, and prints a line of JSON for each.

client.py ENDPOINT KIND IDLE_SECONDS LARGE_BYTES   (KIND: straight, served)
"""

import io
import json
import sys
import time

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config

ENDPOINT, KIND, IDLE, LARGE = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
SMALL = [1_000, 100_000, 1_000_000]
AGAIN = 5


def connect():
    """A client without connections yet, that repeats nothing in silence."""
    config = Config(retries={"max_attempts": 0}, read_timeout=300, s3={"addressing_style": "path"})
    return boto3.client("s3", endpoint_url=ENDPOINT, region_name="us-east-1", config=config)


def show(what, state, size, seconds):
    print(json.dumps({"what": what, "state": state, "bytes": size, "seconds": seconds}), flush=True)


def timed(what, state, size, work):
    began = time.monotonic()
    work()
    show(what, state, size, time.monotonic() - began)


def put(client, state, size):
    body = bytes(size)
    timed("put", state, size, lambda: client.put_object(Bucket="bucket", Key=f"{KIND}-{size}", Body=body))


def get(client, state, size):
    timed("get", state, size, lambda: client.get_object(Bucket="bucket", Key=f"{KIND}-{size}")["Body"].read())


def main():
    for size in SMALL:
        for _ in range(AGAIN if KIND == "straight" else 1):
            put(connect(), "new", size)
    client = connect()
    for size in SMALL:
        put(client, "first", size)
        for _ in range(AGAIN):
            put(client, "reused", size)
            time.sleep(0.5)
    for size in SMALL:
        time.sleep(IDLE)
        put(client, "idle", size)
    for size in SMALL:
        get(client, "reused", size)
    if LARGE:
        config = TransferConfig(multipart_chunksize=16 << 20)
        for _ in range(2):
            body = io.BytesIO(bytes(LARGE))
            timed("put", "large", LARGE, lambda: client.upload_fileobj(body, "bucket", "large", Config=config))
            timed("get", "large", LARGE, lambda: client.download_fileobj("bucket", "large", io.BytesIO(), Config=config))


main()
