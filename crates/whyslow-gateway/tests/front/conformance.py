"""S3 as its documentation describes it, asked for by boto3: `conformance.py URL [NAME …]`.

Each function is a case, in a bucket of its own. A line for each that fails, then the counts. Cases
of S3 that are not here are in the table of docs/gateway/clients.md, each with the reason."""

import base64
import hashlib
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


# Lists


def tree():
    for key in ("a", "b/1", "b/2", "c/d/1", "e", "ä"):
        put(key, b"")


@case
def lists_are_sorted_and_in_pages():
    tree()
    same(keys(), ["a", "b/1", "b/2", "c/d/1", "e", "ä"])
    found, token = [], {}
    while True:
        page = s3.list_objects_v2(Bucket=B, MaxKeys=2, **token)
        same(page["KeyCount"], 2)
        found += [one["Key"] for one in page["Contents"]]
        if not page["IsTruncated"]:
            break
        token = {"ContinuationToken": page["NextContinuationToken"]}
    same(found, keys())


@case
def lists_sum_up_by_delimiter():
    tree()
    page = s3.list_objects_v2(Bucket=B, Delimiter="/")
    folders = [one["Prefix"] for one in page["CommonPrefixes"]]
    same(([one["Key"] for one in page["Contents"]], folders), (["a", "e", "ä"], ["b/", "c/"]))
    page = s3.list_objects_v2(Bucket=B, Prefix="c/", Delimiter="/")
    same(([one["Prefix"] for one in page["CommonPrefixes"]], page["KeyCount"]), (["c/d/"], 1))
    page = s3.list_objects_v2(Bucket=B, Delimiter="d")
    same([one["Prefix"] for one in page["CommonPrefixes"]], ["c/d"])


@case
def lists_begin_behind_a_key():
    tree()
    same(keys(StartAfter="b/1"), ["b/2", "c/d/1", "e", "ä"])
    same(keys(StartAfter="bb"), ["c/d/1", "e", "ä"])
    same(keys(Prefix="b/", StartAfter="b/1"), ["b/2"])


@case
def lists_of_the_first_version():
    tree()
    page = s3.list_objects(Bucket=B, Delimiter="/", MaxKeys=2)
    same((page["IsTruncated"], page["NextMarker"]), (True, "b/"))
    page = s3.list_objects(Bucket=B, Delimiter="/", Marker=page["NextMarker"])
    same([one["Key"] for one in page["Contents"]], ["e", "ä"])
    same([one["Prefix"] for one in page["CommonPrefixes"]], ["c/"])


@case
def empty_pages():
    same((keys(), keys(MaxKeys=0)), ([], []))
    put("a")
    found = s3.list_objects_v2(Bucket=B, MaxKeys=0)
    same((found["KeyCount"], found["IsTruncated"]), (0, False))


@case
def list_that_makes_no_sense_is_400():
    fails(lambda: s3.list_objects_v2(Bucket=B, MaxKeys=-1), 400, "InvalidArgument")
    fails(lambda: s3.list_objects_v2(Bucket=B, ContinuationToken="ü"), 400, "InvalidArgument")


@case
def absent_bucket_is_404():
    fails(lambda: s3.list_objects_v2(Bucket="absent-bucket"), 404, "NoSuchBucket")
    fails(lambda: s3.get_object(Bucket="absent-bucket", Key="a"), 404, "NoSuchBucket")
    fails(lambda: s3.put_object(Bucket="absent-bucket", Key="a"), 404, "NoSuchBucket")
    fails(lambda: s3.head_bucket(Bucket="absent-bucket"), 404)
    fails(lambda: s3.delete_bucket(Bucket="absent-bucket"), 404, "NoSuchBucket")


