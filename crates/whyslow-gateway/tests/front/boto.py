"""boto3 against the gateway: all checksums, both styles of names, uploads in parts, conditions."""

import base64
import hashlib
import io
import os
import sys
import urllib.request
import zlib

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

url = sys.argv[1]


def client(**settings):
    return boto3.client("s3", endpoint_url=url, config=Config(signature_version="s3v4", retries={"total_max_attempts": 1}, **settings))


def fails(code, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        assert error.response["Error"]["Code"] == code, error
    else:
        raise AssertionError(f"{code} was expected")


s3 = client(s3={"addressing_style": "path"})
bytes_ = os.urandom(100_000)
for checksum in [None, "CRC32", "SHA1", "SHA256"]:
    options = {"ChecksumAlgorithm": checksum} if checksum else {}
    put = s3.put_object(Bucket="bucket", Key="o", Body=bytes_, **options)
    if checksum:
        assert put["Checksum" + checksum], put
    # A stream, whose checksum comes behind it where the connection is TLS, else in front.
    stored = s3.put_object(Bucket="bucket", Key="o", Body=io.BytesIO(bytes_), **options)
    head = s3.head_object(Bucket="bucket", Key="o")
    got = s3.get_object(Bucket="bucket", Key="o", ChecksumMode="ENABLED")
    listed = s3.list_objects_v2(Bucket="bucket")["Contents"][0]
    assert got["Body"].read() == bytes_
    assert stored["ETag"] == head["ETag"] == got["ETag"] == listed["ETag"], (stored, head, got, listed)
    assert head["ContentLength"] == got["ContentLength"] == listed["Size"] == len(bytes_)

parts = TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=5 << 20, max_concurrency=4)
large = os.urandom(12_345_678)
s3.upload_fileobj(io.BytesIO(large), "bucket", "large", Config=parts, ExtraArgs={"Metadata": {"a": "1"}})
back = io.BytesIO()
s3.download_fileobj("bucket", "large", back, Config=parts)
assert hashlib.sha256(back.getvalue()).digest() == hashlib.sha256(large).digest()
assert s3.head_object(Bucket="bucket", Key="large")["Metadata"] == {"a": "1"}
s3.copy({"Bucket": "bucket", "Key": "large"}, "bucket", "copy", Config=parts)
assert s3.get_object(Bucket="bucket", Key="copy")["Body"].read() == large

for name, sum_ in [("ChecksumCRC32", base64.b64encode(zlib.crc32(large).to_bytes(4, "big")).decode())]:
    s3.upload_fileobj(io.BytesIO(large), "bucket", "summed", Config=parts, ExtraArgs={name: sum_})
    assert s3.get_object(Bucket="bucket", Key="summed")["Body"].read() == large
    try:
        s3.upload_fileobj(io.BytesIO(large + b"x"), "bucket", "summed", Config=parts, ExtraArgs={name: sum_})
    except ClientError as error:
        assert error.response["Error"]["Code"] == "BadDigest", error
    else:
        raise AssertionError("a wrong checksum of the whole was taken")
    assert s3.get_object(Bucket="bucket", Key="summed")["Body"].read() == large
s3.delete_object(Bucket="bucket", Key="summed")

link = s3.generate_presigned_url("get_object", Params={"Bucket": "bucket", "Key": "o"})
assert urllib.request.urlopen(link).read() == bytes_
link = s3.generate_presigned_url("put_object", Params={"Bucket": "bucket", "Key": "linked"})
urllib.request.urlopen(urllib.request.Request(link, data=b"linked", method="PUT"))
assert s3.get_object(Bucket="bucket", Key="linked")["Body"].read() == b"linked"

keys = [f"many/{n:04}" for n in range(1100)]
for key in keys[:30]:
    s3.put_object(Bucket="bucket", Key=key, Body=b"")
pages = s3.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix="many/", PaginationConfig={"PageSize": 7})
assert [one["Key"] for page in pages for one in page["Contents"]] == keys[:30]
pages = s3.get_paginator("list_objects").paginate(Bucket="bucket", Delimiter="/", PaginationConfig={"PageSize": 1})
pages = list(pages)
found = [one["Key"] for page in pages for one in page.get("Contents", [])]
folders = [one["Prefix"] for page in pages for one in page.get("CommonPrefixes", [])]
assert (found, folders) == (["copy", "large", "linked", "o"], ["many/"]), (found, folders)
deleted = s3.delete_objects(Bucket="bucket", Delete={"Objects": [{"Key": key} for key in keys[:30]]})
assert len(deleted["Deleted"]) == 30 and "Errors" not in deleted

fails("NoSuchKey", s3.get_object, Bucket="bucket", Key="absent")
fails("NoSuchBucket", s3.list_objects_v2, Bucket="absent")
fails("404", s3.head_object, Bucket="bucket", Key="absent")
fails("InvalidRange", s3.get_object, Bucket="bucket", Key="o", Range="bytes=200000-")
fails("NotImplemented", s3.put_object, Bucket="bucket", Key="x", Body=b"", SSECustomerAlgorithm="AES256", SSECustomerKey="k" * 32)
upload = s3.create_multipart_upload(Bucket="bucket", Key="aborted")
s3.abort_multipart_upload(Bucket="bucket", Key="aborted", UploadId=upload["UploadId"])
s3.create_bucket(Bucket="of-boto")
assert "of-boto" in [one["Name"] for one in s3.list_buckets()["Buckets"]]
s3.delete_bucket(Bucket="of-boto")
assert s3.get_bucket_location(Bucket="bucket")["LocationConstraint"] is None
print("all is well")
