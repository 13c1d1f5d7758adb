//! A slice's header: age's, with one X25519 stanza and one of ours, always of the same length.

use super::fault::Problem;
use super::size::HEADER;
use super::slice::{FIELDS, SliceHead, SliceTag};
use crate::age::{
    FileKey, MAC_LABEL, NONCE, NoRandomness, StreamKey, VERSION_LINE, X25519Stanza, decode, encode, equal, header_mac,
    random,
};
use crate::keys::{Epoch, EpochId, Keyring};
use x25519_dalek::StaticSecret;

const X25519_LINE: &[u8] = b"-> X25519 ";
const SLICE_LINE: &[u8] = b"-> whyslow-slice/1\n";
/// Length of base64 of 32 bytes.
const BASE64_32: usize = 43;
/// Length of our stanza's body.
const BODY: usize = FIELDS + SliceTag::SIZE;
/// Its lines: age breaks them at 64 letters.
const BODY_LINES: [usize; 2] = [64, (BODY * 4).div_ceil(3) - 64];
/// Length up to the nonce.
const TEXT: usize = VERSION_LINE.len()
    + (X25519_LINE.len() + BASE64_32 + 1 + BASE64_32 + 1)
    + (SLICE_LINE.len() + BODY_LINES[0] + 1 + BODY_LINES[1] + 1)
    + (MAC_LABEL.len() + 1 + BASE64_32 + 1);
const _: () = assert!((TEXT + NONCE) as u64 == HEADER);

/// The random parts of a slice. They are neither kept nor copied, so that no key is used for two
/// plaintexts.
pub(super) struct SliceSecrets {
    pub key: FileKey,
    pub ephemeral: StaticSecret,
    pub nonce: [u8; NONCE],
}

impl SliceSecrets {
    pub(super) fn generate() -> Result<Self, NoRandomness> {
        Ok(Self { key: FileKey::generate()?, ephemeral: StaticSecret::from(*random()?), nonce: *random()? })
    }
}

/// Appends a header to `out`; returns the payload's key and the tag.
pub(super) fn write(
    epoch: &Epoch,
    head: &SliceHead,
    secrets: SliceSecrets,
    out: &mut Vec<u8>,
) -> (StreamKey, SliceTag) {
    let SliceSecrets { key, ephemeral, nonce } = secrets;
    let start = out.len();
    let fields = head.fields(epoch.id());
    let tag = SliceTag::new(epoch, &key, &fields);
    let mut body = [0; BODY];
    body[..fields.len()].copy_from_slice(&fields);
    body[fields.len()..].copy_from_slice(tag.bytes());
    let body = encode(&body);
    let (first, second) = body.split_at(BODY_LINES[0]);
    let stanza = X25519Stanza::wrap(&key, epoch.identity().recipient(), &ephemeral);
    let (share, wrapped) = (encode(&stanza.share), encode(&stanza.body));
    for piece in [VERSION_LINE, X25519_LINE, share.as_bytes(), b"\n", wrapped.as_bytes(), b"\n"] {
        out.extend_from_slice(piece);
    }
    for piece in [SLICE_LINE, first.as_bytes(), b"\n", second.as_bytes(), b"\n", MAC_LABEL] {
        out.extend_from_slice(piece);
    }
    let mac = encode(&header_mac(&key, &out[start..]));
    for piece in [b" ", mac.as_bytes(), b"\n", &nonce] {
        out.extend_from_slice(piece);
    }
    debug_assert_eq!((out.len() - start) as u64, HEADER);
    (StreamKey::new(&key, &nonce), tag)
}

/// A verified header.
#[derive(Debug)]
pub(super) struct OpenHead {
    pub head: SliceHead,
    pub tag: SliceTag,
    pub stream: StreamKey,
}

/// Verifies a header: that it has this form, is unchanged, and was made with the secret of `epoch`.
pub(super) fn open(keyring: &Keyring, epoch: EpochId, bytes: &[u8]) -> Result<OpenHead, Problem> {
    let parsed = Parsed::parse(bytes).ok_or(Problem::NotASlice)?;
    if parsed.epoch != epoch {
        return Err(Problem::OtherEpoch(parsed.epoch));
    }
    let epoch = keyring.get(parsed.epoch).ok_or(Problem::UnknownEpoch(parsed.epoch))?;
    let key = parsed.stanza.unwrap(epoch.identity()).ok_or(Problem::Key)?;
    if !equal(&header_mac(&key, parsed.covered), &parsed.mac) {
        return Err(Problem::Header);
    }
    if SliceTag::new(epoch, &key, &parsed.head.fields(parsed.epoch)) != parsed.tag {
        return Err(Problem::Forged);
    }
    Ok(OpenHead { head: parsed.head, tag: parsed.tag, stream: StreamKey::new(&key, &parsed.nonce) })
}

struct Parsed<'b> {
    stanza: X25519Stanza,
    epoch: EpochId,
    head: SliceHead,
    tag: SliceTag,
    covered: &'b [u8],
    mac: [u8; 32],
    nonce: [u8; NONCE],
}

impl<'b> Parsed<'b> {
    /// Every byte has its place; anything else is not our header.
    fn parse(bytes: &'b [u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(VERSION_LINE)?.strip_prefix(X25519_LINE)?;
        let share = decode(line(&mut rest, BASE64_32)?)?;
        let body = decode(line(&mut rest, BASE64_32)?)?;
        rest = rest.strip_prefix(SLICE_LINE)?;
        let mut text = [0; BODY_LINES[0] + BODY_LINES[1]];
        text[..BODY_LINES[0]].copy_from_slice(line(&mut rest, BODY_LINES[0])?);
        text[BODY_LINES[0]..].copy_from_slice(line(&mut rest, BODY_LINES[1])?);
        let slice: [u8; BODY] = decode(&text)?;
        let (fields, tag) = slice.split_first_chunk()?;
        let (epoch, head) = SliceHead::from_fields(fields)?;
        rest = rest.strip_prefix(MAC_LABEL)?;
        let covered = &bytes[..bytes.len() - rest.len()];
        let mac = decode(line(&mut rest.strip_prefix(b" ")?, BASE64_32)?)?;
        let nonce = bytes.get(TEXT..TEXT + NONCE)?.try_into().ok()?;
        let tag = SliceTag::from_bytes(tag.try_into().ok()?);
        Some(Self { stanza: X25519Stanza { share, body }, epoch, head, tag, covered, mac, nonce })
    }
}

/// The next line, of exactly `length` letters.
fn line<'b>(rest: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (line, after) = rest.split_at_checked(length)?;
    *rest = after.strip_prefix(b"\n")?;
    Some(line)
}
