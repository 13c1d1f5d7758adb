#![allow(clippy::unwrap_used)]
use super::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

#[test]
fn reads_a_live_socket() {
    let (mut client, mut server) = pair();
    client.write_all(&[7; 5000]).unwrap();
    let mut first = [0; 1000];
    server.read_exact(&mut first).unwrap();
    let row = read(server.as_fd()).unwrap();
    let value = |name: &str| row.v[position(name).unwrap()];
    assert_eq!(value("state"), Some(1));
    assert_eq!(value("bytes_received"), Some(5000));
    assert_eq!(value("inq"), Some(4000));
    assert!(value("rcvbuf").unwrap() > 0);
    assert!(value("rcv_ssthresh").unwrap() > 0);
}

#[test]
fn an_older_kernel_gives_nulls_not_zeros() {
    let mut raw = Raw { info: [0; INFO_SPACE], info_len: 104, mem: [0; 9], mem_len: 2, inq: None, outq: Some(3) };
    raw.info[80..84].copy_from_slice(&10_u32.to_ne_bytes());
    assert_eq!(raw.value(Source::U32(80)), Some(10));
    assert_eq!(raw.value(Source::U64(104)), None, "past the length that the kernel returned");
    assert_eq!(raw.value(Source::U64(100)), None, "half in, half out");
    assert_eq!(raw.value(Source::Mem(2)), None);
    assert_eq!(raw.value(Source::InQueue), None);
    assert_eq!(raw.value(Source::OutQueue), Some(3));
}

#[test]
fn the_last_state_is_kept_and_the_connection_still_closes() {
    let (mut client, mut server) = pair();
    let sampler = Sampler::start(Duration::from_millis(1));
    let handle = sampler.watch(&client).unwrap();
    client.write_all(&[1; 3000]).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    handle.close();
    drop(client);
    let mut all = Vec::new();
    // Would hang if the sampler's duplicate kept the socket open.
    server.read_to_end(&mut all).unwrap();
    assert_eq!(all.len(), 3000);
    let (series, accuracy) = sampler.finish();
    assert_eq!(series.len(), 1);
    assert_eq!(series[0].last("bytes_acked"), Some(3001), "payload and the SYN");
    assert!(series[0].rows.windows(2).all(|w| w[0].v != w[1].v && w[0].t <= w[1].t));
    assert!(accuracy.rounds > 2);
}
