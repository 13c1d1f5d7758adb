//! `curl -w`.

use super::*;

#[track_caller]
fn phase(text: &str) -> (Phase, &'static str) {
    let subject = subject(text);
    let finding = &subject.findings[0];
    match finding.statement {
        Statement::Phase { phase, .. } => (phase, finding.cause.map_or("-", Slug::slug)),
        _ => panic!("{finding:?}"),
    }
}

#[test]
fn names_and_forms_that_people_use_are_read() {
    let comma = "Lookup time:\t0,004\nConnect time:\t0,005\nAppCon time:\t0,147\nRedirect time:\t0,000\nPreXfer time:\t0,147\n\
                 StartXfer time:\t6,637\n\nTotal time:\t6,643\n";
    assert_eq!(phase(comma), (Phase::Wait, "server-think"));
    let units = "    time_namelookup:  5.514s\n       time_connect:  5.546s\n    time_appconnect:  5.640s\n \
                 time_starttransfer:  5.680s\n                    ----------\n         time_total:  5.690s\n";
    assert_eq!(phase(units), (Phase::Dns, "-"));
    let json = r#"{"time_appconnect":0.061,"time_connect":0.021,"time_namelookup":0.002,"time_pretransfer":0.061,"time_starttransfer":0.092,"time_total":9.412,"size_download":104857600}"#;
    assert_eq!(phase(json), (Phase::Download, "-"));
    let inline = "dns: 0.002 connect: 0.022 tls: 2.406 ttfb: 2.450 total: 2.451\n";
    assert_eq!(phase(inline), (Phase::Tls, "-"));
    // curl 7.74 printed microseconds.
    let micro = "Lookup Time: 6887\nConnect Time: 12491\nPre-transfer Time: 12569\nStart-transfer Time: 1054497\n\nTotal Time: 1060246\n";
    assert_eq!(phase(micro), (Phase::Wait, "server-think"));
}

#[test]
fn fast_request_is_healthy_and_a_failed_one_has_no_cause() {
    healthy(
        "time_namelookup: 0.004\ntime_connect: 0.018\ntime_appconnect: 0.051\ntime_starttransfer: 0.084\ntime_total: 0.090\n",
    );
    healthy(
        "time_namelookup:  0.002120s\n time_connect:  0.002651s\n time_appconnect:  0.000000s\n time_total:  0.071664s\n",
    );
}

#[test]
fn syn_that_is_sent_again_is_named() {
    let text = "time_namelookup: 0.004\ntime_connect: 3.061\ntime_starttransfer: 3.120\ntime_total: 3.121\n";
    assert_eq!(causes(text), ["syn-loss"]);
}

#[test]
fn distance_is_not_a_fault_of_the_server() {
    let text = "time_namelookup: 0.004\ntime_connect: 0.188\ntime_appconnect: 0.560\ntime_starttransfer: 0.748\ntime_total: 0.752\n";
    assert_eq!(subject(text).findings[0].statement, Statement::RoundTrips { count: 4.0, rtt_s: 0.184, whole_s: 0.752 });
}

#[test]
fn each_request_of_several_is_judged() {
    let one = |start: f64| format!("time_connect: 0.02 time_starttransfer: {start} time_total: {start}\n");
    let text = one(0.05) + &one(2.31) + &one(0.06);
    let report = report(&text);
    assert_eq!((report.subjects.len(), report.subjects[0].name.as_str()), (3, "#2"));
    assert_eq!(causes(&text), ["server-think"]);
}
