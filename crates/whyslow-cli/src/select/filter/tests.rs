#![allow(clippy::unwrap_used)]

use super::field::{FIGURES, TEXTS};
use super::*;
use proptest::prelude::*;

fn shown(text: &str) -> String {
    parse(text).unwrap().to_string()
}

fn test(test: Test) -> Filter {
    Filter::Test(test)
}

#[test]
fn tests_are_written_as_in_tcpdump_and_in_wireshark() {
    let address = "192.0.2.1".to_owned();
    assert_eq!(parse("host 192.0.2.1"), Ok(test(Test::Host(Which::Either, address.clone()))));
    assert_eq!(parse("ip.addr == 192.0.2.1"), Ok(test(Test::Host(Which::Either, address.clone()))));
    assert_eq!(parse("src host 192.0.2.1"), Ok(test(Test::Host(Which::Client, address.clone()))));
    assert_eq!(parse("ip.dst==192.0.2.1"), Ok(test(Test::Host(Which::Server, address))));
    assert_eq!(parse("port 443"), parse("tcp.port eq 443"));
    assert_eq!(parse("net 2001:db8::/32"), parse("ipv6.addr == 2001:db8::/32"));
    assert_eq!(parse("tcp.stream >= 5"), Ok(test(Test::Stream(Comparison::GreaterOrEqual, 5))));
    assert_eq!(parse("tcp"), Ok(test(Test::Tcp)));
    assert_eq!(parse("quic"), Ok(test(Test::Quic)));
}

#[test]
fn and_binds_before_or() {
    assert_eq!(shown("port 1 or port 2 and not port 3"), shown("port 1 or (port 2 and (not port 3))"));
    assert_eq!(shown("port 1 && port 2 || !port 3"), shown("(port 1 and port 2) or not port 3"));
    assert_eq!(parse("tcp.port != 22"), parse("not port 22"));
}

#[test]
fn fields_have_units_and_words_are_searched() {
    let figure = |figure, how, value| Ok(test(Test::Figure(figure, how, value)));
    assert_eq!(parse("rtt>50"), figure(Figure::Rtt, Comparison::Greater, 0.05));
    assert_eq!(parse("rtt > 50ms"), parse("rtt>0.05s"));
    assert_eq!(parse("down >= 1MB"), figure(Figure::Down, Comparison::GreaterOrEqual, 1e6));
    assert_eq!(parse("cause:Loss"), Ok(test(Test::Contains(Text::Cause, "loss".to_owned()))));
    assert_eq!(parse("-state:open"), parse("not state:open"));
    assert_eq!(parse("id=3 example"), parse("id == 3 and example"));
    assert_eq!(parse("localhost:443"), Ok(test(Test::Word("localhost:443".to_owned()))));
}

#[test]
fn fields_are_documented_in_their_order() {
    let page = include_str!("../../../../../docs/usage.md");
    let table = page.split("| field | value |").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with("| `"));
    let documented: Vec<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
    assert_eq!(documented, field::names().collect::<Vec<_>>());
}

#[test]
fn errors_have_their_place() {
    let error = |text: &str| parse(text).unwrap_err();
    assert_eq!(
        error("tcp.port 443"),
        "expected `==` after `tcp.port`\n  |\n  | tcp.port 443\n  |          ^^^\n  = help: as in `tcp.port == 443`"
    );
    assert!(error("hots 1.2.3.4").contains("unknown test `hots`\n  |\n  | hots 1.2.3.4\n  | ^^^^\n"));
    assert!(error("hots 1.2.3.4").ends_with("did you mean `host`?"));
    assert!(error("port 1 adn port 2").ends_with("did you mean `and`?"));
    assert!(error("port http").contains("`http` is not a port\n  |\n  | port http\n  |      ^^^^"));
    assert!(error("(port 1").contains("expected `)`\n  |\n  | (port 1\n  |        ^\n"));
    assert!(error("port 1 == 2").contains("expected `and`, `or` or the end"));
    assert!(error("net 10.0.0.0/33").contains("is not a network"));
    assert!(error("").contains("expected a test\n  |\n  | \n  | ^\n"));
    assert!(error("port 1 and $x").contains("`$` is not part of a filter"));
    assert!(error("ip.addr > 1.2.3.4").contains("compared with `==` or `!=`"));
    assert!(error(&"(".repeat(10_000)).starts_with("too many parentheses"));
}

#[test]
fn networks_hold_their_addresses() {
    let end = |address: &str| Endpoint { address: address.to_owned(), port: 443, name: Some("Example.com".into()) };
    let within = |address: &str, net: &str| match parse(net).unwrap() {
        Filter::Test(Test::Net(_, net, bits)) => is_within(&end(address), net, bits),
        other => panic!("{other:?}"),
    };
    assert!(within("192.0.2.77", "net 192.0.2.0/24") && !within("192.0.3.77", "net 192.0.2.0/24"));
    assert!(within("192.0.2.77", "net 0.0.0.0/0") && !within("2001:db8::1", "net 0.0.0.0/0"));
    assert!(within("2001:db8::1", "net 2001:db8::/32") && !within("2001:db9::1", "net 2001:db8::/32"));
    assert!(within("192.0.2.1", "net 192.0.2.1") && !within("client", "net 192.0.2.1"));
    assert!(is_host(&end("2001:db8::1"), "2001:DB8:0::1") && is_host(&end("10.0.0.1"), "example.com"));
}

fn filters() -> impl Strategy<Value = Filter> {
    let which = prop_oneof![Just(Which::Either), Just(Which::Client), Just(Which::Server)];
    let comparison = prop_oneof![
        Just(Comparison::Equal),
        Just(Comparison::Less),
        Just(Comparison::LessOrEqual),
        Just(Comparison::Greater),
        Just(Comparison::GreaterOrEqual),
    ];
    let test = prop_oneof![
        (which.clone(), "[a-z][a-z0-9.-]{0,9}x").prop_map(|(which, host)| Test::Host(which, host)),
        (which.clone(), any::<IpAddr>(), 0..=32_u8).prop_map(|(which, net, bits)| Test::Net(which, net, bits)),
        (which, comparison.clone(), any::<u16>()).prop_map(|(which, how, port)| Test::Port(which, how, port)),
        (comparison.clone(), any::<u64>()).prop_map(|(how, number)| Test::Stream(how, number)),
        (0..FIGURES.len(), comparison, 0.0..1e9_f64).prop_map(|(at, how, value)| Test::Figure(
            FIGURES[at].1,
            how,
            value
        )),
        (0..TEXTS.len(), "[a-z][a-z0-9.-]{0,9}x").prop_map(|(at, text)| Test::Contains(TEXTS[at].1, text)),
        (0..TEXTS.len(), "[a-z][a-z0-9.-]{0,9}x").prop_map(|(at, text)| Test::Is(TEXTS[at].1, text)),
        "[a-z][a-z0-9.]{5,9}x".prop_map(Test::Word),
        Just(Test::Tcp),
        Just(Test::Quic),
    ];
    test.prop_map(Filter::Test).prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Filter::All),
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Filter::Any),
            inner.prop_map(|filter| Filter::Not(Box::new(filter))),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(filter in filters()) {
        prop_assert_eq!(parse(&filter.to_string()), Ok(filter));
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = parse(&text);
    }

    #[test]
    fn no_order_of_words_panics(words in proptest::collection::vec("(and|or|not|\\(|\\)|==|!=|host|net|port|tcp\\.port|[0-9]{1,3}|::1/64|é|\u{202e})", 0..40)) {
        let _ = parse(&words.join(" "));
        let _ = parse(&words.concat());
    }
}