@case
def versions_are_null():
    tree()
    found = s3.list_object_versions(Bucket=B, MaxKeys=4)
    versions = [(one["Key"], one["VersionId"], one["IsLatest"]) for one in found["Versions"]]
    same(versions, [(key, "null", True) for key in ("a", "b/1", "b/2", "c/d/1")])
    rest = s3.list_object_versions(Bucket=B, KeyMarker=found["NextKeyMarker"], VersionIdMarker="null")
    same([one["Key"] for one in rest["Versions"]], ["e", "ä"])
    same(s3.list_object_versions(Bucket=B, Delimiter="/")["CommonPrefixes"], [{"Prefix": "b/"}, {"Prefix": "c/"}])
    same(read("a", VersionId="null"), b"")
    s3.delete_object(Bucket=B, Key="a", VersionId="null")
    fails(lambda: get("a"), 404, "NoSuchKey")


# Copies


@case
def copy_has_the_sources_metadata():
    put("a", Metadata={"x": "1"}, ContentType="text/x-a", Tagging="t=1")
    found = s3.copy_object(Bucket=B, Key="b", CopySource={"Bucket": B, "Key": "a"})
    same((read("b"), head("b")["Metadata"], head("b")["ContentType"]), (b"body", {"x": "1"}, "text/x-a"))
    same(found["CopyObjectResult"]["ETag"], head("b")["ETag"])
    same(tags("b"), {"t": "1"})


@case
def copy_with_other_metadata():
    put("a", Metadata={"x": "1"}, ContentType="text/x-a", Tagging="t=1")
    source = {"Bucket": B, "Key": "a"}
    s3.copy_object(Bucket=B, Key="b", CopySource=source, MetadataDirective="REPLACE", Metadata={"y": "2"})
    same((head("b")["Metadata"], head("b")["ContentType"], tags("b")), ({"y": "2"}, "binary/octet-stream", {"t": "1"}))
    s3.copy_object(Bucket=B, Key="c", CopySource=source, TaggingDirective="REPLACE", Tagging="u=2")
    same((head("c")["Metadata"], tags("c")), ({"x": "1"}, {"u": "2"}))


@case
def copy_onto_itself():
    put("a", Metadata={"x": "1"})
    source = {"Bucket": B, "Key": "a"}
    fails(lambda: s3.copy_object(Bucket=B, Key="a", CopySource=source), 400, "InvalidRequest")
    s3.copy_object(Bucket=B, Key="a", CopySource=source, MetadataDirective="REPLACE", Metadata={"x": "2"})
    same((read("a"), head("a")["Metadata"]), (b"body", {"x": "2"}))


@case
def copy_under_conditions():
    tag = put("a")["ETag"]
    source = {"Bucket": B, "Key": "a"}
    s3.copy_object(Bucket=B, Key="b", CopySource=source, CopySourceIfMatch=tag)
    for more in ({"CopySourceIfMatch": '"x"'}, {"CopySourceIfNoneMatch": tag}):
        fails(lambda: s3.copy_object(Bucket=B, Key="c", CopySource=source, **more), 412, "PreconditionFailed")


@case
def copy_of_an_absent_object_is_404():
    fails(lambda: s3.copy_object(Bucket=B, Key="b", CopySource={"Bucket": B, "Key": "a"}), 404, "NoSuchKey")


@case
def copy_of_a_name_that_is_no_plain_text():
    put("a b+ü?&", b"odd")
    s3.copy_object(Bucket=B, Key="b", CopySource={"Bucket": B, "Key": "a b+ü?&"})
    same(read("b"), b"odd")


# Uploads in parts


@case
def upload_in_parts():
    body = b"x" * (5 * MIB) + b"end"
    id, list, found = upload("a", {1: body[: 5 * MIB], 2: b"end"}, Metadata={"x": "1"}, ContentType="text/x-a")
    same((read("a") == body, head("a")["Metadata"], head("a")["ContentType"]), (True, {"x": "1"}, "text/x-a"))
    same(found["ETag"], head("a")["ETag"])


@case
def numbers_may_have_gaps():
    upload("a", {3: b"x" * (5 * MIB), 9000: b"end"})
    same(read("a", PartNumber=9000), b"end")
    same(head("a", PartNumber=3)["PartsCount"], 2)


