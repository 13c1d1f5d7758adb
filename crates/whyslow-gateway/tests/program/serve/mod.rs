//! `whyslow-gateway init`, `serve`, `stats` and `clean`.

mod crowd;
mod ending;
mod errors;
mod keep;
mod operations;
mod running;
mod safety;

use running::{Place, Running};
use std::process::Command;

fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 + seed * 17 + (at >> 8)) as u8).collect()
}

fn output(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn set_up_in_three_commands() {
    let place = Place::new();
    let (code, printed, errors) = output(&mut place.command(&["init", "keys", "--store", "file:store"]));
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{printed}");
    assert!(
        printed.contains("whyslow-gateway serve --config keys/gateway.toml") && printed.contains("aws s3 cp"),
        "{printed}"
    );
    for name in ["operator.key", "epoch.age", "access.key", "gateway.toml"] {
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&place.at("keys").join(name).metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let (code, _, errors) = output(&mut place.command(&["init", "keys"]));
    assert!(code == Some(2) && errors.contains("operator.key already exists"), "{errors}");

    let secret = std::fs::read_to_string(place.at("keys/access.key")).unwrap();
    assert!(!printed.contains(secret.trim()));
    let gateway = Running::start(place.command(&["serve", "--config", "keys/gateway.toml"]), &[]);
    assert!(!gateway.stderr().contains(secret.trim()) && gateway.stderr().contains(" for gateway; sealed to epoch "));
    assert_eq!(gateway.ask("GET", "/", b"").0, 403, "nobody comes in without a key");
    if !whyslow_testing::tools(&["curl"]) {
        return;
    }
    let curl = |user: &str, arguments: &[&str]| {
        let mut command = Command::new("curl");
        command.args(["-sS", "--fail-with-body", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", user]);
        // Older ones do not send it by themselves.
        command.args(["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"]).args(arguments);
        output(&mut command)
    };
    let user = format!("gateway:{}", secret.trim());
    let url = |path: &str| format!("{}/photos{path}", gateway.url());
    let file = place.put("file", &pattern(300_000, 1));
    assert_eq!(curl(&user, &["-X", "PUT", &url("")]).0, Some(0));
    let (code, printed, errors) = curl(&user, &["-T", file.to_str().unwrap(), &url("/a/one.bin")]);
    assert_eq!(code, Some(0), "{printed}{errors}");
    let back = place.at("back");
    assert_eq!(curl(&user, &["-o", back.to_str().unwrap(), &url("/a/one.bin")]).0, Some(0));
    assert!(std::fs::read(&back).unwrap() == pattern(300_000, 1));
    let (code, printed, _) = curl("gateway:wrong", &["-T", file.to_str().unwrap(), &url("/a/two.bin")]);
    assert!(code == Some(22) && printed.contains("SignatureDoesNotMatch"), "{printed}");
    // The stored object is an age file.
    let stored = std::fs::read(place.at("store/photos/a/one.bin")).unwrap();
    assert!(stored.starts_with(b"age-encryption.org/v1\n"));
    let stderr = gateway.end();
    assert!(stderr.contains(" gateway PutObject photos/a/one.bin 200 in 300,000 B "), "{stderr}");
    assert!(stderr.contains("SignatureDoesNotMatch") && !stderr.contains(secret.trim()), "{stderr}");
}

#[test]
fn in_front_of_a_folder_it_works_at_once() {
    let place = Place::new();
    let gateway = place.serve(&[]);
    assert!(gateway.stderr().contains("made keys, and settings for them, in "), "{}", gateway.stderr());
    assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
    assert_eq!(gateway.ask("PUT", "/photos/one", b"first").0, 200);
    gateway.end();
    assert!(place.at("home/.config/whyslow/gateway/operator.key").exists());
    // The same keys again, and nothing of them where the objects are.
    let gateway = place.serve(&[]);
    assert!(!gateway.stderr().contains("made keys"), "{}", gateway.stderr());
    assert_eq!(gateway.ask("GET", "/photos/one", b""), (200, b"first".to_vec()));
    let (code, _, errors) = output(&mut place.command(&["clean", "--store", "file:store"]));
    assert!(code == Some(2) && errors.contains("another gateway uses this folder"), "{errors}");
}
