//! Servers for tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Got {
    pub line: String,
    pub fields: Vec<String>,
    pub body: Vec<u8>,
    /// Which connection of the server.
    pub connection: usize,
}

impl Got {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find_map(|field| {
            let (key, value) = field.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// A server on the loopback device that answers each request as configured.
pub(crate) struct Server {
    pub address: SocketAddr,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Server {
    /// Starts it; it ends with the tests.
    pub(crate) fn start(answer: impl Fn(&Got, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (got, answer) = (Arc::<Mutex<Vec<Got>>>::default(), Arc::new(answer));
        let all = Arc::clone(&got);
        std::thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                let (all, answer) = (Arc::clone(&all), Arc::clone(&answer));
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    while let Some(got) = read(&mut reader, connection) {
                        all.lock().unwrap().push(got.clone());
                        answer(&got, &mut stream);
                    }
                });
            }
        });
        Self { address, got }
    }

    /// A server that answers with this many bytes.
    pub(crate) fn of_bytes(count: usize) -> Self {
        Self::start(move |_, stream| respond(stream, "200 OK", &vec![b'x'; count]))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }
}

/// Answers with a body.
pub(crate) fn respond(stream: &mut TcpStream, status: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

fn read(reader: &mut BufReader<TcpStream>, connection: usize) -> Option<Got> {
    let mut line = String::new();
    let mut next = || {
        line.clear();
        (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
    };
    let mut got = Got { line: next()?, connection, ..Got::default() };
    loop {
        let field = next()?;
        if field.is_empty() {
            break;
        }
        got.fields.push(field);
    }
    let length = got.field("content-length").map_or(0, |length| length.parse().unwrap());
    got.body.resize(length, 0);
    reader.read_exact(&mut got.body).ok()?;
    Some(got)
}

/// nginx with TLS 1.3 and HTTP/2, in a folder with its certificate.
pub(crate) struct Nginx {
    child: Child,
    pub folder: TempDir,
    pub port: u16,
}

impl Nginx {
    /// Starts it on the loopback device, if it is installed; `/` leads to a server behind it.
    pub(crate) fn start(behind: SocketAddr) -> Option<Self> {
        Self::start_with(behind, certificate, "")
    }

    /// The same with another certificate, and more lines of its configuration.
    pub(crate) fn start_with(behind: SocketAddr, certificate: fn(&std::path::Path), lines: &str) -> Option<Self> {
        if !whyslow_testing::tools(&["nginx"]) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        certificate(folder.path());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = configuration(&format!(
            "server {{ listen 127.0.0.1:{port} ssl http2; ssl_protocols TLSv1.3; ssl_certificate cert.pem;
             ssl_certificate_key key.pem; {lines} location / {{ proxy_pass http://{behind}; }} }}"
        ));
        std::fs::write(folder.path().join("nginx.conf"), config).unwrap();
        let child = Command::new("nginx")
            .arg("-p")
            .arg(folder.path())
            .arg("-c")
            .arg(folder.path().join("nginx.conf"))
            .args(["-e", "stderr"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut nginx = Self { child, folder, port };
        for _ in 0..500 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(nginx);
            }
            assert!(nginx.child.try_wait().unwrap().is_none(), "nginx has ended");
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("nginx does not listen");
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    /// Arguments that trust it, and find it.
    pub(crate) fn trust(&self) -> [String; 4] {
        let authority = self.folder.path().join("cert.pem").display().to_string();
        ["--cacert".to_owned(), authority, "--resolve".to_owned(), format!("localhost:{}:127.0.0.1", self.port)]
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A configuration of these servers, all files in the folder.
pub(crate) fn configuration(servers: &str) -> String {
    format!(
        "daemon off; master_process off; pid nginx.pid; error_log stderr;
         events {{}}
         http {{ access_log off; client_max_body_size 0; client_body_buffer_size 8m;
         client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
         {servers} }}\n"
    )
}

/// A certificate for localhost, and its key.
pub(crate) fn certificate(folder: &std::path::Path) {
    let key = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), key.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), key.signing_key.serialize_pem()).unwrap();
}

/// As `openssl req -x509` makes them: it is marked as an authority.
pub(crate) fn self_signed_authority(folder: &std::path::Path) {
    let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    std::fs::write(folder.join("cert.pem"), parameters.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
}
