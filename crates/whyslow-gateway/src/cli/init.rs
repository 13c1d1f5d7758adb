//! `whyslow-gateway init`: keys, an access key and a file of settings, in one folder.

use super::config::NAME;
use super::place::Place;
use super::secrets::write_new;
use anyhow::{Context, bail};
use std::fmt::Write;
use std::path::Path;
use whyslow_gateway::age::Identity;
use whyslow_gateway::keys::{Epoch, epoch_file};
use zeroize::Zeroizing;

/// The client that `init` makes.
const CLIENT: &str = "gateway";
/// Letters of an access key's secret, as in AWS.
const SECRET: usize = 40;

/// Makes the gateway's files; existing files are not overwritten.
///
/// # Errors
/// If one of the files exists, or a file cannot be written.
pub(super) fn make(folder: &Path, store: Option<&Place>) -> anyhow::Result<()> {
    for name in ["operator.key", "epoch.age", "access.key", NAME] {
        if folder.join(name).symlink_metadata().is_ok() {
            bail!("{} already exists; refusing to overwrite keys that may be in use", folder.join(name).display());
        }
    }
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let identity = Identity::generate()?;
    let recipient = identity.recipient();
    let text = identity.to_text();
    let public = format!("# public key: {recipient}\n");
    write_new(&folder.join("operator.key"), &[public.as_bytes(), text.as_bytes(), b"\n"])?;
    write_new(&folder.join("epoch.age"), &[&epoch_file::seal(&Epoch::generate()?, &[recipient])?])?;
    write_new(&folder.join("access.key"), &[secret()?.as_bytes(), b"\n"])?;
    write_new(&folder.join(NAME), &[settings(store)?.as_bytes()])
}

/// The next steps, for the user.
pub(super) fn next(folder: &Path, store: Option<&Place>) -> String {
    let at = |name: &str| shell(&folder.join(name).display().to_string());
    let mut text = format!(
        "Keys and settings are in {}. Keep copies of operator.key and epoch.age elsewhere:\n\
         without them nobody opens what is stored.\n\n",
        folder.display()
    );
    let store = if store.is_some() { "" } else { " --store file:objects" };
    let _ = write!(
        text,
        "  whyslow-gateway serve --config {}{store}\n\n\
         Then, in another terminal:\n\n  \
         export AWS_ENDPOINT_URL=http://127.0.0.1:9000 AWS_REGION=us-east-1 \
         AWS_ACCESS_KEY_ID={CLIENT} AWS_SECRET_ACCESS_KEY=\"$(cat {})\"\n  \
         aws s3 mb s3://photos && aws s3 cp FILE s3://photos/\n",
        at(NAME),
        at("access.key")
    );
    text
}

/// Quotes a word for a shell.
fn shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn settings(store: Option<&Place>) -> anyhow::Result<String> {
    let store = match store {
        None => "# store = \"s3://BUCKET\"\n".to_owned(),
        Some(Place::Folder(folder)) => {
            let folder = std::path::absolute(folder)?;
            let folder = folder.to_str().context("--store: the folder's name is no UTF-8")?.to_owned();
            format!("store = {}\n", toml::Value::String(format!("file:{folder}")))
        }
        Some(place) => format!("store = {}\n", toml::Value::String(place.to_string())),
    };
    Ok(format!(
        "# Settings of `whyslow-gateway serve`: each of its options under its name.\n\
         # Paths are relative to this folder.\n\n\
         {store}\
         epoch = \"epoch.age\"\n\
         identity = \"file:operator.key\"\n\n\
         [access-key]\n\
         {CLIENT} = \"file:access.key\"\n"
    ))
}

/// Random letters and digits: 238 bits.
fn secret() -> anyhow::Result<Zeroizing<String>> {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut text = Zeroizing::new(String::with_capacity(SECRET));
    while text.len() < SECRET {
        let bytes = whyslow_gateway::age::random::<64>()?;
        // Bytes after the last multiple of 62 would favour the first letters.
        for byte in bytes.iter().filter(|&&byte| byte < 248).take(SECRET - text.len()) {
            text.push(char::from(LETTERS[usize::from(*byte % 62)]));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn secrets_differ_and_words_of_a_shell_are_whole() {
        let (one, two) = (secret().unwrap(), secret().unwrap());
        assert!(one.len() == SECRET && one != two);
        assert_eq!(shell("/a b/it's"), r"'/a b/it'\''s'");
    }
}
