use super::epoch_file::EpochFileError;
use super::*;
use crate::age::{AgeError, Identity, KeyError};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn operator(byte: u8) -> Identity {
    Identity::from_bytes(&[byte; 32])
}

#[test]
fn rekey_gives_the_same_epoch_to_others() {
    let epoch = Epoch::generate().unwrap();
    let (old, new) = (operator(1), operator(2));
    let file = epoch_file::seal(&epoch, &[old.recipient()]).unwrap();
    let again = epoch_file::rekey(&file, std::slice::from_ref(&old), &[new.recipient()]).unwrap();
    let opened = epoch_file::open(&again, &[new]).unwrap();
    assert_eq!(opened.id(), epoch.id());
    assert_eq!(opened.identity().to_text(), epoch.identity().to_text());
    assert_eq!(epoch_file::open(&again, &[old]).unwrap_err(), EpochFileError::Age(AgeError::NoMatch));
}

#[test]
fn an_epochs_file_is_one_identity_for_its_recipient() {
    let epoch = Epoch::new(operator(3));
    assert_eq!(epoch_file::seal(&epoch, &[]), Err(EpochFileError::NoRecipient));
    let to = [operator(1).recipient()];
    let sealed = |text: &[u8]| crate::age::seal(text, &to).unwrap();
    let open = |text: &[u8]| epoch_file::open(&sealed(text), &[operator(1)]).unwrap_err();
    let two = format!("{}\n{}\n", &*operator(3).to_text(), &*operator(4).to_text());
    assert_eq!(open(two.as_bytes()), EpochFileError::Several(2));
    assert_eq!(open(b"# empty\n"), EpochFileError::Identity(KeyError::NoIdentity));
    assert_eq!(open(b"\xff"), EpochFileError::NotText);
}

#[test]
fn keys_of_different_uses_differ() {
    let epoch = Epoch::new(operator(3));
    let names = epoch.names_key();
    let all = [epoch.slice_key(), epoch.metadata_key(), epoch.token_key(), &names[..32], &names[32..]];
    for (index, key) in all.iter().enumerate() {
        assert!(all[..index].iter().all(|other| other != key));
    }
    assert!(!format!("{epoch:?} {:?}", Keyring::new(epoch.clone(), [])).contains("AGE-SECRET"));
}

#[test]
fn a_keyring_has_the_current_epoch_and_the_older_ones() {
    let ring = Keyring::new(Epoch::new(operator(1)), [Epoch::new(operator(2))]);
    assert_eq!(ring.current().id(), Epoch::new(operator(1)).id());
    assert!(ring.get(Epoch::new(operator(2)).id()).is_some());
    assert!(ring.get(Epoch::new(operator(3)).id()).is_none());
}

#[test]
fn a_source_is_a_file_a_variable_or_a_program() {
    assert_eq!("file:/a:b".parse(), Ok(SecretSource::File(PathBuf::from("/a:b"))));
    assert_eq!("env:NAME".parse(), Ok(SecretSource::Environment("NAME".into())));
    assert_eq!("command:pass show x".parse(), Ok(SecretSource::Command("pass show x".into())));
    for bad in ["", "file:", "AGE-SECRET-KEY-1ABC", "http://x"] {
        assert_eq!(bad.parse::<SecretSource>(), Err(SourceSyntax), "{bad}");
    }
    assert!(!SourceSyntax.to_string().contains("ABC"));
}

#[test]
fn secrets_are_read_from_files_and_variables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "secret\n").unwrap();
    assert_eq!(&**SecretSource::File(path.clone()).read().unwrap(), "secret\n");
    assert!(!SecretSource::Environment("PATH".into()).read().unwrap().is_empty());
    let unset = SecretSource::Environment("WHYSLOW_NOT_SET_ANYWHERE".into()).read().unwrap_err();
    assert_eq!(unset.to_string(), "the variable WHYSLOW_NOT_SET_ANYWHERE is not set, or empty");
    std::fs::write(&path, [0xff]).unwrap();
    assert!(matches!(SecretSource::File(path.clone()).read(), Err(SourceError::NotText(_))));
    std::fs::write(&path, vec![b'a'; 65_537]).unwrap();
    assert!(matches!(SecretSource::File(path.clone()).read(), Err(SourceError::TooLong(_))));
    let missing = SecretSource::File(folder.path().join("none")).read().unwrap_err().to_string();
    assert!(missing.contains("none: No such file"), "{missing}");
}

#[cfg(unix)]
#[test]
fn a_program_prints_the_secret_or_fails() {
    let command = |text: &str| SecretSource::Command(text.into()).read();
    assert_eq!(&**command("printf '%s' a b").unwrap(), "ab");
    let failed = command("echo secret; exit 3").unwrap_err().to_string();
    assert!(failed.contains("failed: exit status: 3") && !failed.contains("secret\n"), "{failed}");
    // The closed pipe stops a program that prints without end.
    assert!(matches!(command("yes"), Err(SourceError::TooLong(_))));
}

#[test]
fn stock_age_opens_an_epochs_file() {
    if !whyslow_testing::tools(&["age"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("operator.key");
    let operator = operator(5);
    std::fs::write(&path, operator.to_text().as_bytes()).unwrap();
    let epoch = Epoch::generate().unwrap();
    let file = folder.path().join("epoch.age");
    std::fs::write(&file, epoch_file::seal(&epoch, &[operator.recipient()]).unwrap()).unwrap();
    let output = Command::new("age").args(["-d", "-i"]).args([&path, &file]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&**epoch.identity().to_text()), "{}", String::from_utf8_lossy(&output.stderr));
    // The other direction: a file that age made.
    let sealed = folder.path().join("again.age");
    let mut age = Command::new("age");
    age.args(["-r", &operator.recipient().to_string(), "-o"]).arg(&sealed).stdin(Stdio::piped());
    let mut child = age.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(epoch_file::open(&std::fs::read(&sealed).unwrap(), &[operator]).unwrap().id(), epoch.id());
}
