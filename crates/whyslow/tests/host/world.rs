//! A network namespace with nothing in it but what a test starts there.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use whyslow_testing::{Lack, skip, tools};

/// Runs a shell script in a network namespace of its own whose loopback device is up; the programs
/// that it starts end with it. `$W` is `whyslow host`. `None` if that is not possible here.
#[track_caller]
pub(crate) fn within(folder: &Path, needs: &[&str], script: &str) -> Option<Output> {
    if !tools(&[&["unshare", "ip"], needs].concat()) {
        return None;
    }
    let unshare = |command: &str| {
        let mut unshare = Command::new("unshare");
        // With its own PIDs: the kernel ends all of them with the first one.
        unshare.args(["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]);
        unshare.args(["sh", "-c", command]).current_dir(folder).stdin(Stdio::null());
        unshare.env("W", format!("{} host", env!("CARGO_BIN_EXE_whyslow"))).env_remove("NO_COLOR");
        unshare.output().unwrap()
    };
    let possible = unshare("ip link set lo up");
    if !possible.status.success() {
        skip(Lack::Machine, String::from_utf8_lossy(&possible.stderr));
        return None;
    }
    Some(unshare(&format!("ip link set lo up; {script}")))
}

/// The same, for the JSON that the script prints.
#[track_caller]
pub(crate) fn json_within(needs: &[&str], script: &str) -> Option<serde_json::Value> {
    let folder = folder();
    let output = within(folder.path(), needs, script)?;
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    Some(crate::checked(&String::from_utf8(output.stdout).unwrap()))
}

/// A folder with nginx's configuration and the programs of the tests.
pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("nginx.conf", NGINX);
    write("holds.py", HOLDS);
    write("accepts_none.py", ACCEPTS_NONE);
    write("many.py", MANY);
    std::fs::write(folder.path().join("small"), vec![b'x'; 1_000]).unwrap();
    folder
}

/// Closes idle connections after a second.
const NGINX: &str = "user root; daemon off; master_process off; pid nginx.pid; error_log stderr;
    events {}
    http { access_log off; keepalive_timeout 1s; client_max_body_size 0; client_body_buffer_size 8m;
    client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
    server { listen 0.0.0.0:8080; root .; location /put { proxy_pass http://127.0.0.1:8081/; } }
    server { listen 127.0.0.1:8081; location / { return 200 ok; } } }
";

/// Asks once on each of three connections and closes none.
const HOLDS: &str = "
import socket, time
held = [socket.create_connection(('127.0.0.1', 8080)) for _ in range(3)]
for one in held:
    one.sendall(b'GET /small HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')
    one.recv(65536)
time.sleep(60)
";

/// Listens, and never accepts.
const ACCEPTS_NONE: &str = "
import socket, time
listener = socket.socket()
listener.bind(('127.0.0.1', 9000))
listener.listen(2)
open('ready', 'w').close()
time.sleep(60)
";

/// A thousand connections with a hundred addresses.
const MANY: &str = "
import resource, socket, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
listener = socket.socket()
listener.bind(('0.0.0.0', 9000))
listener.listen(4096)
held = []
for index in range(1000):
    one = socket.create_connection((f'127.0.1.{index % 100 + 1}', 9000))
    held += [one, listener.accept()[0]]
open('ready', 'w').close()
time.sleep(60)
";

/// Waits until a program has made the file `ready`.
pub(crate) const UNTIL_READY: &str = "for i in $(seq 300); do [ -e ready ] && break; sleep 0.1; done;";

/// Starts nginx and waits until it listens.
pub(crate) const START_NGINX: &str = "nginx -p . -c nginx.conf -e stderr & 
    for i in $(seq 200); do curl -so /dev/null http://127.0.0.1:8080/small && break; sleep 0.05; done;";
