//! The columns of each table.

mod connections;
mod files;
mod findings;
mod ids;
mod packets;
mod rounds;
mod transfers;

pub(crate) use connections::connections;
pub(crate) use files::{files, problems};
pub(crate) use findings::findings;
pub(crate) use packets::packets;
pub(crate) use rounds::rounds;
pub(crate) use transfers::transfers;

use whyslow_analysis::{Actor, End, Near};

fn end(end: End) -> String {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
    .to_owned()
}

fn near(near: Near) -> String {
    match near {
        Near::Client => "client",
        Near::Server => "server",
        Near::Middle => "middle",
        Near::Unknown => "unknown",
    }
    .to_owned()
}

fn actor(actor: Actor) -> String {
    match actor {
        Actor::Sender => "sender",
        Actor::Receiver => "receiver",
        Actor::Network => "network",
        Actor::Application => "application",
        Actor::Capture => "capture",
    }
    .to_owned()
}
