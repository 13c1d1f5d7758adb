//! OpenSSH, rsync and git.

use super::super::programs::{self, Program, SSH};
use super::drawn::{DrawnRun, full, open, towards_the_server, wide};
use crate::draws::{Chance, set, verify};

fn client(program: &'static str, line: impl Into<String>) -> Program {
    Program::client(program, line)
}

pub(super) fn cat_far(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.12, 0.2));
    // Windows that would carry more, and a kernel that reports that it had nothing to send.
    all.extend([
        set("client.tcp_rmem", r#"["4KiB", "4MiB", "32MiB"]"#),
        set("client.initrwnd", "2000"),
        set("server.tcp_wmem", r#"["4KiB", "1MiB", "16MiB"]"#),
        verify(&[
            "server.rwnd_limited <= 10%",
            "server.retransmitted <= 0",
            "server.max_in_flight <= 2400kB",
            "server.app_limited >= 30%",
            "server.max_cwnd >= 1600",
        ]),
    ]);
    let server = programs::sshd(&programs::file("file", chance.between(45e6, 60e6)));
    DrawnRun {
        settings: all,
        server,
        client: client("ssh", format!("exec ssh {SSH} root@$SERVER \"cat $DIR/www/file\" >/dev/null")),
    }
}

pub(super) fn cat_narrow(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    let server = programs::sshd(&programs::file("file", size));
    DrawnRun {
        settings,
        server,
        client: client("ssh", format!("exec ssh {SSH} root@$SERVER \"cat $DIR/www/file\" >/dev/null")),
    }
}

pub(super) fn scp_narrow(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    let server = programs::sshd(&programs::file("file", size));
    DrawnRun { settings, server, client: client("scp", format!("exec scp -q {SSH} root@$SERVER:$DIR/www/file got")) }
}

pub(super) fn scp_upload(chance: &mut Chance) -> DrawnRun {
    let (mut settings, _, size) = full(chance, "up");
    settings.push(towards_the_server());
    let line = format!("truncate -s {size:.0} body\nexec scp -q {SSH} body root@$SERVER:$DIR/received");
    DrawnRun { settings, server: programs::sshd(""), client: client("scp", line) }
}

pub(super) fn sftp_one(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.06, 0.14));
    all.extend(open("client"));
    all.push(verify(&["server.rwnd_limited <= 10%", "server.retransmitted <= 0", "server.max_in_flight <= 400kB"]));
    // A request has the size that the server allows: 255 KiB.
    let server = programs::sshd(&programs::file("file", f64::from(chance.whole(35, 50)) * 261_120.0));
    let line = format!("exec sftp -q -R 1 {SSH} root@$SERVER:$DIR/www/file got");
    DrawnRun { settings: all, server, client: client("sftp", line).fix_edits("outstanding reads", "-R 1 ", "") }
}

pub(super) fn typing(chance: &mut Chance) -> DrawnRun {
    let mut all = wide(chance.between(0.01, 0.06));
    all.push(verify(&["server.retransmitted <= 0", "span >= 4s"]));
    let pauses: Vec<String> = (0..4).map(|_| format!("{:.2}", chance.between(0.7, 1.6))).collect();
    let line = format!(
        "(for pause in {}; do echo 'ls /usr | head -n 5'; sleep $pause; done) | ssh -T {SSH} root@$SERVER sh >/dev/null",
        pauses.join(" ")
    );
    DrawnRun { settings: all, server: programs::sshd(""), client: client("ssh", line) }
}

pub(super) fn rsync_narrow(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    let server = programs::rsyncd(&programs::file("file", size));
    DrawnRun { settings, server, client: client("rsync", "exec rsync -W rsync://$SERVER/www/file got") }
}

pub(super) fn rsync_upload(chance: &mut Chance) -> DrawnRun {
    let (mut settings, _, size) = full(chance, "up");
    settings.push(towards_the_server());
    let line = format!("truncate -s {size:.0} body\nexec rsync -W body rsync://$SERVER/www/received");
    DrawnRun { settings, server: programs::rsyncd(""), client: client("rsync", line) }
}

pub(super) fn git_narrow(chance: &mut Chance) -> DrawnRun {
    let (settings, _, size) = full(chance, "down");
    let line = "export HOME=$DIR GIT_CONFIG_NOSYSTEM=1\nexec git clone -q git://$SERVER/repo got";
    DrawnRun { settings, server: programs::git_daemon(size), client: client("git", line) }
}
