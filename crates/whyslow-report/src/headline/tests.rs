#![allow(clippy::unwrap_used)]

use super::*;
use crate::render::example;
use whyslow_analysis::Problem;

#[test]
fn a_slow_transfer_has_its_fix_and_estimate() {
    let headline = of(&example::slow_start(), Lang::En);
    assert_eq!(headline.tone, Tone::Slow);
    assert_eq!(
        headline.sentence,
        "The download was slow because the server's congestion window was still growing (slow start): 158 of 184 ms."
    );
    assert_eq!(
        headline.advice.as_deref(),
        Some(
            "Fix: reuse the connection (then about 26.0 ms); or raise the server's initial window to 32 segments \
             (then about 52.0 ms)."
        )
    );
}

#[test]
fn a_quick_transfer_is_reported_as_not_slow() {
    let healthy = of(&example::healthy(), Lang::En);
    assert_eq!((healthy.tone, healthy.advice), (Tone::Healthy, None));
    assert_eq!(healthy.sentence, "Nothing slowed the download: it took 27.3 ms, which is what the network needs.");
    assert_eq!(of(&example::analysis(Vec::new()), Lang::En).tone, Tone::Unknown);
}

#[test]
fn capture_without_tcp_lists_its_packets() {
    let mut analysis = example::analysis(Vec::new());
    assert_eq!(of(&analysis, Lang::En).sentence, "There is no TCP connection to explain.");
    analysis.captures[0].tcp_packets = 0;
    let headline = of(&analysis, Lang::En);
    assert_eq!(headline.sentence, "There is no TCP connection to explain: none of 715 packets is TCP.");
    assert!(headline.advice.is_some_and(|advice| advice.contains("`whyslow capture local`")));
    analysis.captures[0].packets = 0;
    assert_eq!(of(&analysis, Lang::En).sentence, "There is no TCP connection to explain: the capture is empty.");
    analysis.captures[0].packets = 715;
    analysis.captures[0].problems.push(Problem::new(QUIC, 700, "QUIC"));
    let headline = of(&analysis, Lang::En);
    assert_eq!(
        headline.sentence,
        "There is no connection to explain: 700 of 715 packets are QUIC of connections whose first packets were not captured whole."
    );
    assert!(headline.advice.is_some_and(|advice| advice.contains("switch QUIC (HTTP/3) off")));
}

#[test]
fn text_of_which_half_is_unread_is_not_healthy() {
    let mut analysis = example::healthy();
    let packets = analysis.captures[0].packets;
    analysis.captures[0].problems.push(Problem::new("unread-line", packets / 2 + 1, "lines"));
    let headline = of(&analysis, Lang::En);
    assert_eq!(headline.tone, Tone::Unknown);
    assert!(headline.sentence.contains("could not be read"), "{}", headline.sentence);
    assert!(of(&analysis, Lang::Zh).sentence.contains("无法读取"));
    analysis.captures[0].problems[0].count = packets / 4;
    assert_eq!(of(&analysis, Lang::En).tone, Tone::Healthy);
}

#[test]
fn the_headline_is_about_the_costliest_cause() {
    let many = example::many();
    let first = ranking::by_cause(&many).remove(0);
    assert_eq!(first.cause, Cause::ReceiveWindow);
    let sentence = of(&many, Lang::En).sentence;
    assert_eq!(sentence, "10 of 40 connections were slow because the client's receive window is too small: 29.2 s.");
    for connection in &many.connections {
        let Some(main) = ranking::main_cause(connection) else { continue };
        let costs = ranking::findings(connection).map(|finding| finding.cost_s);
        assert!(main.seconds >= costs.max().unwrap());
    }
}

#[test]
fn one_of_several_connections_is_not_counted_as_all() {
    let mut one = example::many();
    let cause = ranking::slow_by_cause(&one).remove(0);
    let mut spanning = one.connections[0].transfers[0].findings[0].clone();
    (spanning.cause, spanning.cost_s) = (cause.cause, cause.seconds.scale(2.0));
    spanning.connections = one.connections.iter().map(|connection| connection.id).collect();
    one.findings = vec![spanning];
    one.connections.truncate(1);
    let sentence = of(&one, Lang::En).sentence;
    assert!(!sentence.contains("of 1 connection"), "{sentence}");
}

