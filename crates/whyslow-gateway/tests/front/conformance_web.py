# Cases of conformance.py, which runs this file with its own names.

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