@case
def completing_again_is_answered_the_same():
    id, list, first = upload("a", {1: b"x" * (5 * MIB), 2: b"end"})
    same(complete("a", id, list)["ETag"], first["ETag"])
    fails(lambda: complete("a", id, list[:1]), 404, "NoSuchUpload")
    put("a", b"other")
    fails(lambda: complete("a", id, list), 404, "NoSuchUpload")


@case
def part_is_sent_again():
    id = s3.create_multipart_upload(Bucket=B, Key="a")["UploadId"]
    old = part("a", id, 1, b"old")["ETag"]
    new = part("a", id, 1, b"new")["ETag"]
    fails(lambda: complete("a", id, [{"PartNumber": 1, "ETag": old}]), 400, "InvalidPart")
    complete("a", id, [{"PartNumber": 1, "ETag": new}])
    same(read("a"), b"new")


@case
def completing_with_parts_that_are_not_there():
    id = s3.create_multipart_upload(Bucket=B, Key="a")["UploadId"]
    tag = part("a", id, 1, b"x")["ETag"]
    fails(lambda: complete("a", id, [{"PartNumber": 2, "ETag": tag}]), 400, "InvalidPart")
    fails(lambda: complete("a", id, [{"PartNumber": 1, "ETag": '"x"'}]), 400, "InvalidPart")
    fails(lambda: complete("a", id, []), 400, "MalformedXML")
    two = part("a", id, 2, b"y")["ETag"]
    turned = [{"PartNumber": 2, "ETag": two}, {"PartNumber": 1, "ETag": tag}]
    fails(lambda: complete("a", id, turned), 400, "InvalidPartOrder")


@case
def completing_under_a_condition():
    put("a")
    id = s3.create_multipart_upload(Bucket=B, Key="a")["UploadId"]
    list = [{"PartNumber": 1, "ETag": part("a", id, 1, b"x")["ETag"]}]
    fails(lambda: complete("a", id, list, IfNoneMatch="*"), 412, "PreconditionFailed")
    complete("a", id, list, IfMatch=head("a")["ETag"])
    same(read("a"), b"x")


@case
def part_numbers_are_from_1_to_10000():
    id = s3.create_multipart_upload(Bucket=B, Key="a")["UploadId"]
    for number in (0, 10_001):
        fails(lambda: part("a", id, number, b"x"), 400, "InvalidArgument")


@case
def uploads_and_parts_are_listed():
    ids = [s3.create_multipart_upload(Bucket=B, Key=key)["UploadId"] for key in ("a", "b")]
    found = s3.list_multipart_uploads(Bucket=B)["Uploads"]
    same([(one["Key"], one["UploadId"]) for one in found], [("a", ids[0]), ("b", ids[1])])
    same([one["Key"] for one in s3.list_multipart_uploads(Bucket=B, Prefix="b")["Uploads"]], ["b"])
    sent = [part("a", ids[0], n, bytes(n))["ETag"] for n in (1, 2, 3)]
    found = s3.list_parts(Bucket=B, Key="a", UploadId=ids[0], MaxParts=2)
    same([(one["PartNumber"], one["Size"], one["ETag"]) for one in found["Parts"]], [(1, 1, sent[0]), (2, 2, sent[1])])
    more = s3.list_parts(Bucket=B, Key="a", UploadId=ids[0], PartNumberMarker=found["NextPartNumberMarker"])
    same([one["PartNumber"] for one in more["Parts"]], [3])


@case
def aborted_upload_is_gone():
    id = s3.create_multipart_upload(Bucket=B, Key="a")["UploadId"]
    part("a", id, 1, b"x")
    s3.abort_multipart_upload(Bucket=B, Key="a", UploadId=id)
    fails(lambda: part("a", id, 1, b"x"), 404, "NoSuchUpload")
    same(s3.list_multipart_uploads(Bucket=B).get("Uploads"), None)
    fails(lambda: s3.list_parts(Bucket=B, Key="a", UploadId="never"), 404, "NoSuchUpload")


