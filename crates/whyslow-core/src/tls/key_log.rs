//! [`KeyLog`]: the secrets of TLS connections in a key log file.
//!
//! The format is that of NSS, which all programs with `SSLKEYLOGFILE` write
//! (draft-ietf-tls-keylogfile). Each line has a label, the random number of the ClientHello and the
//! secret, both in hexadecimal.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// The random number in a ClientHello, which identifies the secrets of a connection.
pub(super) type Random = [u8; 32];

/// Maximum number of connections that are kept, about 270 bytes each. Later ones are counted and
/// dropped.
pub(super) const MAX_CONNECTIONS: usize = 1 << 18;

/// Longest secret: with SHA-384 (RFC 8446 section 7.1), or the master secret of TLS 1.2 (RFC 5246
/// section 8.1).
pub(super) const MAX_SECRET: usize = 48;

/// A secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Secret {
    len: u8,
    bytes: [u8; MAX_SECRET],
}

impl Secret {
    /// Creates a secret. Returns `None` if it is empty or too long.
    pub(super) fn new(secret: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_SECRET];
        bytes.get_mut(..secret.len())?.copy_from_slice(secret);
        let len = u8::try_from(secret.len()).ok().filter(|len| *len > 0)?;
        Some(Self { len, bytes })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// The secrets of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Secrets {
    /// The master secret of TLS 1.2 and earlier.
    pub(super) master: Option<Secret>,
    /// The TLS 1.3 handshake secrets of the client and of the server.
    pub(super) handshake: [Option<Secret>; 2],
    /// The first TLS 1.3 application traffic secrets of the client and of the server.
    pub(super) traffic: [Option<Secret>; 2],
    /// The secret of the client's 0-RTT data.
    pub(super) early: Option<Secret>,
}

impl Secrets {
    /// Adds secrets from another source.
    pub(super) fn add(&mut self, other: &Self) {
        self.master = self.master.or(other.master);
        self.early = self.early.or(other.early);
        for side in [0, 1] {
            self.handshake[side] = self.handshake[side].or(other.handshake[side]);
            self.traffic[side] = self.traffic[side].or(other.traffic[side]);
        }
    }

    /// The field for a label's secret; `None` if the label is not needed.
    fn place(&mut self, label: Label) -> Option<&mut Option<Secret>> {
        let [handshake, traffic] = [&mut self.handshake, &mut self.traffic];
        match label {
            Label::Master => Some(&mut self.master),
            Label::ClientHandshake => handshake.first_mut(),
            Label::ServerHandshake => handshake.last_mut(),
            Label::ClientTraffic => traffic.first_mut(),
            Label::ServerTraffic => traffic.last_mut(),
            Label::ClientEarly => Some(&mut self.early),
            Label::NotNeeded => None,
        }
    }
}

/// Label of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Master,
    ClientHandshake,
    ServerHandshake,
    ClientTraffic,
    ServerTraffic,
    ClientEarly,
    /// A secret that is not needed for decryption.
    NotNeeded,
}

impl Label {
    fn of(label: &[u8]) -> Option<Self> {
        match label {
            b"CLIENT_RANDOM" => Some(Self::Master),
            b"CLIENT_HANDSHAKE_TRAFFIC_SECRET" => Some(Self::ClientHandshake),
            b"SERVER_HANDSHAKE_TRAFFIC_SECRET" => Some(Self::ServerHandshake),
            b"CLIENT_TRAFFIC_SECRET_0" => Some(Self::ClientTraffic),
            b"SERVER_TRAFFIC_SECRET_0" => Some(Self::ServerTraffic),
            b"CLIENT_EARLY_TRAFFIC_SECRET" => Some(Self::ClientEarly),
            // Exporters, Encrypted Client Hello; keys of RSA and DTLS sessions.
            b"EARLY_EXPORTER_SECRET"
            | b"EARLY_EXPORTER_MASTER_SECRET"
            | b"EXPORTER_SECRET"
            | b"ECH_SECRET"
            | b"ECH_CONFIG"
            | b"RSA"
            | b"PMS_CLIENT_RANDOM" => Some(Self::NotNeeded),
            _ => None,
        }
    }
}