#[test]
fn low_confidence_is_in_the_words() {
    assert_eq!(
        [0.97, 0.9, 0.89, 0.6, 0.59, 0.0].map(|value| confidence(value, Lang::En)).concat(),
        "certaincertainlikelylikelypossiblepossible"
    );
    let mut slow = example::slow_start();
    slow.connections[0].transfers[0].findings[0].confidence = 0.7;
    assert_eq!(
        of(&slow, Lang::En).sentence,
        "The download was slow, most likely because the server's congestion window was still growing (slow start): \
         158 of 184 ms."
    );
}

#[test]
fn every_cause_that_costs_time_has_words_of_its_own() {
    let problems = [
        Cause::BadChecksums,
        Cause::CaptureLoss,
        Cause::ClockStep,
        Cause::CoarseTimes,
        Cause::ElidedText,
        Cause::NoHandshake,
        Cause::Offload,
        Cause::OneDirection,
        Cause::ShortSnaplen,
        Cause::TerseText,
    ];
    for &cause in Cause::ALL.iter().filter(|cause| !problems.contains(cause)) {
        let finding = example::finding(
            cause,
            1.0,
            whyslow_analysis::SendingStatement::WindowClosed { closed_s: Nanos::ZERO, whole_s: Nanos::ZERO },
        );
        let clause = words::because(&finding, Ends::of(None), Lang::En);
        assert!(!clause.contains("told below") && !clause.contains(": "), "{cause}: {clause}");
    }
}

#[test]
fn a_cost_names_its_unit_once() {
    let ms = Nanos::from_millis;
    assert_eq!(cost(ms(158), Some(ms(184)), Lang::En), "158 of 184 ms");
    assert_eq!(cost(ms(158), Some(ms(2_500)), Lang::En), "158 ms of 2.50 s");
    assert_eq!(cost(ms(130_000), Some(ms(150_000)), Lang::En), "2 min 10 s of 2 min 30 s");
    assert_eq!(cost(ms(200), Some(ms(184)), Lang::En), "200 ms");
}

#[test]
fn cost_below_the_threshold_is_not_called_slow() {
    let mut analysis = example::slow_start();
    assert_eq!(of(&analysis, Lang::En).tone, Tone::Slow);
    // 158 ms.
    analysis.threshold_s = Nanos::from_millis(200);
    let headline = of(&analysis, Lang::En);
    assert_eq!((headline.tone, data(&analysis).is_none()), (Tone::Healthy, true));
    let chinese = of(&analysis, Lang::Zh).sentence;
    insta::assert_snapshot!("cost_below_the_threshold", format!("{}\n{chinese}", headline.sentence));
    analysis.threshold_s = Nanos::ZERO;
    assert_eq!(of(&analysis, Lang::En).tone, Tone::Slow);
}

#[test]
fn connections_that_lost_little_are_not_called_slow_together() {
    let mut many = example::many();
    let costly = ranking::slow_by_cause(&many);
    many.threshold_s = Nanos::from_millis(3_600_000);
    assert!(!costly.is_empty() && ranking::slow_by_cause(&many).is_empty());
    assert_eq!(of(&many, Lang::En).tone, Tone::Healthy);
}

#[test]
fn conclusion_is_data() {
    let mut analysis = example::slow_start();
    assert_eq!(Conclusion::of(&analysis).status, ranking::Status::Slow);
    analysis.threshold_s = Nanos::from_millis(200);
    assert_eq!(Conclusion::of(&analysis).status, ranking::Status::Healthy);
    let packets = analysis.captures[0].packets;
    analysis.captures[0].problems.push(Problem::new("unread-line", packets, "lines"));
    let conclusion = Conclusion::of(&analysis);
    assert_eq!(conclusion.status, ranking::Status::Unknown);
    assert_eq!(conclusion.unread, Some(ranking::Unread { packets, of: packets }));
}

#[test]
fn clients_own_processing_slows_nothing() {
    let one = example::slow_start();
    let mut two = example::slow_start();
    two.connections.push(two.connections[0].clone());
    two.connections[1].id += 1;
    let mut sentences = Vec::new();
    for mut analysis in [one, two] {
        for connection in &mut analysis.connections {
            let cost_s = Nanos::from_millis(150);
            let statement = whyslow_analysis::ExchangeStatement::RequestsLate { first_s: Some(cost_s), later: None };
            let finding = Finding::new(Cause::ClientThink, cost_s, 0.9, statement);
            connection.transfers[0].findings = Vec::from([finding]);
            connection.findings.clear();
        }
        let headline = of(&analysis, Lang::En);
        assert_eq!((headline.tone, Conclusion::of(&analysis).status), (Tone::Healthy, ranking::Status::Healthy));
        sentences.push(headline.sentence);
    }
    insta::assert_snapshot!("clients_own_processing", sentences.join("\n"));
}
