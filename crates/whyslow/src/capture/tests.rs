//! What is printed for each kind of target.
#![allow(clippy::unwrap_used)]

use super::args::Capture;
use super::plan::plan;
use super::target::Target;
use clap::Parser;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    capture: Capture,
}

fn printed(words: &[&str]) -> String {
    let line = Line::try_parse_from([&["capture"], words].concat()).unwrap();
    plan(&line.capture)
        .and_then(|plan| plan.text(&line.capture.explain))
        .unwrap_or_else(|error| format!("error: {error}\n"))
}

#[test]
fn every_target_has_its_command() {
    let lines = [
        &["web1"][..],
        &["ssh://ops@web1.example:2222", "--port", "443", "--for", "30s"],
        &["ssh://[2001:db8::1]:22", "--filter", "host 192.0.2.9 or (net 10.0.0.0/8)"],
        &["web1", "--ssh", "ssh -J 'my gate' -F \"a b\""],
        &["web1", "--ring", "10"],
        &["web1", "--on", "macos", "--for", "1500ms", "--interface", "en0"],
        &["ssh://admin@win1:2222", "--on", "windows", "--port", "445", "--ring", "5"],
        &["local", "--on", "linux", "--snaplen", "0"],
        &["local", "--on", "linux", "--ring", "3", "--filter", "port 80 and 'x'; rm -rf $HOME `id`"],
        &["local", "--on", "windows", "--for", "10s"],
        &["docker://web_1", "--port", "8080"],
        &["podman://web", "--image", "registry.example/tcpdump:1"],
        &["k8s://web-0", "--", "--json", "-Y", "port 80"],
        &["k8s://shop/web-0/nginx", "--port", "80", "--for", "1min"],
        &["k8s://shop/web-0", "--ring", "3"],
        &["docker://web", "--on", "windows"],
        &["local", "--on", "windows", "--filter", "tcp"],
    ];
    let text: Vec<String> =
        lines.iter().map(|words| format!("$ whyslow capture {}\n{}", words.join(" "), printed(words))).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn names_that_could_be_options_or_commands_are_refused() {
    for text in [
        "",
        "-oProxyCommand=id",
        "ssh://-oProxyCommand=id",
        "ssh://a@-b",
        "user@-host",
        "ssh://a;id",
        "ssh://host:0",
        "ssh://host:99999",
        "docker://",
        "docker://--privileged",
        "docker://a b",
        "k8s://a/b/c/d",
        "k8s:///pod",
        "k8s://ns/$(id)",
        "ftp://host",
        "host\n",
    ] {
        assert!(Target::read(text).is_err(), "{text:?}");
    }
    let ssh = |host: &str, port| Target::Ssh { host: host.to_owned(), port };
    assert_eq!(Target::read("ops@web1"), Ok(ssh("ops@web1", None)));
    assert_eq!(Target::read("ssh://ops@[2001:db8::1]:2222/"), Ok(ssh("ops@2001:db8::1", Some(2222))));
}

/// A POSIX shell splits the printed line into the original words.
#[cfg(unix)]
#[test]
fn filters_reach_tcpdump_as_they_were_typed() {
    let filter = "host a and 'x\" $HOME `id` \\ ; |";
    let text = printed(&["local", "--on", "linux", "--filter", filter]);
    let line = text.replace("sudo tcpdump", "printf '%s\\n'").replace(" | whyslow -", "");
    let shell = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
    let last = String::from_utf8(shell.stdout).unwrap();
    assert_eq!(last.lines().last(), Some(format!("(tcp or icmp or icmp6) and ({filter})").as_str()), "{line}");
    // Through ssh a second shell takes it apart, with the addresses of that connection.
    let text = printed(&["web1", "--filter", filter]);
    let words = shlex::split(text.trim_end().trim_end_matches(" | whyslow -")).unwrap();
    let remote = words.last().unwrap().replace("exec $sudo tcpdump", "printf '%s\\n'");
    let shell = std::process::Command::new("sh")
        .args(["-c", &remote])
        .env("SSH_CONNECTION", "192.0.2.1 40000 192.0.2.2 22")
        .output()
        .unwrap();
    let out = String::from_utf8(shell.stdout).unwrap();
    let joined: Vec<&str> = out.lines().skip_while(|word| *word != "-").skip(1).collect();
    assert_eq!(
        joined.join(" "),
        format!("(tcp or icmp or icmp6) and ({filter}) and not (host 192.0.2.1 and tcp port 40000 )")
    );
}