/// Number of lines of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyLogTally {
    /// Secrets of connections.
    pub secrets: u64,
    /// Lines with a known label that is not needed.
    pub not_needed: u64,
    /// Lines with an unknown label.
    pub unknown_labels: u64,
    /// Lines that are truncated, or whose numbers are not hexadecimal.
    pub malformed: u64,
    /// Secrets of connections beyond the limit.
    pub beyond_limit: u64,
}

/// A key log.
#[derive(Clone, Default)]
pub struct KeyLog {
    connections: HashMap<Random, Secrets, foldhash::fast::FixedState>,
    tally: KeyLogTally,
}

impl std::fmt::Debug for KeyLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyLog").field("connections", &self.connections.len()).finish_non_exhaustive()
    }
}

impl KeyLog {
    /// Reads the lines of a key log.
    pub fn new(text: &[u8]) -> Self {
        let mut log = Self::default();
        log.read(text);
        log
    }

    /// Parses more lines.
    pub fn read(&mut self, text: &[u8]) {
        for line in text.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii();
            if !line.is_empty() && line.first() != Some(&b'#') {
                self.line(line);
            }
        }
    }

    /// Whether a file that begins with these bytes is a key log: its first line that is not a
    /// comment is complete, and has a label and two hexadecimal numbers.
    pub fn is_start(text: &[u8]) -> bool {
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        let mut lines = lines.filter(|line| !matches!(line.trim_ascii_start().first(), None | Some(b'#')));
        let Some(line) = lines.next().filter(|line| line.ends_with(b"\n")) else { return false };
        let mut fields = line.trim_ascii().split(|byte| *byte == b' ').filter(|field| !field.is_empty());
        let label = fields.next().and_then(Label::of);
        let is_hex = |field: &[u8]| field.iter().all(u8::is_ascii_hexdigit);
        label.is_some() && fields.clone().count() == 2 && fields.all(is_hex)
    }

    /// Number of lines of each kind.
    pub fn tally(&self) -> KeyLogTally {
        self.tally
    }

    /// Number of connections with secrets.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    pub(super) fn find(&self, random: &Random) -> Option<&Secrets> {
        self.connections.get(random)
    }

    /// All connections.
    pub(super) fn into_connections(self) -> impl Iterator<Item = (Random, Secrets)> {
        self.connections.into_iter()
    }

    /// Adds the secrets of another key log.
    pub fn merge(&mut self, other: Self) {
        let KeyLogTally { not_needed, unknown_labels, malformed, beyond_limit, secrets: _ } = other.tally;
        self.tally.not_needed += not_needed;
        self.tally.unknown_labels += unknown_labels;
        self.tally.malformed += malformed;
        self.tally.beyond_limit += beyond_limit;
        for (random, secrets) in other.connections {
            let is_full = self.connections.len() >= MAX_CONNECTIONS;
            match self.connections.entry(random) {
                Entry::Vacant(_) if is_full => self.tally.beyond_limit += 1,
                entry => {
                    entry.or_default().add(&secrets);
                    self.tally.secrets += 1;
                }
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        let mut fields = line.split(|byte| *byte == b' ').filter(|field| !field.is_empty());
        let [Some(label), random, secret, None] = [fields.next(), fields.next(), fields.next(), fields.next()] else {
            self.tally.malformed += 1;
            return;
        };
        let Some(label) = Label::of(label) else {
            self.tally.unknown_labels += 1;
            return;
        };
        if label == Label::NotNeeded {
            self.tally.not_needed += 1;
            return;
        }
        let (mut client_random, mut bytes) = ([0; 32], [0; MAX_SECRET]);
        let read =
            random.and_then(|random| from_hex(random, &mut client_random)).is_some_and(|random| random.len() == 32);
        let secret = secret.and_then(|secret| from_hex(secret, &mut bytes)).and_then(Secret::new);
        let Some(secret) = secret.filter(|_| read) else {
            self.tally.malformed += 1;
            return;
        };
        self.keep(client_random, label, secret);
    }

    fn keep(&mut self, random: Random, label: Label, secret: Secret) {
        let is_full = self.connections.len() >= MAX_CONNECTIONS;
        let secrets = match self.connections.entry(random) {
            Entry::Vacant(_) if is_full => {
                self.tally.beyond_limit += 1;
                return;
            }
            entry => entry.or_default(),
        };
        self.tally.secrets += 1;
        if let Some(place) = secrets.place(label) {
            *place = Some(secret);
        }
    }
}

/// Parses hexadecimal digits; `None` if there are others, an odd number or too many.
fn from_hex<'a>(text: &[u8], into: &'a mut [u8]) -> Option<&'a [u8]> {
    let (pairs, []) = text.as_chunks::<2>() else { return None };
    let into = into.get_mut(..pairs.len())?;
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    for (byte, [high, low]) in into.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(into)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn hex(byte: u8, len: usize) -> String {
        format!("{byte:02x}").repeat(len)
    }

    #[test]
    fn secrets_are_found_by_the_client_random() {
        let (random, secret) = (hex(0xab, 32), hex(0xcd, 48));
        let text = format!(
            "# a comment\r\nCLIENT_RANDOM {random} {secret}\r\nSERVER_TRAFFIC_SECRET_0 {random} {}\n\
             EXPORTER_SECRET {random} {secret}\n",
            hex(7, 32).to_uppercase()
        );
        let log = KeyLog::new(text.as_bytes());
        let secrets = log.find(&[0xab; 32]).unwrap();
        assert_eq!(secrets.master.unwrap().bytes(), [0xcd; 48]);
        assert_eq!(secrets.traffic[1].unwrap().bytes(), [7; 32]);
        assert_eq!(secrets.traffic[0], None);
        assert_eq!(log.tally(), KeyLogTally { secrets: 2, not_needed: 1, ..KeyLogTally::default() });
        assert_eq!(log.find(&[0; 32]), None);
    }

    #[test]
    fn unknown_labels_and_malformed_lines_are_counted() {
        let random = hex(1, 32);
        let text = format!(
            "NEW_SECRET_9 {random} {}\nCLIENT_RANDOM {random}\nCLIENT_RANDOM {random} xyz\nCLIENT_RANDOM aa bb\n\
             CLIENT_RANDOM {random} {} more\nCLIENT_RANDOM {random} {}\n",
            hex(2, 32),
            hex(2, 48),
            hex(2, 49)
        );
        let log = KeyLog::new(text.as_bytes());
        assert_eq!(log.tally(), KeyLogTally { unknown_labels: 1, malformed: 5, ..KeyLogTally::default() });
        assert_eq!(log.connections(), 0);
    }

    #[test]
    fn debug_shows_no_secret() {
        let text = format!("CLIENT_RANDOM {} {}", hex(0xab, 32), hex(0xcd, 48));
        let log = KeyLog::new(text.as_bytes());
        let shown = format!("{log:?} {:?}", log.find(&[0xab; 32]));
        assert!(!shown.contains("cd") && !shown.contains("205"), "{shown}");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in prop::collection::vec(prop_oneof![
            Just(b"CLIENT_RANDOM ".to_vec()), Just(b"SERVER_TRAFFIC_SECRET_0 ".to_vec()), Just(b"\n".to_vec()),
            Just(hex(5, 32).into_bytes()), Just(b" ".to_vec()), prop::collection::vec(any::<u8>(), 0..20),
        ], 0..40)) {
            let text = text.concat();
            let log = KeyLog::new(&text);
            let KeyLogTally { secrets, not_needed, unknown_labels, malformed, .. } = log.tally();
            let lines = text.split(|byte| *byte == b'\n').count() as u64;
            prop_assert!(secrets + not_needed + unknown_labels + malformed <= lines);
            prop_assert!(log.connections() as u64 <= secrets);
        }
    }
}
