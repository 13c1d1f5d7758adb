//! What keeps objects and names from harm: settings that a bucket remembers, files with secrets,
//! and the limit of open files.

use super::output;
use super::running::{Place, Running, ask, until};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const LIST: &str = "/photos?list-type=2";

/// The same command with a limit of open files, which it cannot raise.
fn limited(command: &Command, files: u32) -> Command {
    let mut limited = Command::new("sh");
    limited.arg("-c").arg(format!("ulimit -n {files}; exec \"$0\" \"$@\""));
    limited.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited.current_dir(command.get_current_dir().unwrap());
    limited
}

/// Starts it on a free port, in front of this store.
fn refused(place: &Place, store: &str) -> (Option<i32>, String, String) {
    let arguments = ["serve", "--store", store, "--no-auth", "--listen", "127.0.0.1:0", "--admin", "off"];
    output(&mut place.command(&arguments))
}

#[test]
fn gateway_without_the_buckets_name_encryption_does_not_start() {
    let place = Place::new();
    let gateway = place.serve(&["--encrypt-names"]);
    assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
    assert_eq!(gateway.ask("PUT", "/photos/secret-name", b"first").0, 200);
    gateway.end();
    let (code, _, errors) = refused(&place, "file:store");
    assert!(code == Some(2) && errors.contains("start the gateway with --encrypt-names"), "{errors}");
    let gateway = place.serve(&["--encrypt-names"]);
    assert_eq!(gateway.ask("GET", "/photos/secret-name", b""), (200, b"first".to_vec()));
    gateway.end();
}

#[test]
fn store_below_a_missing_folder_is_refused() {
    let place = Place::new();
    let (code, _, errors) = refused(&place, "file:no/where");
    assert!(code == Some(2) && errors.contains("the folder above it is not there"), "{errors}");
    assert!(!place.at("no").exists());
}

#[test]
fn file_with_a_secret_that_others_can_read_is_named() {
    let place = Place::new();
    assert_eq!(output(&mut place.command(&["init", "keys", "--store", "file:store"])).0, Some(0));
    let start = || Running::start(place.command(&["serve", "--config", "keys/gateway.toml"]), &[]);
    let gateway = start();
    assert!(!gateway.stderr().contains("chmod"), "{}", gateway.stderr());
    gateway.end();
    for name in ["keys/operator.key", "keys/access.key"] {
        std::fs::set_permissions(place.at(name), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let gateway = start();
    for name in ["operator.key", "access.key"] {
        let told = gateway.stderr();
        assert!(told.lines().any(|line| line.contains(name) && line.contains("(mode 0644)")), "{told}");
    }
    gateway.end();
}

#[test]
fn lists_are_complete_or_refused_with_few_descriptors() {
    let place = Place::new();
    let command = place.command(&["serve", "--store", "file:store", "--no-auth"]);
    let gateway = Running::start(limited(&command, 48), &[]);
    assert!(gateway.stderr().contains("4 connections of clients at most, as 48 open files"), "{}", gateway.stderr());
    assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
    for number in 0..20 {
        assert_eq!(gateway.ask("PUT", &format!("/photos/{number}"), b"x").0, 200);
    }
    let address = gateway.address;
    let complete = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                for _ in 0..10 {
                    // One connection too many may be closed before its answer is read.
                    let Ok((status, body)) = ask(address, "GET", LIST, b"") else { continue };
                    assert!(matches!(status, 200 | 503), "{status}");
                    let keys = String::from_utf8(body).unwrap().matches("<Key>").count();
                    assert_eq!(keys, if status == 200 { 20 } else { 0 });
                    complete.fetch_add(usize::from(status == 200), std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    assert!(complete.into_inner() > 0);
    gateway.end();
    let (code, _, errors) = output(&mut limited(&command, 35));
    assert!(code == Some(2) && errors.contains("35 open files are allowed, and 36 are needed"), "{errors}");
}

#[test]
fn access_keys_are_read_again_at_sighup() {
    let place = Place::new();
    assert_eq!(output(&mut place.command(&["init", "keys", "--store", "file:store"])).0, Some(0));
    let gateway = Running::start(place.command(&["serve", "--config", "keys/gateway.toml"]), &[]);
    let settings = std::fs::read_to_string(place.at("keys/gateway.toml")).unwrap();
    place.put("second.key", b"another-secret");
    let more = format!("{settings}\nsecond = \"file:../second.key\"\n[allow]\nsecond = [\"read\", \"list:photos\"]\n");
    std::fs::write(place.at("keys/gateway.toml"), more).unwrap();
    gateway.signal(rustix::process::Signal::HUP);
    let printed = |what: &str| gateway.stderr().contains(what);
    until("it read the keys", || printed("access keys and certificate were read again: gateway, second"));
    // Invalid settings change nothing.
    std::fs::write(place.at("keys/gateway.toml"), "unknown = 1\n").unwrap();
    gateway.signal(rustix::process::Signal::HUP);
    until("it refused the settings", || printed("the settings are as before: "));
    gateway.end();
}

#[test]
fn grant_of_an_unknown_key_is_refused() {
    let place = Place::new();
    assert_eq!(output(&mut place.command(&["init", "keys", "--store", "file:store"])).0, Some(0));
    let arguments = ["serve", "--config", "keys/gateway.toml", "--allow", "nobody=read"];
    let (code, _, errors) = output(&mut place.command(&arguments));
    assert!(code == Some(2) && errors.contains("--allow nobody: there is no access key of this name"), "{errors}");
}

/// Gateways with copied settings are kept apart by their id.
#[test]
fn gateway_of_another_id_does_not_start() {
    let place = Place::new();
    let gateway = place.serve(&["--gateway-id", "production"]);
    assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
    gateway.end();
    let arguments = ["serve", "--store", "file:store", "--no-auth", "--listen", "127.0.0.1:0", "--admin", "off"];
    let (code, _, errors) = output(&mut place.command(&[&arguments[..], &["--gateway-id", "test"]].concat()));
    assert!(code == Some(2) && errors.contains("belongs to the gateways `production`"), "{errors}");
}