@case
def part_is_copied():
    put("source", b"0123456789")
    id = s3.create_multipart_upload(Bucket=B, Key="a")["UploadId"]
    copy = lambda n, **more: s3.upload_part_copy(
        Bucket=B, Key="a", UploadId=id, PartNumber=n, CopySource={"Bucket": B, "Key": "source"}, **more
    )["CopyPartResult"]["ETag"]
    tag = copy(1, CopySourceRange="bytes=2-5")
    fails(lambda: copy(2, CopySourceRange="bytes=5-10"), 416, "InvalidRange")
    for wrong in ("0-2", "bytes=0", "bytes=a-b", "bytes=0-2,4-5"):
        fails(lambda: copy(2, CopySourceRange=wrong), 400, "InvalidArgument")
    complete("a", id, [{"PartNumber": 1, "ETag": tag}])
    same(read("a"), b"2345")


@case
def attributes_of_an_object():
    upload("a", {1: b"x" * (5 * MIB), 2: b"end"})
    wanted = ["ETag", "ObjectSize", "StorageClass", "ObjectParts"]
    found = s3.get_object_attributes(Bucket=B, Key="a", ObjectAttributes=wanted)
    same((found["ObjectSize"], found["StorageClass"], found["ETag"]), (5 * MIB + 3, "STANDARD", head("a")["ETag"]))
    same(found["ObjectParts"]["TotalPartsCount"], 2)


# Tags


def tags(key):
    return {one["Key"]: one["Value"] for one in s3.get_object_tagging(Bucket=B, Key=key)["TagSet"]}


def retag(key, **pairs):
    set = [{"Key": name, "Value": value} for name, value in pairs.items()]
    s3.put_object_tagging(Bucket=B, Key=key, Tagging={"TagSet": set})


@case
def tags_come_with_the_object():
    put("a", Tagging="one=1&two=zw%20ei&three=")
    same(tags("a"), {"one": "1", "two": "zw ei", "three": ""})
    same(get("a")["TagCount"], 3)
    upload("b", {1: b"x"}, Tagging="one=1")
    same(tags("b"), {"one": "1"})


@case
def tags_are_changed_and_deleted():
    put("a", Metadata={"x": "1"}, ContentType="text/x-a")
    same(tags("a"), {})
    retag("a", one="1", two="ü")
    same((tags("a"), read("a"), head("a")["Metadata"]), ({"one": "1", "two": "ü"}, b"body", {"x": "1"}))
    s3.delete_object_tagging(Bucket=B, Key="a")
    same((tags("a"), head("a")["ContentType"]), ({}, "text/x-a"))


@case
def tags_have_limits():
    put("a")
    retag("a", **{f"n{n}": "v" for n in range(10)})
    fails(lambda: retag("a", **{f"n{n}": "v" for n in range(11)}), 400, "BadRequest", "InvalidTag")
    fails(lambda: retag("a", **{"n" * 129: "v"}), 400, "InvalidTag")
    fails(lambda: retag("a", n="v" * 257), 400, "InvalidTag")
    fails(lambda: retag("absent", n="v"), 404, "NoSuchKey")
    fails(lambda: put("b", Tagging="a=1&a=2"), 400, "InvalidTag")


# Buckets


@case
def buckets_are_made_and_listed():
    same(B in [one["Name"] for one in s3.list_buckets()["Buckets"]], True)
    same(s3.head_bucket(Bucket=B)["ResponseMetadata"]["HTTPStatusCode"], 200)
    fails(lambda: s3.create_bucket(Bucket=B), 409, "BucketAlreadyOwnedByYou")
    put("a")
    fails(lambda: s3.delete_bucket(Bucket=B), 409, "BucketNotEmpty")


@case
def buckets_names_have_a_form():
    for name in ("UPPER", "ab", "a..b", "x" * 64, "192.168.5.4", "under_score", "-a-b"):
        anything = client()
        anything.meta.events.unregister("before-parameter-build.s3", validate_bucket_name)
        try:
            anything.create_bucket(Bucket=name)
        except ClientError as error:
            same((error.response["Error"]["Code"], name), ("InvalidBucketName", name))
            continue
        except Exception:
            continue
        raise AssertionError(f"{name} was taken")


