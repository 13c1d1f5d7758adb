# Cases of conformance.py, which runs this file with its own names.

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
