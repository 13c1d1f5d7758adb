//! Responds to requests for `/…?size=BYTES`.

use crate::configuration::of_server;
use crate::{Failure, Given};
use bytes::Bytes;
use h3::server::RequestResolver;
use std::net::{Ipv6Addr, TcpListener};
use std::sync::Arc;

pub async fn run(given: Given) -> Result<(), Failure> {
    let address = (Ipv6Addr::UNSPECIFIED, given.port()?).into();
    let endpoint = quinn::Endpoint::server(of_server(&given)?, address)?;
    // The path waits for a listening TCP port.
    let _ready = TcpListener::bind(address)?;
    let given = Arc::new(given);
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(report(connection(incoming, Arc::clone(&given))));
    }
    Ok(())
}

async fn report(work: impl Future<Output = Result<(), Failure>>) {
    if let Err(error) = work.await {
        eprintln!("{error}");
    }
}

async fn connection(incoming: quinn::Incoming, given: Arc<Given>) -> Result<(), Failure> {
    let connection = h3_quinn::Connection::new(incoming.await?);
    let mut connection = h3::server::Connection::<_, Bytes>::new(connection).await?;
    while let Some(request) = connection.accept().await? {
        tokio::spawn(report(respond(request, Arc::clone(&given))));
    }
    Ok(())
}

async fn respond(request: RequestResolver<h3_quinn::Connection, Bytes>, given: Arc<Given>) -> Result<(), Failure> {
    let (request, mut stream) = request.resolve_request().await?;
    while stream.recv_data().await?.is_some() {}
    given.pause("think").await?;
    let query = request.uri().query().unwrap_or_default();
    let size = query.split('&').find_map(|word| word.strip_prefix("size=")).ok_or("no size")?;
    let mut left: usize = size.parse()?;
    let head = http::Response::builder().header("server", "quinn").header("content-length", left);
    stream.send_response(head.body(())?).await?;
    let body = Bytes::from_static(&[0; 65536]);
    let (chunk, stall_after) = (given.count("chunk", 1 << 30)?, given.count("stall_after", 1)?);
    let (mut sent, mut stalled) = (0, given.number("stall", 0.0)? <= 0.0);
    while left > 0 {
        if !stalled && sent >= stall_after {
            stalled = true;
            given.pause("stall").await?;
        }
        let piece = left.min(chunk).min(body.len());
        stream.send_data(body.slice(..piece)).await?;
        left -= piece;
        sent += piece;
        if given.number("every", 0.0)? > 0.0 {
            given.pause("every").await?;
        }
    }
    Ok(stream.finish().await?)
}
