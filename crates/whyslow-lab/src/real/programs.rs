//! How to start each program: its command line, its files, and the port that shows that it is
//! ready.
//!
//! A configuration changes only what its scenario is about. Everything that a program writes lies
//! in the run's folder, `$DIR`, and is removed with it. A program needs nothing that another
//! program on this machine holds.

pub(crate) mod services;

/// Programs as people write them, in a language that every distribution has.
const OWN: &str = include_str!("own.py");

/// A server or a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    /// For `sh -c`, with `$SERVER`, `$CLIENT` and `$DIR`.
    pub line: String,
    /// Files in `$DIR` before either starts; `{DIR}` in them is that folder.
    pub files: Vec<(&'static str, String)>,
    /// Commands that must be installed.
    pub needs: Vec<&'static str>,
    /// Python modules of the system that must be installed.
    pub modules: Vec<&'static str>,
    /// The port on which it listens.
    pub port: u16,
    /// It takes the machine's own root.
    pub takes_root: bool,
    /// How the words of a fix change it.
    pub fix_edits: Vec<FixEdit>,
}

/// How this program applies a fix that concerns its own settings.
#[derive(Clone, Debug)]
pub(crate) struct FixEdit {
    /// If the fix mentions this, …
    pub named: &'static str,
    /// … this text in its command line and its files …
    text: String,
    /// … is replaced by this; `{B}` in it is the first number of bytes in the fix.
    instead: String,
}

impl Program {
    /// A program without files.
    pub(crate) fn client(program: &'static str, line: impl Into<String>) -> Self {
        Self { line: line.into(), needs: vec![program], ..Self::default() }
    }

    /// Adds a file.
    pub(crate) fn with_file(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.files.push((name, text.into()));
        self
    }

    /// If a fix names this, `text` of its line or its files is the affected setting, and `instead`
    /// the fixed one.
    pub(crate) fn fix_edits(
        mut self,
        named: &'static str,
        text: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        self.fix_edits.push(FixEdit { named, text: text.into(), instead: instead.into() });
        self
    }

    /// Applies the words of a fix to its settings. Returns whether any applied.
    pub(crate) fn apply_fix(&mut self, words: &str) -> bool {
        let mut is_changed = false;
        for FixEdit { named, text, instead } in self.fix_edits.clone() {
            if !words.contains(named) {
                continue;
            }
            let instead = instead.replace("{B}", &bytes_in(words).unwrap_or_default());
            for place in std::iter::once(&mut self.line).chain(self.files.iter_mut().map(|(_, text)| text)) {
                is_changed |= place.contains(&text);
                *place = place.replace(&text, &instead);
            }
        }
        is_changed
    }

    /// Starts another program in the background first.
    pub(crate) fn after(mut self, other: Self) -> Self {
        self.line = format!("{}\n{}", other.line, self.line);
        self.files.extend(other.files);
        self.needs.extend(other.needs);
        self.modules.extend(other.modules);
        self.takes_root |= other.takes_root;
        self.fix_edits.extend(other.fix_edits);
        self
    }
}