@case
def location_is_the_first_region():
    same(s3.get_bucket_location(Bucket=B)["LocationConstraint"], None)
    for location in ("EU", "US", "us-east-1"):
        name = f"{B}-{location.lower()}"
        s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": location})
        s3.delete_bucket(Bucket=name)


@case
def settings_that_were_never_set():
    for method, code in (
        ("cors", "NoSuchCORSConfiguration"),
        ("lifecycle_configuration", "NoSuchLifecycleConfiguration"),
        ("policy", "NoSuchBucketPolicy"),
        ("policy_status", "NoSuchBucketPolicy"),
        ("replication", "ReplicationConfigurationNotFoundError"),
        ("tagging", "NoSuchTagSet"),
        ("website", "NoSuchWebsiteConfiguration"),
    ):
        fails(lambda: getattr(s3, f"get_bucket_{method}")(Bucket=B), 404, code)
        fails(lambda: getattr(s3, f"get_bucket_{method}")(Bucket="absent-bucket"), 404, "NoSuchBucket")
    fails(lambda: s3.get_object_lock_configuration(Bucket=B), 404, "ObjectLockConfigurationNotFoundError")


@case
def settings_that_hold_for_every_bucket():
    same(s3.get_bucket_versioning(Bucket=B).get("Status"), None)
    same(s3.get_bucket_request_payment(Bucket=B)["Payer"], "BucketOwner")
    same(s3.get_bucket_logging(Bucket=B).get("LoggingEnabled"), None)
    same(s3.get_bucket_accelerate_configuration(Bucket=B).get("Status"), None)
    same(s3.get_bucket_notification_configuration(Bucket=B).get("QueueConfigurations"), None)
    rule = s3.get_bucket_encryption(Bucket=B)["ServerSideEncryptionConfiguration"]["Rules"][0]
    same(rule["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"], "AES256")
    rules = s3.get_bucket_ownership_controls(Bucket=B)["OwnershipControls"]["Rules"]
    same(rules, [{"ObjectOwnership": "BucketOwnerEnforced"}])
    same(set(s3.get_public_access_block(Bucket=B)["PublicAccessBlockConfiguration"].values()), {True})


@case
def owner_has_every_right():
    put("a")
    for found in (s3.get_bucket_acl(Bucket=B), s3.get_object_acl(Bucket=B, Key="a")):
        grant = found["Grants"][0]
        same((grant["Permission"], grant["Grantee"]["Type"]), ("FULL_CONTROL", "CanonicalUser"))
        same(grant["Grantee"]["ID"], found["Owner"]["ID"])
    s3.put_bucket_acl(Bucket=B, ACL="private")
    s3.put_object_acl(Bucket=B, Key="a", ACL="private")
    fails(lambda: s3.put_bucket_acl(Bucket=B, ACL="public-read"), 501, "NotImplemented")


@case
def deleting_settings_that_were_never_set():
    for method in ("cors", "lifecycle", "policy", "replication", "tagging", "website"):
        answer = getattr(s3, f"delete_bucket_{method}")(Bucket=B)
        same(answer["ResponseMetadata"]["HTTPStatusCode"], 204)


@case
def setting_what_is_not_here_is_501():
    fails(lambda: s3.put_bucket_policy(Bucket=B, Policy="{}"), 501, "NotImplemented")
    on = {"Status": "Enabled"}
    fails(lambda: s3.put_bucket_versioning(Bucket=B, VersioningConfiguration=on), 501, "NotImplemented")
    fails(lambda: put("a", StorageClass="GLACIER"), 501, "NotImplemented")
    fails(lambda: put("a", ServerSideEncryption="aws:kms"), 501, "NotImplemented")
    fails(lambda: put("a", SSECustomerAlgorithm="AES256", SSECustomerKey="k" * 32), 501, "NotImplemented")


# Web pages (CORS)


