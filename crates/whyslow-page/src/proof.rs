//! [`Proof`]: what `whyslow prove --json` printed of a transfer, for the page of its capture.

use serde::{Deserialize, Serialize};
use whyslow_analysis::{Analysis, End};
use whyslow_report::text::units::thousands;

/// The version of the contract, `docs/schema/whyslow-prove-1.schema.json`.
const SCHEMA: &str = "whyslow-prove/1";
/// Points of a curve that are shown; the contract has as many at most.
const MOST_POINTS: usize = 500;

/// A proof: all of its document but the scenario, which only the lab needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    schema: String,
    capture: String,
    connection: u64,
    transfer: Option<usize>,
    from: Sender,
    bytes: u64,
    bytes_run: u64,
    factor: f64,
    headline: String,
    built: String,
    tries: usize,
    agrees: bool,
    agreement: Agreement,
    #[serde(default)]
    behaves_like: Option<String>,
    #[serde(default)]
    instead: Vec<Instead>,
    noise_s: f64,
    all_again: Vec<f64>,
    fixes: Vec<Fix>,
    together: Option<Fix>,
    often_tried: Vec<Fix>,
    curves: Vec<Curve>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sender {
    Client,
    Server,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Agreement {
    agrees: bool,
    differs: Vec<String>,
    captured_s: f64,
    again_s: f64,
    noise_s: f64,
    captured_cause: Option<String>,
    again_cause: Option<String>,
    again_confidence: Option<f64>,
    rounds_alike: usize,
    rounds: usize,
    limits_apart: f64,
    #[serde(default)]
    captured_flight: u64,
    #[serde(default)]
    again_flight: u64,
    captured_retransmitted: Kinds,
    again_retransmitted: Kinds,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Instead {
    cause: String,
    agreement: Agreement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kinds {
    fast: u64,
    timeout: u64,
    tail_probe: u64,
    spurious: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Fix {
    cause: Option<String>,
    what: String,
    command: Option<String>,
    host: Option<Sender>,
    key: Option<String>,
    predicted: Option<f64>,
    measured: Option<f64>,
    all_measured: Vec<f64>,
    verdict: Verdict,
    why_not: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Helps,
    NoHelp,
    Harms,
    NotRun,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Curve {
    of: CurveOf,
    what: Option<String>,
    points: Vec<(f64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CurveOf {
    Captured,
    Again,
    Fixed,
}

impl Proof {
    /// Reads what `whyslow prove --json` printed.
    ///
    /// # Errors
    /// When it is something else.
    pub fn read(text: &[u8]) -> Result<Self, String> {
        let proof: Self = serde_json::from_slice(text)
            .map_err(|error| format!("this is not what `whyslow prove --json` prints: {error}"))?;
        if proof.schema != SCHEMA {
            return Err(format!("this is {}, and a proof is {SCHEMA}", proof.schema));
        }
        if proof.curves.iter().any(|curve| curve.points.len() > MOST_POINTS) {
            return Err(format!("a curve has more than {MOST_POINTS} points"));
        }
        Ok(proof)
    }

    /// The connection that was made again.
    pub(crate) fn connection(&self) -> u64 {
        self.connection
    }

    /// Whether it is about a transfer of this analysis.
    ///
    /// # Errors
    /// If it belongs to another connection or transfer.
    pub fn fits(&self, analysis: &Analysis) -> Result<(), String> {
        let connection = analysis.connections.iter().find(|connection| connection.id == self.connection);
        let mut transfers = connection.iter().flat_map(|connection| connection.transfers.iter().zip(1..));
        let is_it = |(transfer, number): (&whyslow_analysis::Transfer, usize)| {
            self.transfer.is_none_or(|own| own == number) && transfer.bytes == self.bytes && self.from.is(transfer.from)
        };
        if transfers.any(is_it) {
            return Ok(());
        }
        let Self { capture, connection, .. } = self;
        Err(format!(
            "the proof is of another capture: in {capture}, connection {connection} had a transfer of {} B from the {}",
            thousands(self.bytes),
            self.from.name()
        ))
    }
}

impl Sender {
    fn is(self, end: End) -> bool {
        (self == Self::Client) == (end == End::Client)
    }

    fn name(self) -> &'static str {
        if self == Self::Client { "client" } else { "server" }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::reading;
    use serde_json::{Value, json};

    /// Recorded by `whyslow prove samples/receive-window-client.pcap --json`.
    const RECORDED: &[u8] = include_bytes!("../../../web/test/proof.json");

    #[test]
    fn a_proof_is_passed_on_without_its_scenario_and_nothing_else_is_lost() {
        let mut whole: Value = serde_json::from_slice(RECORDED).unwrap();
        assert!(whole.as_object_mut().unwrap().remove("scenario").is_some());
        assert_eq!(serde_json::to_value(Proof::read(RECORDED).unwrap()).unwrap(), whole);
    }

    #[test]
    fn it_belongs_to_its_own_capture() {
        let proof = Proof::read(RECORDED).unwrap();
        assert_eq!(proof.fits(&reading(&[&["receive-window-client"]]).analysis), Ok(()));
        let why = proof.fits(&reading(&[&["loss-client"]]).analysis).unwrap_err();
        assert!(why.contains("connection 1 had a transfer of 409,600 B from the server"), "{why}");
    }

    #[test]
    fn an_invalid_proof_is_refused() {
        let with = |change: &dyn Fn(&mut Value)| {
            let mut document: Value = serde_json::from_slice(RECORDED).unwrap();
            change(&mut document);
            Proof::read(document.to_string().as_bytes()).unwrap_err()
        };
        assert!(Proof::read(b"{}").unwrap_err().contains("`whyslow prove --json`"));
        assert!(with(&|it| it["schema"] = json!("whyslow/2")).contains("this is whyslow/2"));
        assert!(with(&|it| it["curves"][0]["points"] = json!(vec![(0.0, 0); 501])).contains("500 points"));
        assert!(with(&|it| it["fixes"][0]["verdict"] = json!("<b>")).contains("unknown variant"));
    }
}
