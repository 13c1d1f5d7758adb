//! Requests one after the other.

use crate::configuration::of_client;
use crate::{Failure, Given};
use bytes::{Buf, Bytes};
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

type Requests = h3::client::SendRequest<h3_quinn::OpenStreams, Bytes>;

pub async fn run(given: Given) -> Result<(), Failure> {
    let server: IpAddr = given.text("server").ok_or("no server")?.parse()?;
    let local: IpAddr = if server.is_ipv4() { [0, 0, 0, 0].into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let mut endpoint = quinn::Endpoint::client((local, 0).into())?;
    endpoint.set_default_client_config(of_client(&given)?);
    let connection = endpoint.connect((server, given.port()?).into(), "quic.example")?.await?;
    let (mut driver, mut requests) = h3::client::new(h3_quinn::Connection::new(connection)).await?;
    let driving = tokio::spawn(async move { std::future::poll_fn(|task| driver.poll_close(task)).await });
    for nth in 0..given.count("count", 1)? {
        if nth > 0 {
            given.pause("pause").await?;
        }
        request(&mut requests, &given).await?;
    }
    drop(requests);
    driving.await?;
    endpoint.wait_idle().await;
    Ok(())
}

async fn request(requests: &mut Requests, given: &Given) -> Result<(), Failure> {
    let upload = given.count("upload", 0)?;
    let address = format!("https://quic.example/file?size={}&token=secret", given.count("size", 1000)?);
    let method = if upload > 0 { http::Method::POST } else { http::Method::GET };
    let mut stream = requests.send_request(http::Request::builder().method(method).uri(address).body(())?).await?;
    let mut left = upload;
    let body = Bytes::from_static(&[0; 65536]);
    while left > 0 {
        let piece = left.min(body.len());
        stream.send_data(body.slice(..piece)).await?;
        left -= piece;
    }
    stream.finish().await?;
    stream.recv_response().await?;
    let (rate, start, mut taken) = (given.number("read", 0.0)?, Instant::now(), 0);
    while let Some(piece) = stream.recv_data().await? {
        taken += piece.remaining();
        if rate > 0.0 {
            let due = Duration::from_secs_f64(taken as f64 / rate);
            tokio::time::sleep(due.saturating_sub(start.elapsed())).await;
        }
    }
    Ok(())
}