def cors(*rules):
    s3.put_bucket_cors(Bucket=B, CORSConfiguration={"CORSRules": list(rules)})


def fields(url, method="GET", body=None, **more):
    """The status of an answer, and its fields in lower case."""
    names = {name.replace("_", "-"): value for name, value in more.items()}
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, data=body, method=method, headers=names))
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, {name.lower(): value for name, value in answer.headers.items()}


def preflight(origin, method, **more):
    return fields(f"{URL}/{B}/a", "OPTIONS", Origin=origin, Access_Control_Request_Method=method, **more)


PAGE = "https://page.example"


@case
def cors_configuration_is_stored_and_deleted():
    rule = {
        "ID": "one",
        "AllowedMethods": ["GET", "PUT"],
        "AllowedOrigins": ["https://*.example", "http://localhost"],
        "AllowedHeaders": ["*"],
        "ExposeHeaders": ["ETag", "x-amz-request-id"],
        "MaxAgeSeconds": 3000,
    }
    cors(rule)
    same(s3.get_bucket_cors(Bucket=B)["CORSRules"], [rule])
    same(keys(), [])
    other = {"AllowedMethods": ["HEAD"], "AllowedOrigins": ["*"]}
    cors(other)
    same(s3.get_bucket_cors(Bucket=B)["CORSRules"], [other])
    s3.delete_bucket_cors(Bucket=B)
    fails(lambda: s3.get_bucket_cors(Bucket=B), 404, "NoSuchCORSConfiguration")
    cors(other)
    s3.delete_bucket(Bucket=B)
    s3.create_bucket(Bucket=B)
    fails(lambda: s3.get_bucket_cors(Bucket=B), 404, "NoSuchCORSConfiguration")


@case
def cors_configuration_that_s3_refuses():
    rule = {"AllowedMethods": ["GET"], "AllowedOrigins": ["*"]}
    fails(lambda: cors({**rule, "AllowedMethods": ["PATCH"]}), 400, "InvalidRequest")
    fails(lambda: cors({**rule, "AllowedOrigins": ["http://*.*"]}), 400, "InvalidRequest")
    fails(lambda: cors({**rule, "ExposeHeaders": ["*"]}), 400, "InvalidRequest")
    fails(lambda: cors(*[rule] * 101), 400, "MalformedXML")
    absent = lambda: s3.put_bucket_cors(Bucket="absent-bucket", CORSConfiguration={"CORSRules": [rule]})
    fails(absent, 404, "NoSuchBucket")


@case
def preflight_is_answered_by_the_rules():
    same(preflight(PAGE, "GET")[0], 403)
    cors({
        "AllowedMethods": ["PUT"],
        "AllowedOrigins": [PAGE],
        "AllowedHeaders": ["x-amz-*", "Content-Type"],
        "ExposeHeaders": ["ETag"],
        "MaxAgeSeconds": 60,
    })
    wanted = "x-amz-date, content-type"
    status, found = preflight(PAGE, "PUT", Access_Control_Request_Headers=wanted)
    same(status, 200)
    for name, value in (
        ("allow-origin", PAGE),
        ("allow-methods", "PUT"),
        ("allow-headers", wanted),
        ("allow-credentials", "true"),
        ("expose-headers", "ETag"),
        ("max-age", "60"),
    ):
        same((name, found.get(f"access-control-{name}")), (name, value))
    same("Origin" in found["vary"], True)
    same(preflight("https://other.example", "PUT")[0], 403)
    same(preflight(PAGE, "DELETE")[0], 403)
    same(preflight(PAGE, "PUT", Access_Control_Request_Headers="authorization")[0], 403)
    same(fields(f"{URL}/{B}/a", "OPTIONS", Origin=PAGE)[0], 400)
    same(fields(f"{URL}/{B}/a", "OPTIONS")[0], 400)
    same(fields(f"{URL}/absent-bucket/a", "OPTIONS", Origin=PAGE, Access_Control_Request_Method="PUT")[0], 403)


