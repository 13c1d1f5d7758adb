//! The fields of a filter: figures that are compared, and texts that are searched.

use super::error::SyntaxError;
use std::ops::Range;
use whyslow_analysis::{Cause, Connection, Endpoint, host_and_port};
use whyslow_report::ranking;

/// A connection, and the causes that it shares with others.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The connection.
    pub connection: &'a Connection,
    /// Causes of findings that span it and others.
    pub shared: &'a [Cause],
}

/// A field that is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Round-trip time, seconds: the median, or else the minimum.
    Rtt,
    /// Cost of all causes, seconds.
    Lost,
    /// Length, seconds.
    Duration,
    /// Seconds from the first packet to its beginning.
    Start,
    /// Seconds from the first packet to its end.
    End,
    /// Bytes from the client.
    Up,
    /// Bytes from the server.
    Down,
    /// Bytes both ways.
    Bytes,
    /// Segments.
    Retransmitted,
    /// The connection's number.
    Id,
}

/// A field that is a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// The client's name and address, with and without port.
    Client,
    /// The server's.
    Server,
    /// Names and addresses of both ends.
    Host,
    /// Its causes.
    Cause,
    /// The limit that held it longest.
    Limit,
    /// Its state.
    State,
}

/// Names of figures.
pub(super) const FIGURES: &[(&str, Figure)] = &[
    ("rtt", Figure::Rtt),
    ("lost", Figure::Lost),
    ("duration", Figure::Duration),
    ("start", Figure::Start),
    ("end", Figure::End),
    ("up", Figure::Up),
    ("down", Figure::Down),
    ("bytes", Figure::Bytes),
    ("retransmitted", Figure::Retransmitted),
    ("id", Figure::Id),
];

/// Names of texts.
pub(super) const TEXTS: &[(&str, Text)] = &[
    ("client", Text::Client),
    ("server", Text::Server),
    ("host", Text::Host),
    ("cause", Text::Cause),
    ("limit", Text::Limit),
    ("state", Text::State),
];

/// The names of all fields.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let figures = FIGURES.iter().map(|(name, _)| *name);
    figures.chain(["port"]).chain(TEXTS.iter().map(|(name, _)| *name))
}

impl Figure {
    pub(super) fn name(self) -> &'static str {
        FIGURES.iter().find(|(_, figure)| *figure == self).map_or("", |(name, _)| name)
    }

    /// The unit that a number without one has, and the unit in which values are kept.
    fn units(self) -> &'static [(&'static str, f64)] {
        const SECONDS: &[(&str, f64)] =
            &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("min", 60.0), ("", 1.0)];
        // As ping prints it.
        const MILLISECONDS: &[(&str, f64)] =
            &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("min", 60.0), ("", 1e-3)];
        const BYTES: &[(&str, f64)] =
            &[("b", 1.0), ("k", 1e3), ("kb", 1e3), ("m", 1e6), ("mb", 1e6), ("g", 1e9), ("gb", 1e9), ("", 1.0)];
        match self {
            Self::Rtt => MILLISECONDS,
            Self::Lost | Self::Duration | Self::Start | Self::End => SECONDS,
            Self::Up | Self::Down | Self::Bytes => BYTES,
            Self::Retransmitted | Self::Id => &[("", 1.0)],
        }
    }

    /// The unit in which values are kept.
    pub(super) fn unit(self) -> &'static str {
        self.units().first().map_or("", |(name, _)| name)
    }

    /// Reads `50`, `0.05s`, `1kB`.
    pub(super) fn value(self, text: &str, span: Range<usize>) -> Result<f64, SyntaxError> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = unit.to_lowercase();
        let scale = self.units().iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
        match (number.parse::<f64>().ok(), scale) {
            (Some(number), Some(scale)) => Ok(number * scale),
            _ => {
                let units: Vec<&str> =
                    self.units().iter().map(|(name, _)| *name).filter(|one| !one.is_empty()).collect();
                let error = SyntaxError::new(span, format!("`{text}` is not a value of `{}`", self.name()));
                Err(if units.is_empty() { error } else { error.help(format!("units are {}", units.join(", "))) })
            }
        }
    }

    /// In seconds, bytes, segments.
    pub(super) fn of(self, connection: &Connection) -> Option<f64> {
        let bytes = |side: usize| connection.directions.get(side).map_or(0, |direction| direction.bytes);
        #[allow(clippy::cast_precision_loss)] // Exact up to 2^53.
        let count = |value: u64| Some(value as f64);
        match self {
            Self::Rtt => connection.rtt_ms.p50.or(connection.rtt_ms.min).map(|ms| ms / 1e3),
            Self::Lost => Some(ranking::cost(connection).as_secs_f64()),
            Self::Duration => Some(connection.duration_s.as_secs_f64()),
            Self::Start => Some(connection.start_s.as_secs_f64()),
            Self::End => Some((connection.start_s + connection.duration_s).as_secs_f64()),
            Self::Up => count(bytes(0)),
            Self::Down => count(bytes(1)),
            Self::Bytes => count(bytes(0) + bytes(1)),
            Self::Retransmitted => {
                let of = connection.directions.iter().map(|one| &one.retransmitted);
                count(of.map(|of| of.fast + of.timeout + of.tail_probe + of.spurious).sum())
            }
            Self::Id => count(connection.id),
        }
    }
}

impl Text {
    pub(super) fn name(self) -> &'static str {
        TEXTS.iter().find(|(_, text)| *text == self).map_or("", |(name, _)| name)
    }

    /// The text of the field, in small letters.
    pub(super) fn of(self, subject: Subject<'_>) -> Vec<String> {
        let Connection { client, server, state, .. } = subject.connection;
        match self {
            Self::Client => end(client),
            Self::Server => end(server),
            Self::Host => [end(client), end(server)].concat(),
            Self::Cause => {
                let own = ranking::causes(subject.connection).into_iter().map(|(cause, _)| cause);
                own.chain(subject.shared.iter().copied()).map(|cause| cause.slug().to_owned()).collect()
            }
            Self::Limit => {
                ranking::main_limit(subject.connection).map(|limit| limit.slug().to_owned()).into_iter().collect()
            }
            Self::State => vec![state.slug().to_owned()],
        }
    }
}

/// Its name and address, without and with the port.
fn end(of: &Endpoint) -> Vec<String> {
    let hosts = of.name.iter().chain([&of.address]);
    hosts.flat_map(|host| [host.to_lowercase(), host_and_port(host, of.port).to_lowercase()]).collect()
}

/// The text that a word without a field is searched in.
pub(super) fn anything(subject: Subject<'_>) -> Vec<String> {
    [Text::Host.of(subject), Text::State.of(subject), Text::Cause.of(subject)].concat()
}
