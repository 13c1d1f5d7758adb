//! Compares decrypted data with the data that programs sent: OpenSSL, Python and curl with nginx.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use whyslow_analysis::types::{Frame, Side};
use whyslow_core::capture::{Packet, Reader, Sink};
use whyslow_core::tls::{KeyLog, KeyRing};
use whyslow_core::tls::{Opened, PlaintextSink, Sent, Session};
use whyslow_core::wire::{self, Flags};
use whyslow_units::SeqNumber;

/// A connection: its session, the initial sequence number of each side, and its plaintext.
struct Connection {
    session: Session,
    origins: [Option<SeqNumber>; 2],
    text: Plaintext,
}

#[derive(Default)]
struct Plaintext([Vec<u8>; 2]);

impl PlaintextSink for Plaintext {
    fn opened(&mut self, record: &Opened<'_>) {
        self.0[record.from].extend_from_slice(record.data.unwrap_or_default());
    }
}

/// Decrypts all connections of a capture.
struct Decrypt {
    ring: KeyRing,
    connections: HashMap<[u16; 2], Connection>,
    order: Vec<[u16; 2]>,
}

impl Sink for Decrypt {
    fn packet(&mut self, packet: &Packet<'_>) {
        let Ok(segment) = wire::decode(packet) else { return };
        let ports = [segment.src_port, segment.dst_port];
        let (key, from) = if ports[0] > ports[1] { (ports, Side::A) } else { ([ports[1], ports[0]], Side::B) };
        let ring = &self.ring;
        let order = &mut self.order;
        let connection = self.connections.entry(key).or_insert_with(|| {
            order.push(key);
            Connection { session: Session::new(ring.clone()), origins: [None; 2], text: Plaintext::default() }
        });
        if segment.flags.has(Flags::SYN) {
            connection.origins[from] = Some(segment.seq);
        }
        let (Some(origin), true) = (connection.origins[from], segment.payload_len > 0) else { return };
        let start = u64::from(segment.seq.0.wrapping_sub(origin.0));
        let frame = Frame { file: None, number: packet.frame };
        let len = u64::from(segment.payload_len);
        let sent = Sent { from, start, bytes: segment.payload, len, time: packet.time, frame };
        connection.session.push(&sent, &mut connection.text);
    }

    fn key_log(&mut self, lines: &[u8], next_frame: u64) {
        self.ring.read_block(lines, Frame { file: None, number: next_frame });
    }
}

/// The plaintext of each connection, in the order of first packets.
fn decrypt(capture: &[u8], keys: &[u8]) -> Vec<[Vec<u8>; 2]> {
    let ring = KeyRing::from(Arc::new(KeyLog::new(keys)));
    let mut sink = Decrypt { ring, connections: HashMap::new(), order: Vec::new() };
    let mut reader = Reader::new();
    reader.push(capture, &mut sink).unwrap();
    reader.finish(&mut sink).unwrap();
    let Decrypt { mut connections, order, .. } = sink;
    order.iter().map(|key| connections.remove(key).unwrap().text.0).collect()
}

#[test]
fn captures_with_secrets_are_decrypted() {
    for (name, body) in [("http1-tls12", 6_000), ("http1-tls13", 6_000), ("http2-tls13", 6_000)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/keys/{name}.pcapng"));
        let found = decrypt(&std::fs::read(path).unwrap(), b"");
        let [request, response] = &found[0];
        let is_http2 = name.starts_with("http2");
        assert!(request.starts_with(if is_http2 { b"PRI * HTTP/2.0" } else { b"GET /six.bin?t" }), "{name}");
        assert!(response.len() > body, "{name}");
    }
}

/// Runs a script in its own network and captures it: the plaintext of its connections. Prints a
/// message and returns `None` if that is not possible here.
fn recorded(tools: &[&str], script: &str) -> Option<(tempfile::TempDir, Vec<[Vec<u8>; 2]>)> {
    let all: Vec<&str> = tools.iter().copied().chain(["unshare", "ip", "tcpdump", "openssl"]).collect();
    if !whyslow_testing::tools(&all) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let around = format!(
        "ip link set lo up; openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost 2>/dev/null
         head -c 300000 /dev/urandom > sent
         tcpdump -i lo -U --immediate-mode -B 65536 -s 0 -Z root -w packets.pcap tcp 2>log & capture=$!
         until grep -q listening log; do sleep 0.1; done
         {script}
         sleep 1; kill $capture; wait $capture || true"
    );
    let mut command = Command::new("unshare");
    command.args(["-n", "sh", "-c", &around]).current_dir(folder.path());
    let output = command.output().unwrap();
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap_or_default();
    let packets = read("packets.pcap");
    if packets.is_empty() {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        whyslow_testing::skip(whyslow_testing::Lack::Device, format!("nothing can be captured here: {error}"));
        return None;
    }
    let found = decrypt(&packets, &read("keys"));
    Some((folder, found))
}