@case
def answers_to_web_pages_have_the_fields_of_the_rule():
    put("a")
    same("access-control-allow-origin" in fields(link(), Origin=PAGE)[1], False)
    cors({"AllowedMethods": ["GET"], "AllowedOrigins": ["*"], "ExposeHeaders": ["ETag"]})
    status, found = fields(link(), Origin=PAGE)
    same((status, found["access-control-allow-origin"], found["access-control-expose-headers"]), (200, "*", "ETag"))
    same("access-control-allow-credentials" in found, False)
    # A page learns of an error what it is.
    status, found = fields(f"{URL}/{B}/a", Origin=PAGE)
    same((status, found["access-control-allow-origin"]), (403, "*"))
    same("access-control-allow-origin" in fields(link("put_object"), "PUT", b"x", Origin=PAGE)[1], False)
    same("access-control-allow-origin" in fields(link())[1], False)


# Signatures


def ask(url, method="GET", body=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body, method=method)) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def link(method="get_object", **more):
    expires = more.pop("ExpiresIn", 60)
    return s3.generate_presigned_url(method, Params={"Bucket": B, "Key": "a", **more}, ExpiresIn=expires)


@case
def links_read_and_store():
    same(ask(link("put_object"), "PUT", b"linked")[0], 200)
    same(ask(link()), (200, b"linked"))
    changed = link()
    status, body = ask(changed[:-1] + ("0" if changed[-1] != "0" else "1"))
    same((status, b"SignatureDoesNotMatch" in body), (403, True))


@case
def links_are_good_for_a_week_at_most():
    put("a")
    same(ask(link(ExpiresIn=604_800))[0], 200)
    status, body = ask(link(ExpiresIn=604_801))
    same((status, b"AuthorizationQueryParametersError" in body), (400, True))


# Forms of browsers


class KeepRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def send_form(form, file=b"body", name="own.txt", behind=(), url=None):
    """Sends a form as a browser does; the status, the fields in lower case, and the body."""
    field = lambda name, value: f'--B\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
    head = f'--B\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/x-a\r\n\r\n'
    body = b"".join(field(*one) for one in form.items()) + head.encode() + file + b"\r\n"
    body += b"".join(field(*one) for one in behind) + b"--B--\r\n"
    request = urllib.request.Request(url or f"{URL}/{B}", data=body, method="POST")
    request.add_header("Content-Type", "multipart/form-data; boundary=B")
    try:
        answer = urllib.request.build_opener(KeepRedirects).open(request)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()


def form(key="a", fields={}, conditions=(), expires=60):
    all = [{name: value} for name, value in fields.items()] + list(conditions)
    return s3.generate_presigned_post(B, key, Fields=dict(fields), Conditions=all, ExpiresIn=expires)["fields"]


def form_fails(sent, status, code):
    same((sent[0], code.encode() in sent[2]), (status, True))


@case
def form_stores_its_file():
    meta = {"x-amz-meta-x": "1", "Cache-Control": "no-store", "tagging": TAGGING}
    status, found, _ = send_form(form("folder/${filename}", meta), name="C:\\own.txt")
    same((status, found["etag"]), (204, head("folder/own.txt")["ETag"]))
    same(found["location"], f"{URL}/{B}/folder/own.txt")
    found = get("folder/own.txt")
    same((found["Body"].read(), found["Metadata"], found["ContentType"]), (b"body", {"x": "1"}, "text/x-a"))
    same((found["CacheControl"], tags("folder/own.txt")), ("no-store", {"t": "1"}))


TAGGING = "<Tagging><TagSet><Tag><Key>t</Key><Value>1</Value></Tag></TagSet></Tagging>"


@case
def form_of_several_parts_and_fields_behind_the_file():
    body = bytes(range(256)) * (80 << 10)
    same(send_form(form(), body, behind=[("submit", "Upload")])[0], 204)
    same(read("a") == body, True)