/// The first number of bytes that is named: `1,234 B`.
fn bytes_in(words: &str) -> Option<String> {
    let mut pairs = words.split_whitespace().zip(words.split_whitespace().skip(1));
    let (number, _) = pairs.find(|(number, unit)| *unit == "B" && number.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(number.replace(',', ""))
}

/// Adds a file of this size below the folder that servers publish.
pub(crate) fn file(name: &str, size: f64) -> String {
    format!("mkdir -p www && truncate -s {size:.0} www/{name}")
}

/// nginx with these files and directives; `listen` is the argument of `listen`.
pub(crate) fn nginx(files: &str, listen: &str, server: &str) -> Program {
    // A server block's own directives are the scenario's; without a master process it changes to
    // no user, and root is one that every namespace has.
    let text = format!(
        "daemon off; master_process off; user root root; pid nginx.pid;\n\
         events {{}}\n\
         http {{\n\
         access_log off; default_type application/octet-stream; sendfile on; tcp_nodelay on; keepalive_requests 10000;\n\
         client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;\n\
         server {{ listen {listen}; root {{DIR}}/www; {server} }}\n\
         }}\n"
    );
    let port = if listen.contains("443") { 443 } else { 80 };
    Program {
        line: format!("{files}\nexec nginx -p \"$DIR\" -e error.log -c nginx.conf"),
        files: vec![("nginx.conf", text)],
        needs: vec!["nginx"],
        port,
        ..Program::default()
    }
}

/// [`nginx`] with TLS, and a certificate that is made for this run; `protocol` is "" or "http2".
pub(crate) fn nginx_tls(files: &str, protocol: &str, server: &str) -> Program {
    let files = format!(
        "{files}\nopenssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=server.example \
         -keyout key.pem -out cert.pem"
    );
    let server = format!("ssl_certificate cert.pem; ssl_certificate_key key.pem; {server}");
    let mut program = nginx(&files, &format!("443 ssl {protocol}"), &server);
    program.needs.push("openssl");
    program
}

/// HAProxy in front of a server on this host's port 8081.
pub(crate) fn haproxy() -> Program {
    let text = "defaults\n mode http\n timeout connect 10s\n timeout client 60s\n timeout server 60s\n\
                frontend f\n bind :80\n default_backend b\n\
                backend b\n server s 127.0.0.1:8081\n";
    Program {
        line: "exec haproxy -db -f haproxy.cfg".to_owned(),
        files: vec![("haproxy.cfg", text.to_owned())],
        needs: vec!["haproxy"],
        port: 80,
        ..Program::default()
    }
}

/// One of the small programs of [`OWN`].
pub(crate) fn own(what: &str) -> Program {
    Program {
        line: format!("exec python3 own.py {what}"),
        files: vec![("own.py", OWN.to_owned())],
        needs: vec!["python3"],
        port: 5001,
        ..Program::default()
    }
}

/// The same with a backend that is started first.
pub(crate) fn own_with_backend(what: &str) -> Program {
    let program = own(what);
    let line = format!("python3 own.py {what} &\nsleep 0.5");
    Program { line, ..program }
}

/// An OpenSSH server that lets root in by a key that is made for this run.
pub(crate) fn sshd(files: &str) -> Program {
    let config = "Port 22\nHostKey {DIR}/host\nAuthorizedKeysFile {DIR}/user.pub\nStrictModes no\nUsePAM no\nPidFile none\n\
                  PermitRootLogin yes\nSubsystem sftp internal-sftp\n";
    let line = format!(
        "{files}\nmkdir -p /run/sshd\nssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user\n\
         exec \"$(command -v sshd)\" -D -e -f sshd.conf"
    );
    Program {
        line,
        files: vec![("sshd.conf", config.to_owned())],
        needs: vec!["sshd", "ssh-keygen"],
        port: 22,
        takes_root: true,
        ..Program::default()
    }
}

/// Options that make ssh, scp and sftp trust an unknown server.
pub(crate) const SSH: &str =
    "-i user -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=known -o LogLevel=ERROR";

/// rsync's own server, with one module that all users may read and write.
pub(crate) fn rsyncd(files: &str) -> Program {
    let text = "use chroot = no\nport = 873\n[www]\n path = {DIR}/www\n read only = no\n list = yes\n\
                uid = root\n gid = root\n";
    Program {
        line: format!("mkdir -p www\n{files}\nexec rsync --daemon --no-detach --config=rsyncd.conf"),
        files: vec![("rsyncd.conf", text.to_owned())],
        needs: vec!["rsync"],
        port: 873,
        takes_root: true,
        ..Program::default()
    }
}

/// A database of its own. Its memory is in a namespace that goes with it, since it may be ended at
/// any time.
pub(crate) fn postgres() -> Program {
    let line = "PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH\n\
                mkdir pg && chown postgres pg && chmod 711 .\n\
                exec unshare --ipc setpriv --reuid=postgres --regid=postgres --clear-groups sh -c '\n\
                initdb -D pg -A trust --no-sync --locale=C >/dev/null && echo host all all all trust >>pg/pg_hba.conf &&\n\
                exec postgres -D pg -c fsync=off -c dynamic_shared_memory_type=mmap -c unix_socket_directories= -c listen_addresses=\"*\" \
                -c autovacuum=off'";
    Program {
        line: line.to_owned(),
        needs: vec!["initdb", "setpriv", "unshare"],
        port: 5432,
        takes_root: true,
        ..Program::default()
    }
}

/// psql that runs these statements one by one.
pub(crate) fn psql(statements: &str) -> Program {
    Program::client(
        "psql",
        "exec psql -q -h \"$SERVER\" -U postgres -d postgres -v ON_ERROR_STOP=1 -o /dev/null -f statements.sql",
    )
    .with_file("statements.sql", statements)
}

/// Redis that keeps everything in memory.
pub(crate) fn redis() -> Program {
    Program {
        line: "exec redis-server --port 6379 --bind 0.0.0.0 --protected-mode no --save '' --appendonly no".to_owned(),
        needs: vec!["redis-server"],
        port: 6379,
        ..Program::default()
    }
}

/// git's own server, with one repository of this size that does not compress.
pub(crate) fn git_daemon(size: f64) -> Program {
    let line = format!(
        "export HOME=$DIR GIT_CONFIG_NOSYSTEM=1\n\
         git init -q repo && head -c {size:.0} /dev/urandom >repo/data && git -C repo add data &&\n\
         git -C repo -c user.name=lab -c user.email=lab@example.org commit -q -m data\n\
         git config --global safe.directory '*'\n\
         exec git daemon --export-all --base-path=\"$DIR\" --port=9418 \"$DIR\""
    );
    Program { line, needs: vec!["git"], port: 9418, ..Program::default() }
}

/// iperf3 for one test.
pub(crate) fn iperf3_server() -> Program {
    Program { line: "exec iperf3 -s -1".to_owned(), needs: vec!["iperf3"], port: 5201, ..Program::default() }
}
