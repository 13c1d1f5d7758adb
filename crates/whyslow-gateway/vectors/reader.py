#!/usr/bin/env python3
"""Opens stored objects by docs/gateway/format.md, without the code of the gateway.

    reader.py vectors.json                                    # opens each vector and compares
    reader.py open OBJECT KEY METADATA BUCKET NAME [FIELD=VALUE …] > PLAINTEXT

KEY is a file with the epoch's identity (`age -d -i operator.key epoch.age`). All of an object is
in memory, and nothing is written before all of it was verified. Needs the package cryptography."""

import base64
import hashlib
import hmac
import json
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESSIV, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HEADER, CHUNK = 276, 65_536
OBJECT, PART, MANIFEST = 1, 2, 3
CHECKSUMS = {1: ("crc32", 4), 2: ("crc32c", 4), 3: ("crc64nvme", 8), 4: ("sha1", 20), 5: ("sha256", 32)}


class Fault(Exception):
    """The object is not the one that was sealed."""


def check(holds, fault):
    if not holds:
        raise Fault(fault)


def hkdf(salt, key, info, length=32):
    return HKDF(SHA256(), length, salt, info.encode()).derive(key)


def tag(key, purpose, *fields):
    text = purpose.encode() + b"\0" + b"".join(len(field).to_bytes(8, "big") + field for field in fields)
    return hmac.digest(key, text, "sha256")[:16]


def unbase64(text, decode=base64.b64decode):
    return decode(text + b"=" * (-len(text) % 4))


def unbase64url(text):
    return unbase64(text.encode(), base64.urlsafe_b64decode)


