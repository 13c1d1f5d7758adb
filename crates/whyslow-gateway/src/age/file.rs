//! Whole age files in memory, to several recipients.

use super::VERSION_LINE;
use super::error::{AgeError, NoRandomness};
use super::identity::{Identity, Recipient};
use super::primitives::{FileKey, decode, encode, equal, random};
use super::stanza::{MAC_LABEL, STANZA_LABEL, X25519Stanza, header_mac};
use super::stream::{CHUNK, NONCE, SEALED_CHUNK, StreamKey};
use x25519_dalek::StaticSecret;
use zeroize::Zeroizing;

/// Letters in a line of a stanza's body; the last line has fewer.
const COLUMNS: usize = 64;

/// An age file that each of `recipients` opens.
///
/// # Errors
/// When the system gives no random bytes.
pub fn seal(plaintext: &[u8], recipients: &[Recipient]) -> Result<Vec<u8>, NoRandomness> {
    let key = FileKey::generate()?;
    let mut file = VERSION_LINE.to_vec();
    for recipient in recipients {
        let stanza = X25519Stanza::wrap(&key, *recipient, &StaticSecret::from(*random()?));
        let (share, body) = (encode(&stanza.share), encode(&stanza.body));
        file.extend_from_slice(format!("-> X25519 {share}\n{body}\n").as_bytes());
    }
    file.extend_from_slice(MAC_LABEL);
    let mac = header_mac(&key, &file);
    file.extend_from_slice(format!(" {}\n", encode(&mac)).as_bytes());
    let nonce = random()?;
    file.extend_from_slice(&nonce[..]);
    let stream = StreamKey::new(&key, &nonce);
    let chunks = plaintext.len().div_ceil(CHUNK).max(1);
    for index in 0..chunks {
        let start = file.len();
        file.extend_from_slice(&plaintext[index * CHUNK..plaintext.len().min((index + 1) * CHUNK)]);
        let tag = stream.seal(index as u64, index + 1 == chunks, &mut file[start..]);
        file.extend_from_slice(&tag);
    }
    Ok(file)
}

/// Returns the content of an age file that is sealed to one of `identities` (X25519; other stanzas
/// are skipped).
///
/// # Errors
/// If it is not an age file, is not sealed to one of these identities, or was changed.
pub fn open(file: &[u8], identities: &[Identity]) -> Result<Zeroizing<Vec<u8>>, AgeError> {
    let header = Header::parse(file)?;
    let key = header
        .stanzas
        .iter()
        .find_map(|stanza| identities.iter().find_map(|identity| stanza.unwrap(identity)))
        .ok_or(AgeError::NoMatch)?;
    if !equal(&header_mac(&key, header.covered), &header.mac) {
        return Err(AgeError::HeaderMac);
    }
    let (nonce, payload) = header.payload.split_first_chunk::<NONCE>().ok_or(AgeError::Header)?;
    open_payload(&StreamKey::new(&key, nonce), payload)
}

fn open_payload(stream: &StreamKey, payload: &[u8]) -> Result<Zeroizing<Vec<u8>>, AgeError> {
    let mut plaintext = Zeroizing::new(Vec::with_capacity(payload.len()));
    let chunks = payload.len().div_ceil(SEALED_CHUNK).max(1);
    for index in 0..chunks {
        let start = plaintext.len();
        let sealed = &payload[index * SEALED_CHUNK..payload.len().min((index + 1) * SEALED_CHUNK)];
        plaintext.extend_from_slice(sealed);
        let (number, last) = (index as u64, index + 1 == chunks);
        let length = stream.open(number, last, &mut plaintext[start..]).ok_or(AgeError::Chunk(number))?;
        // Only an empty payload ends with an empty chunk.
        if length == 0 && index > 0 {
            return Err(AgeError::Chunk(number));
        }
        plaintext.truncate(start + length);
    }
    Ok(plaintext)
}

/// A header with any stanzas.
struct Header<'f> {
    /// The stanzas of X25519.
    stanzas: Vec<X25519Stanza>,
    /// The bytes that the MAC covers.
    covered: &'f [u8],
    mac: [u8; 32],
    /// The bytes from the nonce on.
    payload: &'f [u8],
}

impl<'f> Header<'f> {
    fn parse(file: &'f [u8]) -> Result<Self, AgeError> {
        if file.starts_with(b"-----BEGIN AGE") {
            return Err(AgeError::Armored);
        }
        let mut rest = file.strip_prefix(VERSION_LINE).ok_or(AgeError::NotAge)?;
        let mut stanzas = Vec::new();
        loop {
            let line = next_line(&mut rest)?;
            if let Some(mac) = line.strip_prefix(MAC_LABEL) {
                let mac = mac.strip_prefix(b" ").and_then(decode).ok_or(AgeError::Header)?;
                let covered = file.len() - rest.len() - (line.len() - MAC_LABEL.len()) - 1;
                return Ok(Self { stanzas, covered: &file[..covered], mac, payload: rest });
            }
            let arguments = line.strip_prefix(STANZA_LABEL).ok_or(AgeError::Header)?;
            let body = body(&mut rest)?;
            if let Some(share) = arguments.strip_prefix(b"X25519 ") {
                let share = decode(share).ok_or(AgeError::Header)?;
                let body = decode(&body).ok_or(AgeError::Header)?;
                stanzas.push(X25519Stanza { share, body });
            }
        }
    }
}

/// The body of a stanza: lines of 64 letters, and one of fewer.
fn body(rest: &mut &[u8]) -> Result<Vec<u8>, AgeError> {
    let mut body = Vec::new();
    loop {
        let line = next_line(rest)?;
        if line.len() > COLUMNS || line.starts_with(b"-") {
            return Err(AgeError::Header);
        }
        body.extend_from_slice(line);
        if line.len() < COLUMNS {
            return Ok(body);
        }
    }
}

fn next_line<'f>(rest: &mut &'f [u8]) -> Result<&'f [u8], AgeError> {
    let end = rest.iter().position(|byte| *byte == b'\n').ok_or(AgeError::Header)?;
    let line = &rest[..end];
    *rest = &rest[end + 1..];
    Ok(line)
}
