//! [`Direction`]: decrypts the records of one side in order.

use super::cipher::{HEADER, RecordCipher, Version};
use super::handshake::{Message, Messages};
use super::key_log::{Secret, Secrets};
use super::reassembly::Reassembly;
use super::schedule;
use super::suite::Suite;
use whyslow_analysis::types::Undecrypted;
use whyslow_units::Time;

/// Content types (RFC 8446 appendix B.1).
pub(super) const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
pub(super) const HANDSHAKE: u8 = 22;
const APPLICATION_DATA: u8 = 23;
/// Longest record body: 2^14 bytes, and up to 2,048 added by a cipher (RFC 5246 section 6.2.3).
const MAX_BODY: usize = 16_384 + 2_048;
/// Maximum number of 0-RTT records that are skipped: a server accepts 16 KiB by default, in records
/// of any size (OpenSSL's SSL_CTX_set_max_early_data).
const MAX_EARLY_RECORDS: u32 = 256;
/// Bytes that a direction buffers while a later block of the capture may still bring its secrets. A
/// handshake with certificates is smaller.
const MAX_WAITING: usize = 32 << 10;

/// Parameters negotiated by both hellos, and the secrets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    pub(super) suite: Suite,
    pub(super) version: Version,
    pub(super) secrets: Secrets,
    pub(super) client_random: [u8; 32],
    pub(super) server_random: [u8; 32],
}

/// Whether a direction has keys.
#[derive(Clone, Debug)]
pub(super) enum KeyState {
    /// Not both hellos were seen so far.
    NoHello,
    /// No secret is known so far.
    NoSecret,
    /// No record can be opened.
    Unreadable(Undecrypted),
    Known(Box<Keys>),
}

impl KeyState {
    /// The reason to report if this state is final.
    pub(super) fn missing(&self) -> Undecrypted {
        match self {
            Self::NoHello => Undecrypted::HandshakeNotCaptured,
            Self::NoSecret | Self::Known(_) => Undecrypted::NoKeys,
            Self::Unreadable(why) => *why,
        }
    }
}

/// Content of a record.
pub(super) enum Content<'a> {
    /// A handshake message that was sent in clear.
    Hello(Message),
    /// Application plaintext.
    Application(&'a [u8]),
    /// A session ticket or key update after the handshake.
    AfterHandshake,
    /// An alert: no records follow.
    Alert,
}

/// Position and times of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordPlace {
    /// Relative sequence numbers of the first byte of its header and of the byte after its end.
    pub(super) start: u64,
    pub(super) end: u64,
    /// Capture times of its first byte and of its last.
    pub(super) first: Time,
    pub(super) last: Time,
}

/// The keys of the next record.
#[derive(Clone, Debug)]
enum Epoch {
    Plain,
    /// TLS 1.3, before this side's Finished.
    Handshake {
        /// Handshake keys; without them, records before the application data are skipped.
        cipher: Option<RecordCipher>,
        application: RecordCipher,
        secret: (Suite, Secret),
    },
    /// `secret`: the TLS 1.3 traffic secret, for key updates.
    Application {
        cipher: RecordCipher,
        secret: Option<(Suite, Secret)>,
    },
}

impl Epoch {
    /// Decrypts a record. Returns `None` if its tag does not match; the record is then unchanged,
    /// because the tag is verified before decryption.
    fn open<'a>(&mut self, record: &'a mut [u8]) -> Option<&'a [u8]> {
        match self {
            Self::Plain => None,
            Self::Handshake { cipher: Some(cipher), .. } | Self::Application { cipher, .. } => cipher.open(record),
            Self::Handshake { cipher: None, application, secret } => {
                let content = application.open(record)?;
                *self = Self::Application { cipher: application.clone(), secret: Some(*secret) };
                Some(content)
            }
        }
    }

    /// Enters the epoch that begins after a message, if one does. `None` if its keys cannot be
    /// derived.
    fn pass(&mut self, message: Message) -> Option<()> {
        match (&*self, message) {
            (Self::Handshake { application, secret, .. }, Message::Finished) => {
                *self = Self::Application { cipher: application.clone(), secret: Some(*secret) };
            }
            (Self::Application { secret: Some((suite, secret)), .. }, Message::KeyUpdate) => {
                let (suite, next) = (*suite, schedule::next_secret(*suite, secret)?);
                let keys = schedule::of_secret(suite, &next)?;
                let cipher = RecordCipher::new(suite, Version::Tls13, &keys)?;
                *self = Self::Application { cipher, secret: Some((suite, next)) };
            }
            _ => {}
        }
        Some(())
    }
}

