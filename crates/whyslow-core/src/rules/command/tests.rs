#![allow(clippy::unwrap_used)]
use super::*;
use std::process::Command;

/// What the shell's command would set, of a host with these buffers.
fn set(command: &str, before: &str) -> String {
    let stub = format!("sysctl() {{ if [ \"$1\" = -n ]; then echo '{before}'; else echo \"$2\"; fi; }}; {command}");
    let output = Command::new("sh").args(["-c", &stub]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn buffers_are_raised_and_never_lowered() {
    let usual = "4096\t131072\t6291456";
    assert_eq!(set(&receive_buffer(1_000_000), usual), "net.ipv4.tcp_rmem=4096 1000000 6291456");
    assert_eq!(set(&receive_buffer(9_000_000), usual), "net.ipv4.tcp_rmem=4096 9000000 18000000");
    let large = "8192\t4000000\t67108864";
    assert_eq!(set(&receive_buffer(1_000_000), large), "net.ipv4.tcp_rmem=8192 4000000 67108864");
    assert_eq!(set(&send_buffer(1_000_000), "4096\t16384\t65536"), "net.ipv4.tcp_wmem=4096 16384 4194304");
    assert_eq!(set(&send_buffer(9_000_000), "4096\t16384\t4194304"), "net.ipv4.tcp_wmem=4096 16384 9000000");
}

#[test]
fn a_route_keeps_what_it_has() {
    let stub = "ip() { if [ \"$1 $2\" = 'route show' ]; then echo 'default via 192.0.2.1 dev eth0 metric 100'; echo 'default via 192.0.2.9'; \
                else echo \"$*\"; fi; }; ";
    let command = format!("{stub}{}", default_route([192, 0, 2, 7].into(), "initcwnd 64"));
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap().trim(),
        "route change default via 192.0.2.1 dev eth0 metric 100 initcwnd 64"
    );
    assert!(
        default_route(std::net::Ipv6Addr::LOCALHOST.into(), "quickack 1").starts_with("ip -6 route change $(ip -6")
    );
}

#[test]
fn a_buffer_is_made_for_the_path_that_was_said() {
    let scene = crate::rules::scene::Scene::flights(&[60_000; 20]);
    let needed = |path_rate| {
        scene.judge(|case| {
            let context = crate::limit::Context { path_rate, ..case.context };
            buffer_for(&TransferCase { context, ..*case }).unwrap()
        })
    };
    // Twice 20 Mbit/s over 100 ms, in steps of 64 KiB.
    let (buffer, why) = needed(Some(20e6));
    assert_eq!(buffer, 524_288);
    assert!(why.starts_with("the path carries 20.0 Mbit/s, as was said"), "{why}");
    let (buffer, why) = needed(None);
    assert_eq!(buffer, 983_040, "eight times what was seen");
    assert!(why.contains("`--path-rate`"), "{why}");
}
