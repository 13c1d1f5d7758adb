//! A proxy that people run, in place of the lab's own: HAProxy or nginx between the two paths.

use crate::net::Path as NetPath;
use crate::net::config::Host;
use crate::program::{PLACES, Program, is_installed, something_listens};
use crate::scenario::{ProxyProgram, ProxySpec};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The program, and its configuration.
struct Configured {
    program: &'static str,
    arguments: Vec<String>,
    text: String,
}

/// Starts the proxy's program, which listens on this port and passes requests on to the server.
/// Its configuration is kept in the run's folder.
///
/// # Errors
/// If it is not installed, does not listen by then, or is the lab's own, which is not a program.
pub(super) fn start(
    path: &NetPath,
    spec: &ProxySpec,
    server: SocketAddr,
    folder: &Path,
    deadline: Instant,
) -> io::Result<Program> {
    let Some(Configured { program, arguments, text }) = configured(spec, server, folder) else {
        return Err(io::Error::other("the lab's own proxy is no program"));
    };
    if !is_installed(program) {
        let text = format!("{program} is not installed: apt-get install {program}");
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    }
    std::fs::write(folder.join("proxy.cfg"), text)?;
    let log = std::fs::File::create(folder.join("proxy.log"))?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("PATH={PLACES}:$PATH exec \"$0\" \"$@\""), program]).args(arguments);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    let mut running = Program(path.spawn(Host::Proxy, command).map_err(io::Error::other)?);
    loop {
        if path.within(Host::Proxy, || something_listens(Some(server.port()))).map_err(io::Error::other)? {
            return Ok(running);
        }
        if let Some(status) = running.0.try_wait()? {
            let log = std::fs::read_to_string(folder.join("proxy.log")).unwrap_or_default();
            let last = log.lines().last().unwrap_or("no word");
            return Err(io::Error::other(format!("{program} ended ({status}): {last}")));
        }
        if Instant::now() > deadline {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("{program} does not listen")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn configured(spec: &ProxySpec, server: SocketAddr, folder: &Path) -> Option<Configured> {
    let port = server.port();
    match spec.program {
        ProxyProgram::Copy => None,
        ProxyProgram::Haproxy => {
            let (mode, reuse) = if spec.pool { ("http-keep-alive", "always") } else { ("http-server-close", "never") };
            let text = format!(
                "defaults\n mode http\n option {mode}\n timeout connect 10s\n timeout client 300s\n timeout server 300s\n\
                 frontend f\n bind :{port}\n default_backend b\n\
                 backend b\n http-reuse {reuse}\n server s {server} pool-purge-delay 300s\n"
            );
            let file = folder.join("proxy.cfg").display().to_string();
            Some(Configured { program: "haproxy", arguments: vec!["-db".to_owned(), "-f".to_owned(), file], text })
        }
        ProxyProgram::Nginx => {
            let keep = if spec.pool { "keepalive 16; keepalive_timeout 300s;" } else { "" };
            // From nginx's documentation for connections that are kept.
            let asked = if spec.pool { "proxy_http_version 1.1; proxy_set_header Connection \"\";" } else { "" };
            let text = format!(
                "daemon off; master_process off; user root root; pid nginx.pid;\n\
                 events {{}}\n\
                 http {{\n access_log off; keepalive_timeout 300s; keepalive_requests 100000; client_max_body_size 0;\n \
                 client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;\n \
                 upstream b {{ server {server}; {keep} }}\n \
                 server {{ listen {port}; location / {{ proxy_pass http://b; {asked} }} }}\n}}\n"
            );
            let place = folder.display().to_string();
            let arguments = ["-p", &place, "-e", "proxy.log", "-c", "proxy.cfg"].map(str::to_owned).to_vec();
            Some(Configured { program: "nginx", arguments, text })
        }
    }
}

/// Ends the program, and removes its other files, except its configuration and its output.
pub(super) fn end(running: Program, folder: &Path) {
    drop(running);
    for name in ["t1", "t2", "t3", "t4", "t5"] {
        // Only nginx makes them.
        let _ = std::fs::remove_dir_all(folder.join(name));
    }
    let _ = std::fs::remove_file(folder.join("nginx.pid"));
}
