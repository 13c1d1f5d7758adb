//! HTTP/3 programs over quinn, with the arguments of crates/whyslow-lab/src/real/quic.py.
//!
//! ```text
//! quinn-program serve|get KEY=VALUE...
//! ```
//!
//! serve: think=SECONDS, chunk=BYTES every=SECONDS, stall=SECONDS `stall_after=BYTES`.
//! get:   server=ADDRESS, size=BYTES, upload=BYTES, count=REQUESTS, pause=SECONDS, read=BYTES per
//!        second.
//! Both:  window=BYTES, `stream_window=BYTES` (both fixed), keys=FILE, port=PORT, congestion=cubic|bbr.
//!        Its qlog has no packets, so that it writes none.

mod client;
mod configuration;
mod server;

use std::collections::HashMap;
use std::time::Duration;

/// What any step may fail with.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The arguments.
struct Given(HashMap<String, String>);

impl Given {
    fn read() -> Result<Self, Failure> {
        let mut given = HashMap::new();
        for word in std::env::args().skip(2) {
            let (name, value) = word.split_once('=').ok_or(format!("{word} is not KEY=VALUE"))?;
            given.insert(name.to_owned(), value.to_owned());
        }
        Ok(Self(given))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn number(&self, name: &str, otherwise: f64) -> Result<f64, Failure> {
        let word = self.text(name);
        word.map_or(Ok(otherwise), |word| word.parse().map_err(|_| format!("{name}: {word} is no number").into()))
    }

    fn count(&self, name: &str, otherwise: usize) -> Result<usize, Failure> {
        Ok(self.number(name, otherwise as f64)? as usize)
    }

    fn port(&self) -> Result<u16, Failure> {
        Ok(u16::try_from(self.count("port", 4433)?)?)
    }

    async fn pause(&self, name: &str) -> Result<(), Failure> {
        tokio::time::sleep(Duration::from_secs_f64(self.number(name, 0.0)?)).await;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let given = Given::read()?;
    match std::env::args().nth(1).as_deref() {
        Some("serve") => server::run(given).await,
        Some("get") => client::run(given).await,
        _ => Err("serve or get, and its arguments".into()),
    }
}
