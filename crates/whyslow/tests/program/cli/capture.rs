//! `whyslow capture` through an SSH server that the test starts.

use crate::{Folder, whyslow};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use whyslow_testing::{Lack, skip, tools};

/// A server that is stopped with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn key(folder: &Path, name: &str) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f", name])
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(made.success());
}

/// OpenSSH's server on loopback with keys of its own, and the ssh command that reaches it.
fn sshd(folder: &Path) -> Option<(Server, u16, String)> {
    key(folder, "host");
    key(folder, "user");
    let (at, port) = (folder.display(), free_port());
    let config = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nAuthorizedKeysFile {at}/user.pub\nStrictModes no\nUsePAM no\n\
         PidFile none\nPermitRootLogin yes\n"
    );
    std::fs::write(folder.join("sshd.conf"), config).unwrap();
    let _ = std::fs::create_dir_all("/run/sshd");
    let program = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"]
        .into_iter()
        .find(|path| Path::new(path).exists())?;
    let child = Command::new(program)
        .args(["-D", "-e", "-f"])
        .arg(folder.join("sshd.conf"))
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let server = Server(child);
    let ssh = format!(
        "ssh -i '{at}/user' -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -F /dev/null"
    );
    let since = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if since.elapsed() > Duration::from_secs(10) {
            return None;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Some((server, port, ssh))
}

/// Whether a command of that user may capture there.
fn may_capture(ssh: &str, port: u16) -> bool {
    let words: Vec<String> = shlex(ssh);
    Command::new(&words[0])
        .args(&words[1..])
        .args(["-p", &port.to_string(), "127.0.0.1", "test \"$(id -u)\" = 0 && tcpdump -D >/dev/null"])
        .status()
        .is_ok_and(|status| status.success())
}

/// The words of a command without nested quotation.
fn shlex(text: &str) -> Vec<String> {
    text.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect()
}

#[test]
fn capture_through_ssh_is_explained_without_its_own_connection() {
    if !tools(&["ssh", "ssh-keygen", "tcpdump", "timeout"]) {
        return;
    }
    let folder = Folder::new();
    let at = folder.put("known", b"").parent().unwrap().to_owned();
    let Some((_server, port, ssh)) = sshd(&at) else {
        skip(Lack::Machine, "OpenSSH's sshd cannot be started on loopback");
        return;
    };
    if !may_capture(&ssh, port) {
        skip(Lack::Machine, "capturing through ssh needs root there");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let served = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 64];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(&vec![b'x'; 300_000]);
        }
    });
    // Requests as long as it runs: when tcpdump has begun is not known.
    let until = Instant::now() + Duration::from_secs(12);
    std::thread::spawn(move || {
        while Instant::now() < until {
            if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", served)) {
                let _ = stream.write_all(b"GET / HTTP/1.0\r\n\r\n");
                let _ = std::io::copy(&mut stream, &mut std::io::sink());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let printed = whyslow()
        .args(["capture", "--run", "--for", "4s", "--interface", "lo", "--ssh", &ssh])
        .args(["--filter", &format!("tcp port {served} or tcp port {port}")])
        .arg(format!("ssh://127.0.0.1:{port}"))
        .args(["--", "--brief"])
        .timeout(Duration::from_secs(60))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&printed.stdout);
    assert!(text.contains(&served.to_string()), "{text}{}", String::from_utf8_lossy(&printed.stderr));
    assert!(!text.contains(&format!(":{port}")), "its own connection: {text}");
}

#[test]
fn capture_prints_a_command_and_runs_nothing() {
    let printed = whyslow().args(["capture", "web1", "--port", "443"]).output().unwrap();
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.status.success() && text.starts_with("ssh -- web1 ") && text.ends_with(" | whyslow -\n"), "{text}");
    let wrong = whyslow().args(["capture", "ssh://-oProxyCommand=id"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let ring = whyslow().args(["capture", "local", "--on", "windows", "--run"]).output().unwrap();
    assert!(String::from_utf8(ring.stderr).unwrap().contains("needs a stream"));
}