/// The records of one side.
#[derive(Clone, Debug)]
pub(super) struct Direction {
    pub(super) bytes: Reassembly,
    messages: Messages,
    epoch: Epoch,
    pub(super) stopped: Option<Undecrypted>,
    pub(super) records: u64,
    /// Bytes of application plaintext.
    pub(super) plaintext: u64,
    /// The incomplete record: its position, and the time of its first byte.
    begun: Option<(u64, Time)>,
    /// Records that may still be skipped: 0-RTT data, or a handshake without secrets.
    pub(super) early_left: u32,
    /// Whether it waits for keys, or for the other side's hello.
    waits: bool,
}

impl Default for Direction {
    fn default() -> Self {
        Self {
            bytes: Reassembly::default(),
            messages: Messages::default(),
            epoch: Epoch::Plain,
            stopped: None,
            records: 0,
            plaintext: 0,
            begun: None,
            early_left: 0,
            waits: false,
        }
    }
}

/// Result of processing a record.
enum Step {
    /// The record is consumed.
    Done,
    /// The record waits.
    Wait,
    /// The record is consumed, and the next ones use other keys.
    NewKeys,
    Stop(Undecrypted),
}

impl Direction {
    pub(super) fn offer_early_data(&mut self) {
        self.early_left = MAX_EARLY_RECORDS;
    }

    /// Whether the next record waits for its keys.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// Stops decryption and drops all buffered bytes.
    pub(super) fn stop(&mut self, why: Undecrypted) {
        self.stopped.get_or_insert(why);
        self.bytes.clear();
    }

    fn enter(&mut self, epoch: Epoch) {
        if let Epoch::Handshake { cipher: None, .. } = epoch {
            self.early_left = MAX_EARLY_RECORDS;
        }
        self.epoch = epoch;
    }

