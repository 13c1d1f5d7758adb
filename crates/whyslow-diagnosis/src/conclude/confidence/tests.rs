use super::*;
use crate::compare::tests::{connection, transfer};
use crate::rules::parts;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Application, LimitingFactor, Problem, ProblemDetail, SendingStatement};

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

/// A transfer of this length with these causes, each of weight 0.9, next to a model of this length.
fn against_model(duration: i64, model: Option<i64>, causes: &[Cause]) -> Vec<Finding> {
    let mut transfer = transfer(100, LimitingFactor::SlowStart, &[10_000, 20_000, 40_000, 80_000, 5_000], None);
    (transfer.duration_s, transfer.model_s) = (ms(duration), model.map(ms));
    let found = |cause: &Cause| {
        parts::finding(*cause, ms(duration), 0.9, SendingStatement::WindowClosed { closed_s: ms(1), whole_s: ms(1) })
    };
    transfer.findings = causes.iter().map(found).collect();
    let mut connections = [connection(1, 100, vec![transfer])];
    set(&mut connections, &mut []);
    connections[0].transfers[0].findings.clone()
}

#[test]
fn cause_with_model_half_as_long_loses_confidence() {
    let found = against_model(2_000, Some(500), &[Cause::SlowStart, Cause::Loss]);
    assert!(found[0].confidence < 0.7 && !found[0].to_confirm.is_empty(), "{found:?}");
    assert_eq!(found[0].grade, Grade::Contradicted);
    assert!(found[1].confidence >= 0.9 && found[1].grade == Grade::Shown, "of losses the model plays a part only");
}

#[test]
fn inferred_cause_is_certain_only_if_the_model_reproduces_the_transfer() {
    for cause in [Cause::SlowStart, Cause::SenderCap, Cause::Bandwidth, Cause::ReceiveWindow] {
        let is_certain = |duration: i64| against_model(duration, Some(500), &[cause])[0].confidence >= 0.9;
        assert_eq!([300, 390, 500, 700, 750].map(is_certain), [false, true, true, true, false], "{cause}");
    }
    let found = against_model(750, Some(500), &[Cause::SenderCap, Cause::ZeroWindow]);
    let question = CommonQuestion::ModelDisagrees { model_s: ms(500), measured_s: ms(750) };
    assert_eq!(found[0].to_confirm, [question.into()]);
    assert!(found[1].confidence >= 0.9 && found[1].to_confirm.is_empty(), "packets show a closed window");
}

#[test]
fn inferred_cause_without_a_model_is_not_certain() {
    let found = against_model(500, None, &[Cause::Bandwidth, Cause::ZeroWindow]);
    assert_eq!((found[0].grade, found[0].confidence), (Grade::Inferred, LIKELY));
    assert!(found[1].grade == Grade::Shown && found[1].confidence >= 0.9, "{found:?}");
}

#[test]
fn pattern_is_not_certain_even_if_the_model_reproduces_the_transfer() {
    for cause in [Cause::Policer, Cause::Shaper, Cause::RandomLoss, Cause::HostCpu, Cause::ProxySplit] {
        let found = against_model(500, Some(500), &[cause]);
        assert_eq!((found[0].grade, found[0].confidence), (Grade::Inferred, LIKELY), "{cause}");
        let mut weak =
            parts::finding(cause, ms(900), 0.5, SendingStatement::WindowClosed { closed_s: ms(1), whole_s: ms(1) });
        grade_without_model(&mut weak);
        assert_eq!(weak.confidence, 0.5, "no surer than its rule");
    }
}

#[test]
fn finding_over_connections_is_as_well_supported_as_its_parts() {
    for (model, grade) in [(Some(500), Grade::Reproduced), (Some(300), Grade::Contradicted), (None, Grade::Inferred)] {
        let mut transfer = transfer(100, LimitingFactor::Bandwidth, &[10_000, 20_000, 40_000, 80_000, 5_000], None);
        (transfer.duration_s, transfer.model_s) = (ms(500), model.map(ms));
        let statement = || SendingStatement::WindowClosed { closed_s: ms(1), whole_s: ms(1) };
        transfer.findings = Vec::from([parts::finding(Cause::Bandwidth, ms(300), 0.9, statement())]);
        let mut over = parts::finding(Cause::Bandwidth, ms(300), 0.9, statement());
        over.connections = Vec::from([1]);
        set(&mut [connection(1, 100, Vec::from([transfer]))], std::slice::from_mut(&mut over));
        assert_eq!((over.grade, over.confidence >= 0.9), (grade, grade == Grade::Reproduced));
    }
}

#[test]
fn finding_over_connections_that_have_none_is_graded_without_a_model() {
    let statement = || SendingStatement::WindowClosed { closed_s: ms(1), whole_s: ms(1) };
    let mut across = [Cause::Bandwidth, Cause::SynLoss].map(|cause| parts::finding(cause, ms(900), 0.95, statement()));
    set(&mut [], &mut across);
    assert_eq!(across.map(|finding| finding.grade), [Grade::Inferred, Grade::Shown]);
}

#[test]
fn cause_without_the_evidence_it_rests_on_is_likely() {
    let found = |cause: Cause, bytes: u64, change: &dyn Fn(&mut Connection)| {
        let mut transfer = transfer(100, LimitingFactor::SlowStart, &[bytes], None);
        (transfer.duration_s, transfer.model_s, transfer.bytes) = (ms(500), Some(ms(500)), bytes);
        let statement = SendingStatement::WindowClosed { closed_s: ms(1), whole_s: ms(1) };
        transfer.findings = vec![parts::finding(cause, ms(400), 0.9, statement)];
        let mut one = connection(1, 100, vec![transfer]);
        (one.application, one.application_is_shown) = (Some(Application::Http), true);
        change(&mut one);
        let mut connections = [one];
        set(&mut connections, &mut []);
        let finding = &connections[0].transfers[0].findings[0];
        (finding.confidence >= 0.9, finding.to_confirm.clone())
    };
    let lacks = |slug: &'static str| {
        move |connection: &mut Connection| {
            connection.problems.push(Problem::new(slug, 1, ProblemDetail::OneDirection));
        }
    };
    let opening = (false, vec![CommonQuestion::OpeningNotCaptured.into()]);
    assert_eq!(found(Cause::SlowStart, 100_000, &lacks("no-handshake")), opening);
    assert!(found(Cause::ZeroWindow, 100_000, &lacks("no-handshake")).0, "packets prove a closed window");
    let options = (false, vec![CommonQuestion::OptionsNotCaptured.into()]);
    assert_eq!(found(Cause::TailLoss, 100_000, &lacks("malformed-options")), options);
    let unknown = |connection: &mut Connection| connection.application_is_shown = false;
    let protocol = (false, vec![CommonQuestion::ProtocolUnknown.into()]);
    assert_eq!(found(Cause::ServerThink, 100, &unknown), protocol);
    assert!(found(Cause::ServerThink, 100_000, &unknown).0, "so much was asked for");
    assert!(found(Cause::ServerThink, 100, &|_| ()).0);
}
