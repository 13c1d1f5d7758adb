//! How it ends: by a signal, or killed.

use super::pattern;
use super::running::{Place, answer, ask, head, until};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

#[test]
fn an_upload_that_runs_ends_well() {
    let place = Place::new();
    let mut gateway = place.serve(&[]);
    assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
    let body = pattern(2_000_000, 3);
    let mut upload = TcpStream::connect(gateway.address).unwrap();
    upload.write_all(head("PUT", "/photos/slow", body.len()).as_bytes()).unwrap();
    upload.write_all(&body[..1_000_000]).unwrap();
    // A connection whose request was not read yet is closed at the end.
    until("it is read", || {
        let report: serde_json::Value = serde_json::from_str(&gateway.administration("/stats").1).unwrap();
        report["memory"]["in_use"].as_u64() > Some(0)
    });
    gateway.signal(Signal::TERM);
    until("it takes no more", || TcpStream::connect(gateway.address).is_err());
    let (status, why) = gateway.administration("/ready");
    assert!(status == 503 && why.contains("ending"), "{why}");
    assert_eq!(gateway.administration("/health").0, 200);
    upload.write_all(&body[1_000_000..]).unwrap();
    assert_eq!(answer(&mut upload).unwrap().0, 200);
    assert_eq!(gateway.wait().code(), Some(0), "{}", gateway.stderr());
    let gateway = place.serve(&[]);
    assert!(gateway.ask("GET", "/photos/slow", b"").1 == body);
}

#[test]
fn what_does_not_end_is_cut_and_reported() {
    let place = Place::new();
    let mut gateway = place.serve(&["--drain", "100ms"]);
    assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
    let mut upload = TcpStream::connect(gateway.address).unwrap();
    upload.write_all(head("PUT", "/photos/never", 1_000_000).as_bytes()).unwrap();
    upload.write_all(&[0; 1000]).unwrap();
    // The request is under way as soon as another one, which came later, was answered.
    assert_eq!(gateway.ask("GET", "/photos", b"").0, 200);
    gateway.signal(Signal::INT);
    assert_eq!(gateway.wait().code(), Some(2), "{}", gateway.stderr());
    assert!(gateway.stderr().contains("1 connection cut that had not ended within 100 ms"), "{}", gateway.stderr());
    let gateway = place.serve(&[]);
    assert_eq!(gateway.ask("GET", "/photos/never", b"").0, 404);
}

#[test]
fn killed_in_the_middle_it_loses_and_tears_nothing() {
    let place = Place::new();
    let gateway = place.serve(&[]);
    assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
    let (address, is_over) = (gateway.address, Arc::new(AtomicBool::new(false)));
    let (next, acknowledged) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(BTreeMap::new())));
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let (next, acknowledged, is_over) = (Arc::clone(&next), Arc::clone(&acknowledged), Arc::clone(&is_over));
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    // A hundred keys, each stored again and again.
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let key = number % 100;
                    let body = pattern(1000 + number * 20, number);
                    if let Ok((200, _)) = ask(address, "PUT", &format!("/photos/{key}"), &body) {
                        acknowledged.lock().unwrap().insert(number, key);
                    }
                }
            })
        })
        .collect();
    until("there are many", || acknowledged.lock().unwrap().len() >= 1000);
    assert_eq!(gateway.close_waits(), 0);
    gateway.kill();
    is_over.store(true, Ordering::Relaxed);
    clients.into_iter().for_each(|client| client.join().unwrap());

    let gateway = place.serve(&[]);
    let acknowledged = acknowledged.lock().unwrap();
    let begun = next.load(Ordering::Relaxed);
    for key in 0..100 {
        let (status, body) = gateway.ask("GET", &format!("/photos/{key}"), b"");
        assert_eq!(status, 200, "{key}");
        // It is one that was sent, whole; which of those that ran at once came last is open.
        let number = (body.len() - 1000) / 20;
        assert!(number % 100 == key && number < begun && body == pattern(body.len(), number), "{key}");
        // Eight run at once: no object that was acknowledged eight rounds ago is missing.
        let last = acknowledged.iter().filter(|(_, other)| **other == key).map(|(number, _)| *number).max();
        assert!(last.is_none_or(|last| number + 800 > last), "{key}: {number} after {last:?}");
    }
}

#[test]
fn clients_that_vanish_leave_nothing() {
    let place = Place::new();
    let gateway = place.serve(&[]);
    assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
    for _ in 0..50 {
        let mut upload = TcpStream::connect(gateway.address).unwrap();
        upload.write_all(head("PUT", "/photos/gone", 1_000_000).as_bytes()).unwrap();
        upload.write_all(&[7; 300_000]).unwrap();
    }
    until("no memory is held", || {
        let report: serde_json::Value = serde_json::from_str(&gateway.administration("/stats").1).unwrap();
        report["memory"]["in_use"] == 0 && report["totals"]["requests"].as_u64() >= Some(51)
    });
    until("no socket is in CLOSE_WAIT", || gateway.close_waits() == 0);
    assert_eq!(gateway.ask("GET", "/photos/gone", b"").0, 404);
}
