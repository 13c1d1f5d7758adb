//! The rights of an access key.

use crate::client::{Got, ask, put};
use crate::forms::post_file;
use crate::server::{KEY, SECRET, Server};
use whyslow_gateway::front::{Access, AccessKey};

fn server(grants: &[&str]) -> Server {
    let grants = grants.iter().map(|text| text.parse().unwrap()).collect();
    let key = AccessKey { grants, ..AccessKey::new(KEY, SECRET) };
    Server::with(|options| options.access = Access::Keys(vec![key].into()))
}

fn delete(server: &Server, keys: &[&str]) -> Got {
    let objects: String = keys.iter().map(|key| format!("<Object><Key>{key}</Key></Object>")).collect();
    let mut request = ask("POST", "/bucket?delete=");
    request.body = format!("<Delete>{objects}</Delete>").into_bytes();
    request.send(server)
}

#[test]
fn key_does_what_its_grants_allow() {
    let server = server(&["read,list:bucket/public/", "write:bucket/in/"]);
    put("/bucket/in/a", "body").send(&server).ok();
    delete(&server, &["in/a"]).ok();
    // It may be asked for, and is not there.
    ask("GET", "/bucket/public/a").send(&server).is(404, "NoSuchKey");
    ask("GET", "/bucket?list-type=2&prefix=public%2Fa").send(&server).ok();
    ask("GET", "/bucket?location=").send(&server).ok();
    ask("HEAD", "/bucket").send(&server).ok();
}

#[test]
fn everything_else_is_denied() {
    let server = server(&["read,list:bucket/public/", "write:bucket/in/"]);
    put("/bucket/in/a", "body").send(&server).ok();
    let denied = |got: Got| got.is(403, "AccessDenied");
    denied(ask("GET", "/bucket/in/a").send(&server));
    denied(ask("GET", "/bucket/private").send(&server));
    denied(put("/bucket/public/a", "body").send(&server));
    denied(ask("DELETE", "/bucket/public/a").send(&server));
    denied(ask("GET", "/bucket?list-type=2").send(&server));
    denied(ask("GET", "/bucket?list-type=2&prefix=publi").send(&server));
    denied(ask("GET", "/bucket?uploads=").send(&server));
    denied(ask("GET", "/").send(&server));
    denied(ask("PUT", "/other").send(&server));
    denied(ask("DELETE", "/bucket").send(&server));
    denied(ask("GET", "/other?location=").send(&server));
    denied(ask("POST", "/bucket/public/a?uploads=").send(&server));
    denied(delete(&server, &["in/a", "public/a"]));
    // A copy reads its source.
    denied(ask("PUT", "/bucket/in/b").with("x-amz-copy-source", "/bucket/in/a").send(&server));
    ask("PUT", "/bucket/in/b").with("x-amz-copy-source", "/bucket/public/a").send(&server).is(404, "NoSuchKey");
    assert!(server.stored("in/a").exists());
}

#[test]
fn form_needs_the_right_to_write() {
    let server = server(&["write:bucket/in/"]);
    post_file(&server, r#"{"bucket": "bucket", "key": "in/a"}"#).ok();
    assert_eq!(post_file(&server, r#"{"bucket": "bucket", "key": "out"}"#).status, 403);
}

#[test]
fn keys_are_replaced_while_requests_are_served() {
    let access = |secret: &str| vec![AccessKey::new(KEY, secret)].into();
    let Access::Keys(keys) = Access::Keys(access(SECRET)) else { unreachable!() };
    let used = keys.clone();
    let server = Server::with(|options| options.access = Access::Keys(used));
    put("/bucket/a", "body").send(&server).ok();
    keys.replace(&access("another"));
    ask("GET", "/bucket/a").send(&server).is(403, "SignatureDoesNotMatch");
    keys.replace(&access(SECRET));
    ask("GET", "/bucket/a").send(&server).ok();
}
