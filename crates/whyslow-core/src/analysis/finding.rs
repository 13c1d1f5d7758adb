//! [`Finding`]: a cause with its evidence and its fix.

use crate::cause::Cause;
use crate::types::Frame;
use crate::units::Nanos;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use std::borrow::Cow;

/// Why, with what it rests on and what to do.
#[derive(Clone, Debug, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Finding {
    /// The cause's public name.
    pub cause: Cause,
    /// Seconds lost to it.
    pub seconds: Nanos,
    /// 0–1.
    pub confidence: f64,
    /// One sentence.
    pub summary: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// What to do.
    pub fix: Option<Fix>,
    /// The time with this cause gone, seconds: of the transfer, of the connection for a finding
    /// over one, of the connections together for one that spans several. Null when that is not
    /// known: no model was run or it does not fit.
    pub predicted_s: Option<Nanos>,
    /// That the path carries more than it was seen to carry, where nothing tells how much it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_assumes: Option<Assumed>,
    /// Ids of the connections, when it spans several; of a transfer's part of a bottleneck, those
    /// that share it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<u64>,
    /// It sums up findings of these connections, and its time is theirs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// What would settle an open question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<String>,
}

/// What a promise rests on that the capture does not show.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub struct Assumed {
    /// The path carries more than so much, payload bits per second.
    pub needed_bps: f64,
    /// It was seen to carry so much, within a round trip or on average.
    pub seen_bps: f64,
}

/// A figure, and the frames that show it.
#[derive(Clone, Debug, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Evidence {
    /// Where to look; a first and a last frame make a range.
    pub frames: Vec<Frame>,
    /// What was measured.
    pub figure: String,
    /// How much.
    pub value: f64,
    /// In what.
    pub unit: Cow<'static, str>,
}

/// What to do about it.
#[derive(Clone, Debug, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Fix {
    /// Who must act.
    pub who: Actor,
    /// What, in plain words, with the value computed from this transfer.
    pub what: String,
    /// A command that does it, where there is one.
    pub command: Option<String>,
    /// What shows that it worked: a counter, a figure of `ss`, a second capture.
    pub verify: Option<String>,
}

/// Who can remove a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// The end that sends the payload.
    Sender,
    /// The end that gets it.
    Receiver,
    /// Whoever runs the path.
    Network,
    /// The program at one of the ends.
    Application,
    /// Whoever captures.
    Capture,
}

impl Finding {
    /// Whether somebody waited for the network or the server meanwhile. What the client's own
    /// program takes is told, and ranks behind all that was waited for.
    pub fn is_waited_for(&self) -> bool {
        self.cause != Cause::ClientThink
    }

    /// Does something with every frame of its evidence.
    pub fn for_each_frame(&mut self, act: impl Fn(&mut Frame)) {
        self.evidence.iter_mut().flat_map(|evidence| &mut evidence.frames).for_each(act);
    }
}
