//! Wrong settings are reported with their remedy, before anything is served.

use super::output;
use super::running::Place;

/// Starts it with keys, and these arguments; returns its message.
fn refused(place: &Place, arguments: &[&str]) -> String {
    let (code, printed, errors) = output(place.command(&["serve"]).args(arguments));
    assert_eq!((code, printed.as_str()), (Some(2), ""), "{errors}");
    errors
}

#[test]
fn arguments_that_make_no_sense() {
    let place = Place::new();
    let missing = refused(&place, &["--store", "s3://photos"]);
    assert!(missing.contains("there are no keys: `whyslow-gateway init FOLDER` makes them"), "{missing}");
    assert_eq!(output(&mut place.command(&["init", "keys"])).0, Some(0));
    let keys = ["--epoch", "keys/epoch.age", "-i", "file:keys/operator.key"];
    let store = ["--store", "file:store"];
    for (arguments, message) in [
        (&["--store", "file:store"][..], "name an access key and where its secret is"),
        (&["--store", "ftp://x"], "a store is file:FOLDER, s3://BUCKET"),
        (&["--no-auth"], "no store was named"),
        (&["--store", "file:store", "--no-auth", "--listen", "0.0.0.0:0"], "for loopback addresses alone"),
        (&["--store", "file:store", "--no-auth", "--access-key", "a=env:X"], "it is one or the other"),
        (&["--store", "file:store", "--access-key", "a=hush"], "--access-key a: a secret comes from file:PATH"),
        (&["--store", "file:store", "--access-key", "hush"], "--access-key: a secret comes from file:PATH"),
        (&["--store", "file:store", "--access-key", "a=env:NOT_SET"], "the variable NOT_SET is not set"),
        (&["--store", "file:store", "--access-key", "a/b=file:keys/access.key"], "letters, digits and -_.+=@"),
        (
            &[
                "--store",
                "file:store",
                "--access-key",
                "a=file:keys/access.key",
                "--access-key",
                "a=file:keys/access.key",
            ],
            "a name is there twice",
        ),
        (&["--store", "file:store", "--no-auth", "--tls-cert", "x"], "--tls-key FILE"),
        (&["--store", "file:store", "--no-auth", "--tls-cert", "x", "--tls-key", "y"], "x: no certificate can be read"),
        (&["--store", "file:store", "--no-auth", "--memory", "1MiB"], "--memory: at least 32 MiB"),
        (&["--store", "file:store", "--no-auth", "--memory", "512"], "write a number and its unit"),
        (
            &["--store", "file:store", "--no-auth", "--keep-warm", "9", "--store-connections", "4"],
            "no fewer than --keep-warm",
        ),
        (&["--store", "file:store", "--no-auth", "--max-connections", "0"], "--max-connections: at least 1"),
        (&["--store", "file:store", "--no-auth", "--admin", "here"], "or off"),
        (&["--store", "file:store", "--no-auth", "--region", "x"], "--region is for s3:// alone"),
        (&["--store", "s3://photos", "--no-auth"], "there are no credentials for S3"),
        (&["--store", "s3://photos", "--no-auth", "--endpoint", "nowhere"], "`nowhere` is no endpoint"),
        (&["--store", "file:store", "--no-auth", "--log", "nowhere/log"], "--log nowhere/log"),
    ] {
        let printed = refused(&place, &[&keys[..], arguments].concat());
        assert!(printed.contains(message), "{arguments:?}: {printed}");
        assert!(!printed.contains("hush"), "{printed}");
    }
    let other = refused(
        &place,
        &[&store[..], &["--no-auth", "--epoch", "keys/epoch.age", "-i", "file:keys/access.key"]].concat(),
    );
    assert!(other.contains("file:keys/access.key"), "{other}");
    let none = refused(&place, &[&store[..], &["--no-auth", "--epoch", "keys/epoch.age"]].concat());
    assert!(none.contains("--identity file:PATH"), "{none}");
}

#[test]
fn files_of_settings_that_make_no_sense() {
    let place = Place::new();
    for (text, message) in [
        ("store = \"file:x\"\nmemry = \"1GiB\"\n", "bad.toml:2: memry: there is no such setting; `memory` perhaps?"),
        ("memory = \"1\"\n", "bad.toml:1: memory: `1` is no size"),
        ("\nmemory = 1.5\n", "bad.toml:2: memory: a text is wanted"),
        ("memory = [\"1GiB\"]\n", "bad.toml:1: memory: one value is wanted"),
        ("[access-key]\na = 1\n", "bad.toml:1: access-key: a text is wanted behind `a`"),
        ("no-auth = \"perhaps\"\n", "bad.toml:1: no-auth: "),
        ("log-format = \"xml\"\n", "bad.toml:1: log-format: `xml` is none of text, json"),
        ("store = \"file:x\nsecret = hush\n", "bad.toml:1: "),
        ("[access-key]\na = \"hush\"\n", "there are no keys"),
    ] {
        place.put("bad.toml", text.as_bytes());
        let printed = refused(&place, &["--config", "bad.toml"]);
        assert!(printed.contains(message) && !printed.contains("hush"), "{text}: {printed}");
    }
    let missing = refused(&place, &["--config", "none.toml"]);
    assert!(missing.contains("none.toml: No such file"), "{missing}");
}

#[test]
fn an_argument_goes_before_a_variable_and_that_before_the_file() {
    let place = Place::new();
    assert_eq!(output(&mut place.command(&["init", "keys", "--store", "file:store"])).0, Some(0));
    let file = place.at("keys/gateway.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("memory = \"1MiB\"\n{text}")).unwrap();
    let run = |variable: Option<&str>, arguments: &[&str]| {
        let mut command = place.command(&["serve", "--config", "keys/gateway.toml"]);
        command.args(arguments).envs(variable.map(|value| ("WHYSLOW_GATEWAY_MEMORY", value)));
        output(&mut command).2
    };
    assert!(run(None, &[]).contains("--memory: at least 32 MiB"));
    // The next option is wrong, too.
    let listen = ["--tls-cert", "x"];
    assert!(run(Some("1GiB"), &listen).contains("--tls-key FILE"));
    assert!(run(Some("1GiB"), &["--memory", "2MiB"]).contains("--memory: at least 32 MiB"));
}
