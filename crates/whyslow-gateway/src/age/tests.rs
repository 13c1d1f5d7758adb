use super::*;
use ::age::secrecy::ExposeSecret;
use proptest::prelude::*;
use std::io::{Read, Write};

fn key() -> Identity {
    Identity::from_bytes(&[7; 32])
}

/// The same identity in the age crate.
fn theirs(identity: &Identity) -> ::age::x25519::Identity {
    identity.to_text().parse().unwrap()
}

#[test]
fn keys_are_written_as_age_writes_them() {
    let theirs = ::age::x25519::Identity::generate();
    let ours = identities(theirs.to_string().expose_secret()).unwrap().pop().unwrap();
    assert_eq!(ours.recipient().to_string(), theirs.to_public().to_string());
    assert_eq!(*ours.to_text(), theirs.to_string().expose_secret());
    assert_eq!(ours.recipient().to_string().parse(), Ok(ours.recipient()));
}

#[test]
fn an_identity_file_has_comments_and_several_identities() {
    let (one, two) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let text = format!("# created: today\n\n{}\r\n  {}\n", &*one.to_text(), &*two.to_text());
    let found: Vec<_> = identities(&text).unwrap().iter().map(Identity::recipient).collect();
    assert_eq!(found, [one.recipient(), two.recipient()]);
}

#[test]
fn what_is_no_key_is_named_by_its_line_and_never_repeated() {
    let good = key().to_text();
    let public = key().recipient().to_string();
    let mut flipped = good.to_string();
    flipped.replace_range(20..21, if &flipped[20..21] == "Q" { "P" } else { "Q" });
    for bad in [public.as_str(), &good.to_lowercase(), &good[..70], &flipped, "AGE-SECRET-KEY-1", "x"] {
        let error = identities(&format!("# one\n{bad}\n")).unwrap_err();
        assert_eq!(error, KeyError::Identity(2), "{bad}");
        assert!(!error.to_string().contains(&bad.to_string()[1..]) || bad.len() < 20);
    }
    assert_eq!(identities("# nothing\n").unwrap_err(), KeyError::NoIdentity);
    for bad in ["", "age1", &good, &public.to_uppercase(), &public[..60], &format!("{public}q")] {
        assert_eq!(bad.parse::<Recipient>(), Err(KeyError::Recipient), "{bad}");
    }
}

#[test]
fn secrets_are_not_in_debug_output() {
    let identity = key();
    let text = identity.to_text();
    for shown in [format!("{identity:?}"), format!("{identity:#?}"), format!("{:?}", FileKey::generate().unwrap())] {
        assert!(!shown.contains(&text[20..]) && !shown.contains("7, 7"), "{shown}");
    }
}

#[test]
fn a_share_of_low_order_is_refused() {
    // The secret of this share is zero for every recipient, so anyone can wrap a key with it.
    let salt = [[0; 32], *key().recipient().bytes()].concat();
    let wrapping: zeroize::Zeroizing<[u8; 32]> = hkdf(&salt, &[0; 32], "age-encryption.org/v1/X25519");
    let wrapping = ring::aead::UnboundKey::new(&ring::aead::CHACHA20_POLY1305, &wrapping[..]).unwrap();
    let nonce = ring::aead::Nonce::assume_unique_for_key([0; 12]);
    let mut body = vec![9; 16];
    let wrapping = ring::aead::LessSafeKey::new(wrapping);
    wrapping.seal_in_place_append_tag(nonce, ring::aead::Aad::empty(), &mut body).unwrap();
    let stanza = X25519Stanza { share: [0; 32], body: body.try_into().unwrap() };
    assert!(stanza.unwrap(&key()).is_none());
}

#[test]
fn a_file_opens_for_its_recipients_alone() {
    let all: Vec<Identity> = (1..4).map(|byte| Identity::from_bytes(&[byte; 32])).collect();
    let file = seal(b"text", &all.iter().map(Identity::recipient).collect::<Vec<_>>()).unwrap();
    for identity in &all {
        assert_eq!(**open(&file, std::slice::from_ref(identity)).unwrap(), *b"text");
    }
    assert_eq!(open(&file, &[key()]), Err(AgeError::NoMatch));
    assert_eq!(open(&file, &[]), Err(AgeError::NoMatch));
    assert_eq!(open(b"-----BEGIN AGE ENCRYPTED FILE-----\n", &[key()]), Err(AgeError::Armored));
    assert_eq!(open(b"age-encryption.org/v2\n", &[key()]), Err(AgeError::NotAge));
}

#[test]
fn a_flipped_bit_anywhere_or_a_cut_is_noticed() {
    let file = seal(b"some text", &[key().recipient()]).unwrap();
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1;
        assert!(open(&changed, &[key()]).is_err(), "byte {at}");
        assert!(open(&file[..at], &[key()]).is_err(), "cut at {at}");
    }
    assert!(open(&[&file[..], b"x"].concat(), &[key()]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn files_are_those_of_the_age_crate(length in prop_oneof![0usize..300, 65_530..65_545usize, 131_070..131_075usize]) {
        let text: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
        let ours = seal(&text, &[key().recipient()]).unwrap();
        let mut read = Vec::new();
        let identity = theirs(&key());
        ::age::Decryptor::new(&ours[..]).unwrap()
            .decrypt(std::iter::once(&identity as &dyn ::age::Identity)).unwrap()
            .read_to_end(&mut read).unwrap();
        prop_assert_eq!(&read, &text);
        let mut file = Vec::new();
        let recipient = identity.to_public();
        let mut writer = ::age::Encryptor::with_recipients(std::iter::once(&recipient as &dyn ::age::Recipient)).unwrap()
            .wrap_output(&mut file).unwrap();
        writer.write_all(&text).unwrap();
        writer.finish().unwrap();
        prop_assert_eq!(&**open(&file, &[key()]).unwrap(), &text);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), cut in 0usize..200) {
        let _ = open(&bytes, &[key()]);
        let file = seal(b"x", &[key().recipient()]).unwrap();
        let _ = open(&[&file[..cut.min(file.len())], &bytes[..]].concat(), &[key()]);
        let _ = identities(&String::from_utf8_lossy(&bytes));
    }
}