class Epoch:
    """An epoch's identity, and the keys that are derived from it."""

    def __init__(self, secret):
        self.identity = X25519PrivateKey.from_private_bytes(secret)
        self.recipient = self.identity.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.id = hashlib.sha256(b"whyslow-gateway/1 epoch" + self.recipient).digest()[:8]
        self.slices, self.metadata, self.tokens = (
            hkdf(b"", secret, f"whyslow-gateway/1 {name}") for name in ("slices", "metadata", "tokens")
        )
        self.names, self.sums = (
            hkdf(b"", secret, f"whyslow-gateway/1 {name}", 64) for name in ("names", "checksums")
        )

    def slice(self, stored, object_id, role, number):
        """The plaintext of a slice, and its tag."""
        text, nonce = stored[:260], stored[260:HEADER]
        lines = text.split(b"\n")
        shape = [21, 53, 43, 18, 64, 7, 47, 0]
        check(len(stored) >= HEADER + 16 and [len(line) for line in lines] == shape, "no slice begins here")
        check(lines[0] == b"age-encryption.org/v1" and lines[3] == b"-> whyslow-slice/1", "no slice begins here")
        check(lines[1].startswith(b"-> X25519 ") and lines[6].startswith(b"--- "), "no slice begins here")
        share, body = unbase64(lines[1][10:]), unbase64(lines[4] + lines[5])
        shared = self.identity.exchange(X25519PublicKey.from_public_bytes(share))
        wrapping = hkdf(share + self.recipient, shared, "age-encryption.org/v1/X25519")
        key = ChaCha20Poly1305(wrapping).decrypt(bytes(12), unbase64(lines[2]), b"")
        mac = hmac.digest(hkdf(b"", key, "header"), text[:215], "sha256")
        check(hmac.compare_digest(mac, unbase64(lines[6][4:])), "the header was changed")
        fields, slice_tag = body[:37], body[37:]
        own = tag(hkdf(self.slices, key, "whyslow-slice/1"), "slice", fields)
        check(hmac.compare_digest(own, slice_tag), "the header was made without the epoch's secret")
        length = int.from_bytes(fields[29:], "big")
        place = self.id + object_id + bytes([role]) + number.to_bytes(4, "big")
        check(fields[:29] == place, "the slice belongs elsewhere")
        chunks = max(1, -(-length // CHUNK))
        check(len(stored) == HEADER + length + 16 * chunks, "the length is another one")
        payload, plain = ChaCha20Poly1305(hkdf(nonce, key, "payload")), b""
        for index in range(chunks):
            at = HEADER + index * (CHUNK + 16)
            counter = index.to_bytes(11, "big") + bytes([index == chunks - 1])
            plain += payload.decrypt(counter, stored[at : at + CHUNK + 16], b"")
        return plain, slice_tag

    def checksums(self, sealed, *place):
        """Names and values of checksums."""
        plain, found, above = AESSIV(self.sums).decrypt(sealed, list(place)), {}, 0
        while plain and plain[0] in CHECKSUMS:
            name, length = CHECKSUMS[plain[0]]
            check(plain[0] > above and len(plain) > length, "the checksums have another form")
            found[name], above, plain = plain[1 : 1 + length].hex(), plain[0], plain[1 + length :]
        return found

    def open(self, stored, bucket, key, metadata, attributes):
        """The plaintext of an object, and its checksums."""
        version, kind, epoch, object_id, own = metadata.split(".")
        epoch, object_id, own = map(unbase64url, (epoch, object_id, own))
        check(version == "1" and kind in ("single", "multipart"), "the metadata has another form")
        check(epoch == self.id, f"the object is sealed to epoch {epoch.hex()}")
        pairs = sorted((name.lower(), value) for name, value in attributes.items())
        fields = [kind, *(text for pair in pairs for text in pair)]
        fields = [text.encode() for text in fields]
        bound = tag(self.metadata, "object", fields[0], epoch, object_id, bucket.encode(), key.encode(), *fields[1:])
        check(hmac.compare_digest(bound, own), "the metadata was changed, or is another object's")
        text, sums = attributes.get("checksums"), {}
        if text:
            sums = self.checksums(unbase64url(text), b"metadata", object_id, b"")
        if kind == "single":
            return self.slice(stored, object_id, OBJECT, 0)[0], sums
        check(stored[-16:-8] == b"whyslow/", "there is no locator")
        begin = len(stored) - 16 - int.from_bytes(stored[-8:], "big")
        size = len(stored) - 16 - begin - HEADER
        check(begin >= 0 and size > 0, "the locator is wrong")
        count = (size - 16 * -(-size // (CHUNK + 16))) // 32
        manifest, own = self.slice(stored[begin:-16], object_id, MANIFEST, count)
        at, above, plain = 0, 0, b""
        for entry in (manifest[place : place + 32] for place in range(0, len(manifest), 32)):
            number, filler, length = (int.from_bytes(entry[a:b], "big") for a, b in ((0, 4), (4, 8), (8, 16)))
            check(above < number <= 10_000, "the numbers do not ascend")
            end = at + HEADER + length + 16 * max(1, -(-length // CHUNK))
            part, part_tag = self.slice(stored[at:end], object_id, PART, number)
            check(part_tag == entry[16:], "this is another version of the part")
            at, above, plain = end + filler, number, plain + part
        check(at == begin, "the parts do not fill the object")
        if stored[:begin].endswith(b"whysums/"):
            sealed = stored[begin - 9 - stored[begin - 9] : begin - 9]
            sums = sums or self.checksums(sealed, b"filler", object_id, own)
        return plain, sums

    def name(self, bucket, stored):
        """The plain key of an encrypted one."""
        plain = []
        for component in stored.split("/"):
            folder = "".join(part + "/" for part in plain)
            sealed = unbase64url(component)
            own = AESSIV(self.names).decrypt(sealed, [bucket.encode(), folder.encode()]) if component else b""
            plain.append(own.decode())
        return "/".join(plain)

    def upload_id(self, bucket, key, text):
        """The storage's upload id."""
        own, backend = text.removeprefix("w1u-").split(".", 1)
        own = unbase64url(own)
        fields = own[:8], own[8:24], bucket.encode(), key.encode(), backend.encode()
        check(hmac.compare_digest(tag(self.tokens, "upload", *fields), own[24:]), "the upload id was changed")
        return backend

    def part_tag(self, object_id, number, text):
        """Length, CRCs and the storage's ETag of a part."""
        own, backend = text[4:].split(".", 1)
        own, number = unbase64url(own), number.to_bytes(4, "big")
        sums = [own[28:-16]] if text.startswith("w2p-") else []
        fields = object_id, number, own[:8], own[8:12], own[12:28], backend.encode(), *sums
        check(hmac.compare_digest(tag(self.tokens, "part", *fields), own[-16:]), "the ETag was changed")
        return int.from_bytes(own[:8], "big"), b"".join(sums).hex(), backend


def verify(vectors):
    epoch, bucket = Epoch(bytes.fromhex(vectors["secret"])), vectors["bucket"]
    check(epoch.id.hex() == vectors["epoch"], "the epoch has another id")
    for vector in vectors["objects"]:
        try:
            stored, key = bytes.fromhex(vector["stored"]), vector["key"]
            plain, sums = epoch.open(stored, bucket, key, vector["metadata"], vector["attributes"])
            plain = plain.hex()
        except (Fault, InvalidTag, ValueError):
            plain = sums = None
        # Where there is a fault, there is no plaintext.
        check(plain == vector.get("plain"), f"{vector['name']}: it opens otherwise")
        check(sums == vector.get("checksums"), f"{vector['name']}: it has other checksums")
    for vector in vectors["names"]:
        check(epoch.name(bucket, vector["stored"]) == vector["plain"], f"{vector['stored']}: another name")
    for vector in vectors["upload_ids"]:
        check(epoch.upload_id(bucket, vector["key"], vector["text"]) == vector["storage"], "another upload")
    for vector in vectors["part_etags"]:
        found = epoch.part_tag(bytes.fromhex(vector["object"]), vector["part"], vector["text"])
        check(found == (vector["length"], vector["crcs"], vector["storage"]), "another part")
    return sum(len(vectors[name]) for name in ("objects", "names", "upload_ids", "part_etags"))


def unbech32(text):
    """The bytes of an identity, without its checksum."""
    letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    bits = "".join(f"{letters.index(letter):05b}" for letter in text.lower().rsplit("1", 1)[1][:-6])
    return int(bits[: len(bits) // 8 * 8], 2).to_bytes(len(bits) // 8, "big")


def main(arguments):
    if arguments[:1] == ["open"]:
        stored, key, metadata, bucket, name, *fields = arguments[1:]
        with open(key) as lines:
            identity = next(line.strip() for line in lines if line.startswith("AGE-SECRET-KEY-"))
        with open(stored, "rb") as file:
            attributes = dict(field.split("=", 1) for field in fields)
            plain, _ = Epoch(unbech32(identity)).open(file.read(), bucket, name, metadata, attributes)
        sys.stdout.buffer.write(plain)
    else:
        with open(arguments[0]) as file:
            print(verify(json.load(file)), "vectors are read as they should be")


if __name__ == "__main__":
    main(sys.argv[1:])
