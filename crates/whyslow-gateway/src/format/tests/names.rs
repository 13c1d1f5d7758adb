use super::*;
use proptest::prelude::*;

fn cipher() -> NameCipher {
    NameCipher::new(&epoch(1), "bucket")
}

proptest! {
    #[test]
    fn names_come_back(key in "[a-zé/ .]{0,60}") {
        let encrypted = cipher().encrypt(&key).unwrap();
        prop_assert_eq!(cipher().decrypt(&encrypted).unwrap(), key.clone());
        prop_assert_eq!(cipher().encrypt(&key).unwrap(), encrypted.clone());
        prop_assert_eq!(encrypted.matches('/').count(), key.matches('/').count());
        prop_assert!(encrypted.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_/".contains(&byte)));
    }

    #[test]
    fn a_folders_names_are_those_under_its_prefix(folder in "([a-z]{1,5}/){0,3}", name in "[a-z]{1,9}", cut in 0..9usize) {
        let key = format!("{folder}{name}");
        let asked = format!("{folder}{}", &name[..cut.min(name.len())]);
        let (prefix, rest) = cipher().prefix(&asked).unwrap();
        prop_assert!(cipher().encrypt(&key).unwrap().starts_with(&prefix));
        prop_assert!(name.starts_with(rest) && asked.ends_with(rest));
        prop_assert_eq!(cipher().decrypt(&prefix).unwrap(), folder);
    }

    #[test]
    fn no_text_makes_decrypt_panic(text in ".{0,80}") {
        let decrypted = cipher().decrypt(&text);
        prop_assert!(decrypted.is_err() || text.bytes().all(|byte| byte == b'/'));
    }
}

#[test]
fn a_component_belongs_to_its_folder_and_bucket() {
    let encrypted = cipher().encrypt("a/x").unwrap();
    let (folder, x) = encrypted.split_once('/').unwrap();
    assert_ne!(cipher().encrypt("b/x").unwrap().split_once('/').unwrap().1, x);
    assert_ne!(cipher().encrypt("x").unwrap(), x);
    assert_eq!(cipher().decrypt(x), Err(NameError::Foreign));
    assert_eq!(cipher().decrypt(&format!("{folder}/{folder}")), Err(NameError::Foreign));
    assert_eq!(NameCipher::new(&epoch(1), "other").decrypt(&encrypted), Err(NameError::Foreign));
    assert_eq!(NameCipher::new(&epoch(2), "bucket").decrypt(&encrypted), Err(NameError::Foreign));
    assert!(!format!("{:?}", cipher()).contains('['));
}

#[test]
fn a_name_that_would_be_too_long_is_refused() {
    assert!(cipher().encrypt(&"a".repeat(752)).unwrap().len() <= 1024);
    assert_eq!(cipher().encrypt(&"a".repeat(753)), Err(NameError::TooLong(1_026)));
    assert_eq!(cipher().encrypt(&"a/".repeat(45)), Err(NameError::TooLong(45 * 24)));
}

#[test]
fn etags_turn_back_and_are_no_md5() {
    for backend in ["d41d8cd98f00b204e9800998ecf8427e", "d41d8cd98f00b204e9800998ecf8427e-3", "", "\"odd\""] {
        let client = etag::to_client(backend);
        assert_eq!(etag::to_backend(&client), Some(backend));
        assert!(!client.bytes().all(|byte| byte.is_ascii_hexdigit()) && client.contains('-'));
    }
    assert_eq!(etag::to_backend("d41d8cd98f00b204e9800998ecf8427e"), None);
}