/// Whether the found data is the sent data without its start: a busy machine may miss packets.
fn ends_with(found: &[u8], sent: &[u8]) -> bool {
    found.len() >= sent.len() && found.ends_with(sent)
}

const SUITES: [(&str, &str); 5] = [
    ("-tls1_3", "-ciphersuites TLS_AES_128_GCM_SHA256"),
    ("-tls1_3", "-ciphersuites TLS_AES_256_GCM_SHA384"),
    ("-tls1_3", "-ciphersuites TLS_CHACHA20_POLY1305_SHA256"),
    ("-tls1_2", "-cipher ECDHE-RSA-AES128-GCM-SHA256"),
    ("-tls1_2", "-cipher ECDHE-RSA-CHACHA20-POLY1305"),
];

#[test]
fn plaintext_agrees_with_openssl() {
    for (version, suite) in SUITES {
        let script = format!(
            "(cat sent; sleep 5) | openssl s_server -accept 4433 -cert cert.pem -key key.pem -quiet {version} > received & server=$!
             sleep 1
             (head -c 20000 sent; sleep 2) | openssl s_client -connect 127.0.0.1:4433 {version} {suite} -keylogfile keys -quiet > got 2>/dev/null
             kill $server"
        );
        let Some((folder, found)) = recorded(&[], &script) else { return };
        let sent = std::fs::read(folder.path().join("sent")).unwrap();
        let [client, server] = &found[0];
        assert!(client.as_slice() == &sent[..20_000], "{suite}: {} bytes from the client", client.len());
        assert!(sent == *server, "{suite}: {} bytes from the server", server.len());
    }
}

#[test]
fn plaintext_agrees_with_python() {
    let script = r#"cat > talk.py <<'END'
import socket, ssl, threading
sent = open('sent', 'rb').read()
server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain('cert.pem', 'key.pem')
listener = socket.create_server(('127.0.0.1', 4433))
def serve():
    peer = server.wrap_socket(listener.accept()[0], server_side=True)
    peer.recv(100)
    peer.sendall(sent)
    peer.recv(100)
threading.Thread(target=serve, daemon=True).start()
client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
client.keylog_filename = 'keys'
peer = client.wrap_socket(socket.create_connection(('127.0.0.1', 4433)))
peer.sendall(b'send it')
got = b''
while len(got) < len(sent):
    got += peer.recv(65536)
peer.sendall(b'thanks')
END
python3 talk.py"#;
    let Some((folder, found)) = recorded(&["python3"], script) else { return };
    let sent = std::fs::read(folder.path().join("sent")).unwrap();
    assert_eq!(found[0][0], b"send itthanks");
    assert!(found[0][1] == sent, "{} bytes from the server", found[0][1].len());
}

#[test]
fn plaintext_agrees_with_nginx_and_curl() {
    let script = r#"mkdir www; cp sent www/file
cat > nginx.conf <<END
daemon off; master_process off; pid $PWD/pid; error_log $PWD/error.log; user root;
events {}
http { access_log off; client_body_temp_path $PWD/t1; proxy_temp_path $PWD/t2; fastcgi_temp_path $PWD/t3; uwsgi_temp_path $PWD/t4; scgi_temp_path $PWD/t5;
 server { listen 127.0.0.1:4433 ssl; ssl_certificate $PWD/cert.pem; ssl_certificate_key $PWD/key.pem; root $PWD/www; } }
END
nginx -c $PWD/nginx.conf -p $PWD & server=$!
sleep 1
for version in 1.2 1.3; do SSLKEYLOGFILE=keys curl -sk --http1.1 --tls-max $version -o got https://127.0.0.1:4433/file; done
kill $server"#;
    let Some((folder, found)) = recorded(&["curl", "nginx"], script) else { return };
    let sent = std::fs::read(folder.path().join("sent")).unwrap();
    assert_eq!(found.len(), 2);
    for [request, response] in found {
        assert!(request.starts_with(b"GET /file HTTP/1.1\r\n"));
        assert!(ends_with(&response, &sent), "{} bytes from the server", response.len());
    }
}