    /// Decrypts the available records and passes on the content of each. `role`: 0 is the client.
    /// Calls `keys` if a record is encrypted.
    pub(super) fn advance(
        &mut self,
        role: usize,
        now: Time,
        keys: &dyn Fn() -> KeyState,
        mut give: impl FnMut(RecordPlace, Content<'_>),
    ) {
        self.waits = false;
        while self.stopped.is_none() {
            let start = self.bytes.at();
            let ready = self.bytes.ready();
            if !ready.is_empty() && self.begun.is_none_or(|(at, _)| at != start) {
                self.begun = Some((start, now));
            }
            let Some(&[kind, major, _, high, low]) = ready.first_chunk() else { return };
            let len = HEADER + usize::from(u16::from_be_bytes([high, low]));
            if major != 3 || !(CHANGE_CIPHER_SPEC..=24).contains(&kind) || len > HEADER + MAX_BODY {
                return self.stop(Undecrypted::DamagedRecord);
            }
            let there = ready.len();
            if there < len {
                return;
            }
            let first = self.begun.map_or(now, |(_, time)| time);
            let place = RecordPlace { start, end: start.saturating_add(len as u64), first, last: now };
            if let Epoch::Plain = self.epoch
                && matches!(kind, CHANGE_CIPHER_SPEC | APPLICATION_DATA)
            {
                let keys = keys();
                match begin(kind, role, &keys) {
                    Ok(Some(epoch)) => self.enter(epoch),
                    // TLS 1.3 sends it for compatibility with middleboxes (RFC 8446 appendix D.4).
                    Ok(None) => {}
                    Err(Step::Stop(why)) => return self.stop(why),
                    Err(_) if there > MAX_WAITING => return self.stop(keys.missing()),
                    Err(_) => {
                        self.waits = true;
                        return;
                    }
                }
                if kind == CHANGE_CIPHER_SPEC {
                    self.bytes.consume(len);
                    continue;
                }
            }
            match self.record(kind, place, len, &mut give) {
                Step::Stop(why) => return self.stop(why),
                Step::Done | Step::Wait => self.bytes.consume(len),
                Step::NewKeys => {
                    self.bytes.consume(len);
                    match begin(CHANGE_CIPHER_SPEC, role, &keys()) {
                        Ok(Some(epoch)) => self.enter(epoch),
                        _ => return self.stop(Undecrypted::DamagedRecord),
                    }
                }
            }
        }
    }

    /// Processes a complete record of `len` bytes.
    fn record(
        &mut self,
        kind: u8,
        place: RecordPlace,
        len: usize,
        give: &mut impl FnMut(RecordPlace, Content<'_>),
    ) -> Step {
        let Self { bytes, messages, epoch, early_left, records, plaintext, .. } = self;
        let Some(record) = bytes.ready().get_mut(..len) else { return Step::Wait };
        let is_12 = matches!(epoch, Epoch::Application { secret: None, .. });
        let is_sealed = !matches!(epoch, Epoch::Plain) && (is_12 || kind == APPLICATION_DATA);
        if !is_sealed {
            let mut body = record.get(HEADER..).unwrap_or_default();
            if kind == HANDSHAKE && matches!(epoch, Epoch::Plain) {
                while let Some(message) = messages.next(&mut body) {
                    give(place, Content::Hello(message));
                }
            }
            return Step::Done;
        }
        let is_first = *records == 0;
        let Some(content) = epoch.open(record) else {
            if is_first && *early_left > 0 {
                *early_left -= 1;
                return Step::Done;
            }
            return Step::Stop(if is_first { Undecrypted::WrongKeys } else { Undecrypted::DamagedRecord });
        };
        *records += 1;
        let inner = if is_12 { Some((kind, content)) } else { inner(content) };
        let Some((inner, content)) = inner else { return Step::Stop(Undecrypted::DamagedRecord) };
        match inner {
            APPLICATION_DATA => {
                *plaintext += content.len() as u64;
                give(place, Content::Application(content));
            }
            ALERT => give(place, Content::Alert),
            HANDSHAKE if !is_12 => {
                let is_after = matches!(epoch, Epoch::Application { .. });
                let mut body = content;
                while let Some(message) = messages.next(&mut body) {
                    if epoch.pass(message).is_none() {
                        return Step::Stop(Undecrypted::DamagedRecord);
                    }
                }
                if is_after {
                    give(place, Content::AfterHandshake);
                }
            }
            // Renegotiation: hellos and the change of keys are encrypted as well.
            HANDSHAKE => {
                let mut body = content;
                while let Some(message) = messages.next(&mut body) {
                    give(place, Content::Hello(message));
                }
            }
            CHANGE_CIPHER_SPEC if is_12 => return Step::NewKeys,
            _ => {}
        }
        Step::Done
    }
}

/// The epoch that begins with an encrypted record or a ChangeCipherSpec; `None` if no epoch begins.
fn begin(kind: u8, role: usize, keys: &KeyState) -> Result<Option<Epoch>, Step> {
    let keys = match keys {
        KeyState::NoHello | KeyState::NoSecret => return Err(Step::Wait),
        KeyState::Unreadable(why) => return Err(Step::Stop(*why)),
        KeyState::Known(keys) => keys,
    };
    let Keys { suite, version, secrets, .. } = **keys;
    let wrong = Step::Stop(Undecrypted::WrongKeys);
    if version == Version::Tls12 {
        if kind != CHANGE_CIPHER_SPEC {
            return Err(Step::Stop(Undecrypted::DamagedRecord));
        }
        let Some(master) = secrets.master else { return Err(Step::Wait) };
        let both = schedule::of_master(suite, &master, &keys.client_random, &keys.server_random);
        let cipher = both.and_then(|both| RecordCipher::new(suite, version, both.get(role)?));
        return cipher.map(|cipher| Some(Epoch::Application { cipher, secret: None })).ok_or(wrong);
    }
    if kind == CHANGE_CIPHER_SPEC {
        return Ok(None);
    }
    let of = |secret: &Secret| {
        let keys = schedule::of_secret(suite, secret)?;
        RecordCipher::new(suite, version, &keys)
    };
    let (Some(handshake), Some(traffic)) = (secrets.handshake.get(role), secrets.traffic.get(role)) else {
        return Err(wrong);
    };
    let Some(secret) = *traffic else { return Err(Step::Wait) };
    let Some(application) = of(&secret) else { return Err(wrong) };
    Ok(Some(Epoch::Handshake { cipher: handshake.as_ref().and_then(of), application, secret: (suite, secret) }))
}

/// The TLS 1.3 content type, which follows the content and precedes the zero padding (RFC 8446
/// section 5.2).
fn inner(content: &[u8]) -> Option<(u8, &[u8])> {
    let end = content.iter().rposition(|byte| *byte != 0)?;
    Some((*content.get(end)?, content.get(..end)?))
}
