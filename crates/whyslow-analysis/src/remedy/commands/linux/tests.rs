#![allow(clippy::unwrap_used)]
use super::*;
use std::process::Command;

/// The values that the shell's command would set on a host with these buffers.
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
fn route_command_keeps_existing_attributes() {
    let stub = "ip() { if [ \"$1 $2\" = 'route show' ]; then echo 'default via 192.0.2.1 dev eth0 metric 100'; echo 'default via 192.0.2.9'; \
                else echo \"$*\"; fi; }; ";
    let command = format!("{stub}{}", default_route(false, "initcwnd 64"));
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap().trim(),
        "route change default via 192.0.2.1 dev eth0 metric 100 initcwnd 64"
    );
    assert!(default_route(true, "quickack 1").starts_with("ip -6 route change $(ip -6"));
}
