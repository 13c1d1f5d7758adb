//! Several causes.

use super::spread::spread;
use crate::words::quantity::time;
use whyslow_analysis::{CommonQuestion, CommonStatement, Group};

/// `worst` is the sentence about the connection that lost the most time.
pub(super) fn statement(statement: &CommonStatement, worst: &str) -> String {
    match statement {
        CommonStatement::CostWhileLinkFull { time_s } => format!("{} of that while the link was full", time(*time_s)),
        CommonStatement::CountedUnder { time_s, cause } => {
            format!("{} of that is counted under {cause}", time(*time_s))
        }
        CommonStatement::Shared { sharing, of, group, cost, .. } => {
            format!("{sharing} of {of} {} share this cause, {}; at its worst: {}", name(group), spread(*cost), worst,)
        }
    }
}

pub(super) fn question(question: &CommonQuestion) -> String {
    match question {
        CommonQuestion::ModelTooFast { model_s, measured_s } => format!(
            "not certain, because the model with the same limit takes {} instead of the measured {}: something else took time, too",
            time(*model_s),
            time(*measured_s)
        ),
        CommonQuestion::ModelDisagrees { model_s, measured_s } => format!(
            "not certain, because a simulation with this limit takes {} instead of the measured {}",
            time(*model_s),
            time(*measured_s)
        ),
        CommonQuestion::OpeningNotCaptured => {
            "not certain, because the opening of the connection was not captured: start the capture before it"
                .to_owned()
        }
        CommonQuestion::OptionsNotCaptured => {
            "not certain, because SACK and timestamps were cut: capture 128 bytes of each packet or more".to_owned()
        }
        CommonQuestion::ProtocolUnknown => {
            "not certain, because the protocol is unknown: a small message may not be the response to the one before it"
                .to_owned()
        }
        CommonQuestion::LinkShared => {
            "the link was full meanwhile: if this transfer is faster, the others on the link are slower".to_owned()
        }
        CommonQuestion::Encrypted => {
            "QUIC encrypts acknowledgements, windows and losses: this rests on the sizes and times of packets, and the capture cannot show more: give a key log (--keylog FILE) to know".to_owned()
        }
        CommonQuestion::OneEndpointsLog => {
            "a log shows one endpoint's view, and its times are those of the program: the link and the other endpoint show in a capture, or in the other endpoint's log".to_owned()
        }
        CommonQuestion::InitialOrAnswerLost => {
            "a capture at the server shows whether the client's first packets or the server's answers were lost".to_owned()
        }
    }
}

fn name(group: &Group) -> String {
    match group {
        Group::Server { server } => format!("connections to {server}"),
        Group::Hosts { client, server } => format!("connections between {client} and {server}"),
    }
}
