//! Clients that others made: each stores, lists, reads and syncs, and a second sync moves nothing.

use crate::pattern;
use crate::server::{KEY, SECRET, Server};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use whyslow_testing::{Lack, rare_tools, skip};

/// A folder of files: small ones, one of several parts for every client, names that are not plain.
fn files() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, length: usize| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, pattern(length)).unwrap();
    };
    write("empty", 0);
    write("small.txt", 5);
    write("folder/chunk", 65_536);
    write("folder/ä b+c&d.bin", 1_000_000);
    write("large", 20_000_001);
    folder
}

fn same(one: &Path, other: &Path) {
    let output = Command::new("diff").arg("-r").args([one, other]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Runs a program with the key in its environment, which is clean of others.
fn run(program: &str, arguments: &[&str], home: &Path) -> Output {
    let output = command(program, home).args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}\n{}\n{}", text(&output.stdout), text(&output.stderr));
    output
}

fn command(program: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("HOME", home).env("AWS_ACCESS_KEY_ID", KEY).env("AWS_SECRET_ACCESS_KEY", SECRET);
    command.env("AWS_DEFAULT_REGION", "us-east-1").env("AWS_EC2_METADATA_DISABLED", "true");
    for name in [
        "AWS_PROFILE",
        "AWS_SESSION_TOKEN",
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_CA_BUNDLE",
        "http_proxy",
    ] {
        command.env_remove(name);
    }
    command.env("NO_PROXY", "127.0.0.1");
    command
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Writes that the server has seen.
fn writes(server: &Server) -> usize {
    server.count(|record| {
        record.method == "PUT" || record.method == "POST" && record.operation.as_deref() != Some("DeleteObjects")
    })
}

/// Nothing but what a program asks for on purpose fails.
fn nothing_failed(server: &Server) {
    let failed = server.count(|record| record.status.is_none_or(|status| status >= 400 && status != 404));
    let shown = || server.record(|record| record.status.is_none_or(|status| status >= 400 && status != 404));
    assert!(failed == 0, "{:?}", shown());
}

#[test]
fn aws_copies_and_syncs() {
    if !rare_tools(&["aws"]) {
        return;
    }
    let (server, files, home) = (Server::start(), files(), tempfile::tempdir().unwrap());
    let url = server.url();
    // Its first version makes links with version 2 otherwise.
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    std::fs::write(home.path().join(".aws/config"), "[default]\ns3 =\n  signature_version = s3v4\n").unwrap();
    let aws = |arguments: &[&str]| {
        let all = [&["--endpoint-url", &url], arguments].concat();
        printed(&run("aws", &all, home.path()))
    };
    let path = files.path().to_str().unwrap();
    aws(&["s3", "mb", "s3://second"]);
    assert!(aws(&["s3", "ls"]).contains("second"));
    assert_eq!(aws(&["s3", "sync", path, "s3://bucket/to/"]).matches("upload: ").count(), 5);
    let before = writes(&server);
    assert_eq!(aws(&["s3", "sync", path, "s3://bucket/to/"]), "");
    assert_eq!(writes(&server), before);
    let back = tempfile::tempdir().unwrap();
    let to = back.path().to_str().unwrap();
    aws(&["s3", "sync", "s3://bucket/to/", to]);
    same(files.path(), back.path());
    assert_eq!(aws(&["s3", "sync", "s3://bucket/to/", to]), "");
    assert!(aws(&["s3", "ls", "s3://bucket/to/"]).contains("20000001 large"));
    aws(&["s3", "cp", "s3://bucket/to/large", "s3://second/copy"]);
    aws(&["s3", "cp", "s3://second/copy", back.path().join("large").to_str().unwrap()]);
    same(files.path(), back.path());
    let link = aws(&["s3", "presign", "s3://bucket/to/small.txt"]);
    assert_eq!(run("curl", &["-sSf", link.trim()], home.path()).stdout, pattern(5));
    aws(&["s3", "rm", "--recursive", "s3://bucket/"]);
    aws(&["s3", "rb", "--force", "s3://second"]);
    nothing_failed(&server);
}

#[test]
fn boto3_with_the_checksums_of_its_version() {
    let Some(output) = by_boto3("boto.py") else { return };
    assert!(output.ends_with("all is well\n"), "{output}");
}

/// The cases are counted, so that none is left out unnoticed.
#[test]
fn s3_as_it_is_documented() {
    let Some(output) = by_boto3("conformance.py") else { return };
    let scripts =
        [include_str!("conformance.py"), include_str!("conformance_lists.py"), include_str!("conformance_web.py")];
    let count = scripts.iter().flat_map(|script| script.lines()).filter(|line| *line == "@case").count();
    assert_eq!(output.lines().last(), Some(format!("{count} passed, 0 failed").as_str()), "{output}");
}

/// The output of a script that gets a server's URL.
fn by_boto3(script: &str) -> Option<String> {
    if !rare_tools(&["python3"]) {
        return None;
    }
    let found = Command::new("python3").args(["-c", "import boto3"]).output().unwrap();
    if !found.status.success() {
        skip(Lack::Program, "boto3 is not installed");
        return None;
    }
    let (server, home) = (Server::start(), tempfile::tempdir().unwrap());
    let output = run("python3", &[path(script).to_str().unwrap(), &server.url()], home.path());
    Some(printed(&output))
}

fn path(script: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/front").join(script)
}

/// The names of the conformance cases that fail in front of a service, and what the script printed.
pub(crate) fn failing_cases(server: &Server) -> (BTreeSet<String>, String) {
    let home = tempfile::tempdir().unwrap();
    let mut command = command("python3", home.path());
    let output = command.arg(path("conformance.py")).arg(server.url()).output().unwrap();
    let text = printed(&output);
    assert!(text.contains(" passed, "), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let names = text.lines().filter_map(|line| line.split_once(" fails: ")).map(|(name, _)| name.to_owned());
    (names.collect(), text)
}

#[test]
fn s3cmd_copies_and_syncs() {
    if !rare_tools(&["s3cmd"]) {
        return;
    }
    let (server, files, home) = (Server::start(), files(), tempfile::tempdir().unwrap());
    let host = server.address.to_string();
    let s3cmd = |arguments: &[&str]| {
        let common = ["--no-ssl", "--host", &host, "--host-bucket", &host, "--multipart-chunk-size-mb=5"];
        let keys = ["--access_key", KEY, "--secret_key", SECRET];
        printed(&run("s3cmd", &[&common[..], &keys, arguments].concat(), home.path()))
    };
    // With its default location.
    s3cmd(&["mb", "s3://second"]);
    let path = format!("{}/", files.path().display());
    s3cmd(&["sync", &path, "s3://second/to/"]);
    let before = writes(&server);
    let back = tempfile::tempdir().unwrap();
    s3cmd(&["get", "--recursive", "s3://second/to/", &format!("{}/", back.path().display())]);
    same(files.path(), back.path());
    assert_eq!(writes(&server), before);
    s3cmd(&["cp", "s3://second/to/small.txt", "s3://second/copy"]);
    s3cmd(&["info", "s3://second/copy"]);
    s3cmd(&["info", "s3://second"]);
    s3cmd(&["rb", "--recursive", "--force", "s3://second"]);
}

#[test]
fn rclone_syncs() {
    if !rare_tools(&["rclone"]) {
        return;
    }
    let (server, files, home) = (Server::start(), files(), tempfile::tempdir().unwrap());
    let remote = format!(
        ":s3,provider=Other,access_key_id={KEY},secret_access_key='{SECRET}',endpoint='{}',region=us-east-1:bucket/to",
        server.url()
    );
    let rclone = |arguments: &[&str]| {
        let all =
            [&["--s3-upload-cutoff", "8M", "--s3-chunk-size", "5M", "--stats-one-line", "-v"], arguments].concat();
        let output = run("rclone", &all, home.path());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let path = files.path().to_str().unwrap();
    assert!(rclone(&["sync", path, &remote]).contains("Copied"));
    let before = writes(&server);
    let second = rclone(&["sync", path, &remote]);
    assert!(!second.contains("Copied") && second.contains("nothing to transfer"), "{second}");
    assert_eq!(writes(&server), before);
    let back = tempfile::tempdir().unwrap();
    rclone(&["copy", &remote, back.path().to_str().unwrap()]);
    same(files.path(), back.path());
    rclone(&["check", "--download", path, &remote]);
    rclone(&["moveto", &format!("{remote}/small.txt"), &format!("{remote}/moved")]);
    rclone(&["purge", &remote]);
    nothing_failed(&server);
}

#[test]
fn s5cmd_syncs() {
    if !rare_tools(&["s5cmd"]) {
        return;
    }
    let (server, files, home) = (Server::start(), files(), tempfile::tempdir().unwrap());
    let url = server.url();
    let s5cmd =
        |arguments: &[&str]| printed(&run("s5cmd", &[&["--endpoint-url", &url], arguments].concat(), home.path()));
    let path = format!("{}/", files.path().display());
    assert_eq!(s5cmd(&["sync", &path, "s3://bucket/to/"]).lines().count(), 5);
    assert_eq!(s5cmd(&["sync", &path, "s3://bucket/to/"]), "");
    let back = tempfile::tempdir().unwrap();
    s5cmd(&["cp", "s3://bucket/to/*", &format!("{}/", back.path().display())]);
    same(files.path(), back.path());
    s5cmd(&["rm", "s3://bucket/*"]);
    nothing_failed(&server);
}

#[test]
fn curl_signs() {
    if !rare_tools(&["curl"]) {
        return;
    }
    let (server, files, home) = (Server::start(), files(), tempfile::tempdir().unwrap());
    let pair = format!("{KEY}:{SECRET}");
    let url = format!("{}/bucket/by-curl", server.url());
    let curl = |arguments: &[&str]| {
        let unsigned = ["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"];
        let all = [&["-sSf", "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", &pair], &unsigned[..], arguments].concat();
        run("curl", &all, home.path()).stdout
    };
    let large = files.path().join("large");
    curl(&["-T", large.to_str().unwrap(), &url]);
    assert!(curl(&[&url]) == pattern(20_000_001));
    assert!(curl(&["-r", "100-199", &url]) == pattern(20_000_001)[100..200]);
    let form = format!("{}/upload/files", server.url());
    let (data, file) =
        (r#"data={"bucket": "bucket", "key": "form"};type=application/json"#, format!("file=@{}", large.display()));
    let answer = run("curl", &["-sSf", "-u", &pair, "-F", data, "-F", &file, &form], home.path());
    assert!(printed(&answer).contains(r#""size":20000001"#), "{}", printed(&answer));
    nothing_failed(&server);
}

#[test]
fn curl_over_tls() {
    if !rare_tools(&["curl"]) {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let [chain, key] = ["chain.pem", "key.pem"].map(|name| home.path().join(name));
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&chain, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = whyslow_gateway::front::Tls::from_files(&chain, &key).unwrap();
    let server = Server::with(|options| options.tls = Some(tls));
    let url = format!("https://localhost:{}/bucket/o", server.address.port());
    let (pair, chain) = (format!("{KEY}:{SECRET}"), chain.to_str().unwrap());
    let common = ["-sSf", "-4", "--cacert", chain, "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", &pair];
    let unsigned = ["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"];
    run("curl", &[&common[..], &unsigned, &["-T", chain, &url]].concat(), home.path());
    let got = run("curl", &[&common[..], &unsigned, &[&url]].concat(), home.path());
    assert_eq!(got.stdout, std::fs::read(chain).unwrap());
}
