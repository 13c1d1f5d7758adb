//! Derives keys from secrets: RFC 8446 section 7 and RFC 5246 sections 5 and 6.3.

use super::key_log::{MAX_SECRET, Random, Secret};
use super::suite::{AeadKind, HashKind, Suite};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::{Sha256, Sha384};

/// Bytes of a nonce (RFC 8446 section 5.3; RFC 5288 section 3).
pub(super) const NONCE: usize = 12;
/// Bytes of the nonce that TLS 1.2 derives for AES-GCM: the others are in each record.
const IMPLICIT: usize = 4;
/// Longest key.
const MAX_KEY: usize = 32;
/// Keys and nonces of both ends.
const MAX_BLOCK: usize = 2 * (MAX_KEY + NONCE);

/// The keys of one direction's records.
pub(super) struct TrafficKeys {
    pub(super) key: [u8; MAX_KEY],
    /// Padded with zeros if a part of the nonce is in each record.
    pub(super) iv: [u8; NONCE],
}

/// The TLS 1.3 keys of a secret. `None` if the secret does not have the length of the hash.
pub(super) fn of_secret(suite: Suite, secret: &Secret) -> Option<TrafficKeys> {
    let mut keys = TrafficKeys { key: [0; MAX_KEY], iv: [0; NONCE] };
    expand(suite.hash, secret, b"key", keys.key.get_mut(..suite.aead.key_len())?)?;
    expand(suite.hash, secret, b"iv", &mut keys.iv)?;
    Some(keys)
}

/// The secret after a key update (RFC 8446 section 7.2).
pub(super) fn next_secret(suite: Suite, secret: &Secret) -> Option<Secret> {
    let mut next = [0; MAX_SECRET];
    let next = next.get_mut(..secret.bytes().len())?;
    expand(suite.hash, secret, b"traffic upd", next)?;
    Secret::new(next)
}

/// HKDF-Expand-Label with an empty context (RFC 8446 section 7.1).
pub(super) fn expand(hash: HashKind, secret: &Secret, label: &[u8], out: &mut [u8]) -> Option<()> {
    let length = u16::try_from(out.len()).ok()?.to_be_bytes();
    let label_length = u8::try_from(label.len() + 6).ok()?;
    let info: [&[u8]; 5] = [&length, &[label_length], b"tls13 ", label, &[0]];
    match hash {
        HashKind::Sha256 if secret.bytes().len() == 32 => {
            Hkdf::<Sha256>::from_prk(secret.bytes()).ok()?.expand_multi_info(&info, out).ok()
        }
        HashKind::Sha384 if secret.bytes().len() == 48 => {
            Hkdf::<Sha384>::from_prk(secret.bytes()).ok()?.expand_multi_info(&info, out).ok()
        }
        HashKind::Sha256 | HashKind::Sha384 => None,
    }
}

/// The TLS 1.2 keys of the client and of the server (RFC 5246 section 6.3).
pub(super) fn of_master(suite: Suite, master: &Secret, client: &Random, server: &Random) -> Option<[TrafficKeys; 2]> {
    let key_len = suite.aead.key_len();
    let iv_len = if suite.aead == AeadKind::ChaCha20Poly1305 { NONCE } else { IMPLICIT };
    let mut block = [0; MAX_BLOCK];
    let block = block.get_mut(..2 * (key_len + iv_len))?;
    let seed: [&[u8]; 3] = [b"key expansion", server, client];
    match suite.hash {
        HashKind::Sha256 => prf(|| Hmac::<Sha256>::new_from_slice(master.bytes()).ok(), &seed, block)?,
        HashKind::Sha384 => prf(|| Hmac::<Sha384>::new_from_slice(master.bytes()).ok(), &seed, block)?,
    }
    let mut rest = &*block;
    let mut take = |len: usize| rest.split_off(..len);
    let (client_key, server_key, client_iv, server_iv) = (take(key_len)?, take(key_len)?, take(iv_len)?, take(iv_len)?);
    let keys = |key: &[u8], iv: &[u8]| {
        let mut keys = TrafficKeys { key: [0; MAX_KEY], iv: [0; NONCE] };
        keys.key.get_mut(..key.len())?.copy_from_slice(key);
        keys.iv.get_mut(..iv.len())?.copy_from_slice(iv);
        Some(keys)
    };
    Some([keys(client_key, client_iv)?, keys(server_key, server_iv)?])
}

/// P_hash (RFC 5246 section 5).
fn prf<M: Mac + Clone>(begin: impl FnOnce() -> Option<M>, seed: &[&[u8]], out: &mut [u8]) -> Option<()> {
    let keyed = begin()?;
    let with_seed = |mut mac: M| {
        seed.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes()
    };
    let mut a = with_seed(keyed.clone());
    for chunk in out.chunks_mut(a.len()) {
        let mut mac = keyed.clone();
        mac.update(&a);
        let bytes = with_seed(mac);
        chunk.copy_from_slice(bytes.get(..chunk.len())?);
        let mut mac = keyed.clone();
        mac.update(&a);
        a = mac.finalize().into_bytes();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<_> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
        digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
    }

    /// RFC 8448 section 3: the server's application traffic secret and its keys.
    #[test]
    fn keys_of_tls13_are_those_of_rfc_8448() {
        let suite = Suite::of(0x1301).unwrap();
        let secret = "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643";
        let keys = of_secret(suite, &Secret::new(&hex(secret)).unwrap()).unwrap();
        assert_eq!(keys.key[..16], hex("9f02283b6c9c07efc26bb9f2ac92e356"));
        assert_eq!(keys.iv[..], hex("cf782b88dd83549aadf1e984"));
    }

    /// The test vector for the SHA-256 PRF, posted to the TLS working group in 2009.
    #[test]
    fn prf_of_tls12_gives_the_published_vector() {
        let secret = hex("9bbe436ba940f017b17652849a71db35");
        let seed = hex("a0ba9f936cda311827a6f796ffd5198c");
        let mut out = [0; 100];
        prf(|| Hmac::<Sha256>::new_from_slice(&secret).ok(), &[b"test label", &seed], &mut out).unwrap();
        assert_eq!(out[..16], hex("e3f229ba727be17b8d122620557cd453"));
    }

    #[test]
    fn secret_with_a_wrong_length_gives_no_keys() {
        assert!(of_secret(Suite::of(0x1302).unwrap(), &Secret::new(&[1; 32]).unwrap()).is_none());
    }
}