@case
def form_says_how_it_is_answered():
    status, found, body = send_form(form(fields={"success_action_status": "201"}))
    same((status, found["content-type"]), (201, "application/xml"))
    same(f"<Bucket>{B}</Bucket><Key>a</Key>".encode() in body, True)
    same(send_form(form(fields={"success_action_status": "200"}))[0], 200)
    status, found, _ = send_form(form(fields={"success_action_redirect": "https://page.example/done?x=1"}))
    same((status, found["location"].split("&etag")[0]), (303, f"https://page.example/done?x=1&bucket={B}&key=a"))


@case
def form_is_held_to_its_policy():
    form_fails(send_form({**form(), "key": "b"}), 403, "AccessDenied")
    form_fails(send_form({**form(), "x-amz-meta-x": "1"}), 403, "AccessDenied")
    form_fails(send_form(form(conditions=[["starts-with", "$Content-Type", "image/"]])), 403, "AccessDenied")
    form_fails(send_form(form(expires=-60)), 403, "AccessDenied")
    form_fails(send_form({"key": "a"}), 403, "AccessDenied")
    signed = form()
    wrong = "0" if signed["x-amz-signature"][0] != "0" else "1"
    form_fails(send_form({**signed, "x-amz-signature": wrong + signed["x-amz-signature"][1:]}), 403, "SignatureDoesNotMatch")
    form_fails(send_form({**signed, "policy": "e30="}), 403, "SignatureDoesNotMatch")
    fails(lambda: head("a"), 404)


@case
def form_limits_the_size_of_its_file():
    range = lambda least, most: form(conditions=[["content-length-range", least, most]])
    form_fails(send_form(range(5, 9)), 400, "EntityTooSmall")
    form_fails(send_form(range(0, 3)), 400, "EntityTooLarge")
    form_fails(send_form(range(0, 9 * MIB), b"x" * (9 * MIB + 1)), 400, "EntityTooLarge")
    form_fails(send_form(range(17 * MIB, 20 * MIB), b"x" * (16 * MIB)), 400, "EntityTooSmall")
    fails(lambda: head("a"), 404)
    same(s3.list_multipart_uploads(Bucket=B).get("Uploads"), None)
    same(send_form(range(4, 4))[0], 204)


@case
def form_has_checksums():
    sum = lambda body: base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
    same(send_form(form(fields={"x-amz-checksum-crc32": sum(b"body")}))[0], 204)
    form_fails(send_form(form("b", {"x-amz-checksum-crc32": sum(b"x")})), 400, "BadDigest")
    large = b"x" * (9 * MIB)
    form_fails(send_form(form("b", {"x-amz-checksum-crc32": sum(b"x")}), large), 400, "BadDigest")
    fails(lambda: head("b"), 404)


@case
def form_of_a_web_page_is_answered_under_cors():
    cors({"AllowedMethods": ["POST"], "AllowedOrigins": [PAGE]})
    same(preflight(PAGE, "POST")[0], 200)


@case
def form_without_key_or_bucket_is_refused():
    same(send_form(form(), url=f"{URL}/absent-bucket")[0], 403)
    form_fails(send_form({"policy": form()["policy"]}), 400, "InvalidArgument")
    form_fails(send_form(form(fields={"acl": "public-read"})), 501, "NotImplemented")


@case
def request_without_a_signature_is_denied():
    put("a")
    status, body = ask(f"{URL}/{B}/a")
    same((status, b"AccessDenied" in body), (403, True))


@case
def unknown_keys_and_wrong_secrets():
    wrong = dict(endpoint_url=URL, config=Config(signature_version="s3v4", retries={"total_max_attempts": 1}))
    unknown = boto3.client("s3", aws_access_key_id="nobody", aws_secret_access_key="x", **wrong)
    fails(lambda: unknown.list_objects_v2(Bucket=B), 403, "InvalidAccessKeyId")
    guessed = boto3.client("s3", aws_secret_access_key="x", aws_access_key_id=known_key(), **wrong)
    fails(lambda: guessed.list_objects_v2(Bucket=B), 403, "SignatureDoesNotMatch")


def known_key():
    return boto3.Session().get_credentials().access_key


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
