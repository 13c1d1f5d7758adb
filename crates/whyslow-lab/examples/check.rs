//! How accurate is the emulator here? `cargo run --release -p whyslow-lab --example check -- [--quick] [--tun]`.
#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use whyslow_lab::check::{self, CheckConfig};
use whyslow_lab::net::{self, config::PortKind};

fn main() -> ExitCode {
    let has = |flag: &str| std::env::args().any(|arg| arg == flag);
    let port = if has("--tun") { PortKind::Tun } else { PortKind::Veth };
    let config = CheckConfig { quick: has("--quick"), port };
    let report = net::enter().and_then(|()| check::run(&config, |row| eprintln!("{}: {}", row.what, row.detail)));
    match report {
        Ok(report) => {
            print!("{}", report.table());
            ExitCode::from(u8::from(!report.is_good()))
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
