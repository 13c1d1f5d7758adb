"""S3 as its documentation describes it, asked for by boto3: `conformance.py URL [NAME …]`.

Each function is a case, in a bucket of its own. A line for each that fails, then the counts. Cases
of S3 that are not here are in the table of docs/gateway/clients.md, each with the reason. More cases
are in `conformance_lists.py` and `conformance_web.py`."""

import base64
import hashlib
import os
import sys
import traceback
import urllib.error
import urllib.request
import zlib

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.handlers import validate_bucket_name

URL = sys.argv[1]
MIB = 1 << 20


def client(**settings):
    # A connection is closed behind a body that was refused unread.
    retries = {"total_max_attempts": 3}
    return boto3.client("s3", endpoint_url=URL, config=Config(signature_version="s3v4", retries=retries, **settings))


s3 = client()
CASES = []
# The bucket of the case.
B = ""


def case(work):
    CASES.append(work)
    return work


def put(key, body=b"body", **more):
    return s3.put_object(Bucket=B, Key=key, Body=body, **more)


def get(key, **more):
    return s3.get_object(Bucket=B, Key=key, **more)


def read(key, **more):
    return get(key, **more)["Body"].read()


def head(key, **more):
    return s3.head_object(Bucket=B, Key=key, **more)


def fails(work, status, *codes):
    """The error of a call, which must have this status and one of these codes."""
    try:
        work()
    except ClientError as error:
        answer = error.response
        found = (answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"])
        assert found[0] == status and (not codes or found[1] in codes), f"{found} instead of {status} {codes}"
        return answer
    raise AssertionError(f"no error, instead of {status} {codes}")


def same(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


def keys(**more):
    return [one["Key"] for one in s3.list_objects_v2(Bucket=B, **more).get("Contents", [])]


def upload(key, parts, **more):
    """Parts by number, completed."""
    id = s3.create_multipart_upload(Bucket=B, Key=key, **more)["UploadId"]
    list = [{"PartNumber": n, "ETag": part(key, id, n, parts[n])["ETag"]} for n in sorted(parts)]
    return id, list, complete(key, id, list)


def part(key, id, number, body):
    return s3.upload_part(Bucket=B, Key=key, UploadId=id, PartNumber=number, Body=body)


def complete(key, id, list, **more):
    parts = {"Parts": list}
    return s3.complete_multipart_upload(Bucket=B, Key=key, UploadId=id, MultipartUpload=parts, **more)


# Objects


@case
def object_is_read_as_it_was_stored():
    tag = put("a", b"bytes")["ETag"]
    found = get("a")
    same((found["Body"].read(), found["ContentLength"], found["ETag"]), (b"bytes", 5, tag))
    same(head("a")["ETag"], tag)


@case
def object_is_replaced():
    put("a", b"one")
    put("a", b"another")
    same(read("a"), b"another")


@case
def empty_object_and_folder_marker_have_no_bytes():
    for key in ("empty", "folder/"):
        put(key, b"")
        same((read(key), head(key)["ContentLength"]), (b"", 0))
    found = s3.list_objects_v2(Bucket=B)["Contents"]
    same([(one["Key"], one["Size"]) for one in found], [("empty", 0), ("folder/", 0)])
    put("folder/a")
    found = s3.list_objects_v2(Bucket=B, Prefix="folder/", Delimiter="/")
    same([one["Key"] for one in found["Contents"]], ["folder/", "folder/a"])
    s3.delete_object(Bucket=B, Key="folder/")
    same(keys(), ["empty", "folder/a"])


@case
def absent_object_is_404():
    fails(lambda: get("a"), 404, "NoSuchKey")
    fails(lambda: head("a"), 404)


@case
def keys_are_any_text():
    for key in ("a b", "ü", "a+b", "%25", "a//b", "/a", "a/../b", "quote\"'", "<&>", "x" * 200, "a/./b", "tab\t"):
        put(key, key.encode())
        same(read(key), key.encode())
    same(len(keys()), 12)


@case
def longest_key_is_1024_bytes():
    put("/".join(["x" * 127] * 8), b"long")
    fails(lambda: put("x/" * 512 + "y"), 400, "KeyTooLongError")


@case
def metadata_and_headers_are_kept():
    more = dict(
        ContentType="text/x-a",
        CacheControl="no-cache",
        ContentDisposition="attachment",
        ContentEncoding="gzip",
        ContentLanguage="de",
        Metadata={"one": "1", "two": "zwei"},
    )
    put("a", **more)
    for found in (get("a"), head("a")):
        same({name: found[name] for name in more}, more)


@case
def content_type_is_binary_by_default():
    put("a")
    same(head("a")["ContentType"], "binary/octet-stream")


@case
def answers_headers_are_those_that_were_asked_for():
    put("a")
    found = get("a", ResponseContentType="text/x-b", ResponseContentDisposition="inline", ResponseCacheControl="no-store")
    same((found["ContentType"], found["ContentDisposition"], found["CacheControl"]), ("text/x-b", "inline", "no-store"))


@case
def deleting_twice_is_as_good():
    put("a")
    for _ in range(2):
        same(s3.delete_object(Bucket=B, Key="a")["ResponseMetadata"]["HTTPStatusCode"], 204)
    same(keys(), [])


@case
def several_are_deleted():
    for key in "abc":
        put(key)
    objects = [{"Key": key} for key in ("a", "b", "never")]
    found = s3.delete_objects(Bucket=B, Delete={"Objects": objects})
    same((sorted(one["Key"] for one in found["Deleted"]), keys()), (["a", "b", "never"], ["c"]))
    same("Deleted" in s3.delete_objects(Bucket=B, Delete={"Objects": [{"Key": "c"}], "Quiet": True}), False)


@case
def no_more_than_1000_are_deleted():
    objects = [{"Key": str(n)} for n in range(1001)]
    fails(lambda: s3.delete_objects(Bucket=B, Delete={"Objects": objects}), 400, "MalformedXML")


# Ranges and conditions


@case
def ranges_are_parts_of_the_object():
    put("a", b"0123456789")
    for asked, expected, field in (
        ("bytes=2-4", b"234", "bytes 2-4/10"),
        ("bytes=7-", b"789", "bytes 7-9/10"),
        ("bytes=-3", b"789", "bytes 7-9/10"),
        ("bytes=5-500", b"56789", "bytes 5-9/10"),
        ("bytes=-500", b"0123456789", "bytes 0-9/10"),
    ):
        found = get("a", Range=asked)
        same((found["Body"].read(), found["ContentRange"]), (expected, field))
        same(found["ResponseMetadata"]["HTTPStatusCode"], 206)


@case
def range_without_a_byte_is_416():
    put("a", b"0123456789")
    for asked in ("bytes=10-", "bytes=40-50", "bytes=-0"):
        fails(lambda: get("a", Range=asked), 416, "InvalidRange")
    put("empty", b"")
    fails(lambda: get("empty", Range="bytes=0-5"), 416, "InvalidRange")


@case
def reading_under_conditions():
    tag = put("a")["ETag"]
    date, before, after = head("a")["LastModified"], "Mon, 01 Jan 2001 00:00:00 GMT", "Thu, 01 Jan 2099 00:00:00 GMT"
    same(read("a", IfMatch=tag), b"body")
    same(read("a", IfNoneMatch='"other"'), b"body")
    same(read("a", IfModifiedSince=before), b"body")
    same(read("a", IfUnmodifiedSince=after), b"body")
    fails(lambda: get("a", IfMatch='"other"'), 412, "PreconditionFailed")
    fails(lambda: get("a", IfUnmodifiedSince=before), 412, "PreconditionFailed")
    fails(lambda: get("a", IfModifiedSince=date), 304)
    fails(lambda: head("a", IfMatch='"other"'), 412)


@case
def not_modified_has_the_etag():
    tag = put("a")["ETag"]
    for asked in (tag, tag.strip('"'), f'"x", {tag}'):
        for work in (get, head):
            answer = fails(lambda: work("a", IfNoneMatch=asked), 304)
            same(answer["ResponseMetadata"]["HTTPHeaders"].get("etag"), tag)


@case
def storing_where_nothing_is():
    put("a", IfNoneMatch="*")
    fails(lambda: put("a", b"other", IfNoneMatch="*"), 412, "PreconditionFailed")
    same(read("a"), b"body")


@case
def storing_over_the_known_version():
    tag = put("a")["ETag"]
    fails(lambda: put("a", b"other", IfMatch='"x"'), 412, "PreconditionFailed")
    put("a", b"other", IfMatch=tag)
    fails(lambda: put("absent", IfMatch=tag), 404, "NoSuchKey")


@case
def deleting_the_known_version():
    tag = put("a")["ETag"]
    fails(lambda: s3.delete_object(Bucket=B, Key="a", IfMatch='"x"'), 412, "PreconditionFailed")
    s3.delete_object(Bucket=B, Key="a", IfMatch=tag)
    same(keys(), [])


# Checksums


@case
def checksums_are_verified_and_answered():
    sums = {
        "CRC32": zlib.crc32(b"body").to_bytes(4, "big"),
        "SHA1": hashlib.sha1(b"body").digest(),
        "SHA256": hashlib.sha256(b"body").digest(),
    }
    for name, value in sums.items():
        text = base64.b64encode(value).decode()
        same(put("a", **{f"Checksum{name}": text})[f"Checksum{name}"], text)
        wrong = base64.b64encode(bytes(len(value))).decode()
        fails(lambda: put("a", b"other", **{f"Checksum{name}": wrong}), 400, "BadDigest")
    same(read("a"), b"body")


@case
def md5_is_verified():
    text = base64.b64encode(hashlib.md5(b"body").digest()).decode()
    put("a", ContentMD5=text)
    fails(lambda: put("a", b"other", ContentMD5=text), 400, "BadDigest")
    fails(lambda: put("a", b"other", ContentMD5="no MD5"), 400, "InvalidDigest")


@case
def whole_objects_checksum_is_verified_at_complete():
    id = s3.create_multipart_upload(Bucket=B, Key="a", ChecksumAlgorithm="CRC32", ChecksumType="FULL_OBJECT")["UploadId"]
    one, two = b"x" * (5 * MIB), b"y"
    list = [{"PartNumber": n, "ETag": part("a", id, n, body)["ETag"]} for n, body in ((1, one), (2, two))]
    of = lambda body: base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
    fails(lambda: complete("a", id, list, ChecksumCRC32=of(b"z"), ChecksumType="FULL_OBJECT"), 400, "BadDigest")
    found = complete("a", id, list, ChecksumCRC32=of(one + two), ChecksumType="FULL_OBJECT")
    same((found["ChecksumCRC32"], found["ChecksumType"]), (of(one + two), "FULL_OBJECT"))


def crc32(body):
    return base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()


@case
def checksum_comes_back_with_the_object():
    sha = base64.b64encode(hashlib.sha256(b"body").digest()).decode()
    put("sha", ChecksumSHA256=sha)
    for work in (get, head):
        found = work("sha", ChecksumMode="ENABLED")
        same((found["ChecksumSHA256"], found["ChecksumType"], "ChecksumCRC32" in found), (sha, "FULL_OBJECT", False))
    # A range has none, and neither has a request that does not ask for it.
    same("ChecksumSHA256" in get("sha", Range="bytes=0-1", ChecksumMode="ENABLED"), False)
    unasked = client(response_checksum_validation="when_required")
    same("ChecksumSHA256" in unasked.get_object(Bucket=B, Key="sha"), False)
    large = b"x" * (3 * MIB)
    put("large", large, ChecksumCRC32=crc32(large))
    same(get("large", ChecksumMode="ENABLED")["ChecksumCRC32"], crc32(large))
    found = s3.get_object_attributes(Bucket=B, Key="sha", ObjectAttributes=["Checksum"])["Checksum"]
    same((found["ChecksumSHA256"], found["ChecksumType"]), (sha, "FULL_OBJECT"))


@case
def object_without_a_checksum_gets_a_crc():
    plain = client(request_checksum_calculation="when_required")
    plain.put_object(Bucket=B, Key="a", Body=b"body")
    same("ChecksumCRC64NVME" in head("a", ChecksumMode="ENABLED"), True)


@case
def checksum_of_an_upload_in_parts_comes_back():
    one, two = b"x" * (5 * MIB), b"y"
    for more in ({"ChecksumCRC32": crc32(one + two), "ChecksumType": "FULL_OBJECT"}, {}):
        id = s3.create_multipart_upload(Bucket=B, Key="a")["UploadId"]
        list = [{"PartNumber": n, "ETag": part("a", id, n, body)["ETag"]} for n, body in ((1, one), (2, two))]
        done = complete("a", id, list, **more)
        for work in (get, head):
            found = work("a", ChecksumMode="ENABLED")
            same(found.get("ChecksumCRC32"), more.get("ChecksumCRC32"))
            same(found.get("ChecksumCRC64NVME"), done.get("ChecksumCRC64NVME"))
        same(read("a") == one + two, True)


@case
def checksum_stays_with_a_copy():
    put("a", ChecksumCRC32=crc32(b"body"))
    source = {"Bucket": B, "Key": "a"}
    s3.copy_object(Bucket=B, Key="b", CopySource=source, MetadataDirective="REPLACE", Metadata={"x": "1"})
    retag("b", one="1")
    same(head("b", ChecksumMode="ENABLED")["ChecksumCRC32"], crc32(b"body"))


def load(name):
    """Adds the cases of another file, which uses the names of this one."""
    path = os.path.join(os.path.dirname(__file__), name)
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), globals())


load("conformance_lists.py")
load("conformance_web.py")


def run(work, number):
    global B
    B = f"conformance-{number}"
    s3.create_bucket(Bucket=B)
    try:
        work()
        return None
    except Exception:
        return traceback.format_exc(limit=-2)


def main():
    chosen = [work for work in CASES if not sys.argv[2:] or work.__name__ in sys.argv[2:]]
    failed = 0
    for number, work in enumerate(chosen):
        if why := run(work, number):
            failed += 1
            print(f"{work.__name__} fails: {why}")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
