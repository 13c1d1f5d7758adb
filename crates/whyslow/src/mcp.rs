//! `whyslow mcp`: the server for assistants.

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use whyslow_cli::language;
use whyslow_cli::output::{complain, notify};
use whyslow_mcp::{Allowed, Folders, HttpServer, Settings, Token, serve_stdio};
use whyslow_report::words::Lang;

/// The variable that holds the token.
const TOKEN: &str = "WHYSLOW_MCP_TOKEN";

/// What the server may read and do.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "A client starts it and talks to it on standard input and output; docs/mcp.md has the settings of usual \
clients.\nWith --http clients send `Authorization: Bearer TOKEN`; the token is printed on standard error, or taken from \
WHYSLOW_MCP_TOKEN."
)]
pub(crate) struct Mcp {
    /// Read captures in this folder alone; may be given more than once [default: the current
    /// folder].
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: Vec<PathBuf>,

    /// Serve streamable HTTP instead, on this loopback address [default: 127.0.0.1 and any free
    /// port].
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0", value_parser = address)]
    http: Option<SocketAddr>,

    /// Turn on tools that look at more than captures: `host` (the state of this machine) and
    /// `probe` (requests to any address).
    #[arg(long, value_name = "TOOLS", value_enum, value_delimiter = ',')]
    allow: Vec<Tool>,

    /// Language of the sentences: en or zh [default: by LC_ALL, LC_MESSAGES or LANG].
    #[arg(long, value_name = "LANGUAGE", value_parser = language::parse)]
    lang: Option<Lang>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tool {
    Host,
    Probe,
}

/// `ADDR:PORT`, or a port of 127.0.0.1 alone.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.strip_prefix("localhost:").unwrap_or(text).parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let address: SocketAddr = text.parse().map_err(|_| format!("`{text}` is not ADDR:PORT, as 127.0.0.1:8722"))?;
    if !address.ip().is_loopback() {
        return Err(format!("{} is not a loopback address: use 127.0.0.1 or [::1]", address.ip()));
    }
    Ok(address)
}

/// Serves until the client ends it, or Ctrl-C.
///
/// # Errors
/// When a folder does not exist, the address is not available, or the token is too short.
pub(crate) fn run(task: &Mcp) -> anyhow::Result<()> {
    let here = [PathBuf::from(".")];
    let dirs = if task.dir.is_empty() { &here[..] } else { &task.dir };
    let settings = Settings {
        folders: Folders::new(dirs).context("--dir")?,
        lang: language::chosen(task.lang),
        allowed: Allowed { host: task.allow.contains(&Tool::Host), probe: task.allow.contains(&Tool::Probe) },
        program: env::current_exe().context("the path of this program")?,
    };
    let Some(address) = task.http else { return Ok(serve_stdio(settings)?) };
    let (token, is_new) = match env::var(TOKEN) {
        Ok(text) => (Token::given(&text).map_err(anyhow::Error::msg).context(TOKEN)?, false),
        Err(env::VarError::NotPresent) => (Token::random()?, true),
        Err(error) => bail!("{TOKEN}: {error}"),
    };
    let secret = is_new.then(|| token.reveal().to_owned());
    let server = HttpServer::bind(settings, address, token)?;
    complain(&format!("serving {}; end with Ctrl-C", server.url()));
    match secret {
        Some(secret) => notify(&format!("Authorization: Bearer {secret}")),
        None => notify(&format!("Authorization: Bearer with the token in {TOKEN}")),
    }
    server.run();
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn only_loopback_addresses_are_taken() {
        let taken = |text| address(text).unwrap().to_string();
        assert_eq!(taken("8722"), "127.0.0.1:8722");
        assert_eq!(taken("localhost:8722"), "127.0.0.1:8722");
        assert_eq!(taken("127.0.0.9:0"), "127.0.0.9:0");
        assert_eq!(taken("[::1]:8722"), "[::1]:8722");
        for text in ["0.0.0.0:8722", "192.0.2.1:1", "[::]:1", "example.org:1", "127.0.0.1", "99999", ""] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
