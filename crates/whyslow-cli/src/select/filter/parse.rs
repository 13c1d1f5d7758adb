//! A filter's text → [`Filter`].

use super::error::SyntaxError;
use super::token::{Kind, Token, tokens};
use super::{Comparison, Filter, Test, Which};
use std::net::IpAddr;
use std::ops::Range;

/// Parentheses and negations within each other.
const DEPTH: usize = 64;

/// Every word that begins a test.
const TESTS: &[&str] = &[
    "host",
    "net",
    "port",
    "client",
    "server",
    "src",
    "dst",
    "tcp",
    "quic",
    "tcp.stream",
    "tcp.port",
    "tcp.srcport",
    "tcp.dstport",
    "ip.addr",
    "ip.src",
    "ip.dst",
    "ipv6.addr",
    "ipv6.src",
    "ipv6.dst",
];

/// Reads a filter.
///
/// # Errors
/// What is wrong with it, with a caret at the place.
pub fn parse(text: &str) -> Result<Filter, String> {
    let read = || {
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens: &tokens, next: 0, end: text.len(), depth: 0 };
        let filter = parser.any()?;
        match parser.peek() {
            None => Ok(filter),
            Some(token) => Err(SyntaxError::new(token.span.clone(), "expected `and`, `or` or the end")),
        }
    };
    read().map_err(|error| error.show(text))
}

struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    /// Where the text ends.
    end: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn take(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.next += usize::from(token.is_some());
        token
    }

    fn take_if(&mut self, kind: &Kind) -> bool {
        let is_it = self.peek().is_some_and(|token| token.kind == *kind);
        self.next += usize::from(is_it);
        is_it
    }

    /// Where the next token stands, or else the end.
    fn here(&self) -> Range<usize> {
        self.peek().map_or(self.end..self.end, |token| token.span.clone())
    }

    fn any(&mut self) -> Result<Filter, SyntaxError> {
        let first = self.all()?;
        let mut parts = vec![first];
        while self.take_if(&Kind::Or) {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::Any(parts) })
    }

    fn all(&mut self) -> Result<Filter, SyntaxError> {
        let first = self.negated()?;
        let mut parts = vec![first];
        while self.take_if(&Kind::And) {
            parts.push(self.negated()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::All(parts) })
    }

    fn negated(&mut self) -> Result<Filter, SyntaxError> {
        let here = self.here();
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(SyntaxError::new(here, "too many parentheses within each other"));
        }
        let filter = if self.take_if(&Kind::Not) {
            Filter::Not(Box::new(self.negated()?))
        } else if self.take_if(&Kind::Open) {
            let inner = self.any()?;
            if !self.take_if(&Kind::Close) {
                return Err(SyntaxError::new(self.here(), "expected `)`").help("a `(` is not closed"));
            }
            inner
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(filter)
    }

    fn test(&mut self) -> Result<Filter, SyntaxError> {
        let span = self.here();
        let Some(Token { kind: Kind::Word(word), .. }) = self.take() else {
            let tests = "a test is `host ADDRESS`, `net NETWORK`, `port NUMBER` or `tcp.stream == NUMBER`";
            return Err(SyntaxError::new(span, "expected a test").help(tests));
        };
        match word.as_str() {
            "client" | "src" => self.of_end(Which::Client),
            "server" | "dst" => self.of_end(Which::Server),
            "host" | "net" | "port" => self.primitive(&word, Which::Either),
            "tcp" => Ok(Filter::Test(Test::Tcp)),
            "quic" => Ok(Filter::Test(Test::Quic)),
            "tcp.stream" => self.stream(),
            "tcp.port" => self.port(Which::Either, &word),
            "tcp.srcport" => self.port(Which::Client, &word),
            "tcp.dstport" => self.port(Which::Server, &word),
            "ip.addr" | "ipv6.addr" => self.address(Which::Either, &word),
            "ip.src" | "ipv6.src" => self.address(Which::Client, &word),
            "ip.dst" | "ipv6.dst" => self.address(Which::Server, &word),
            _ => Err(unknown(span, &word)),
        }
    }

    /// After `client` or `server`: what is asked of it.
    fn of_end(&mut self, which: Which) -> Result<Filter, SyntaxError> {
        let span = self.here();
        match self.take().map(|token| token.kind) {
            Some(Kind::Word(word)) if matches!(word.as_str(), "host" | "net" | "port") => self.primitive(&word, which),
            _ => Err(SyntaxError::new(span, "expected `host`, `net` or `port`")),
        }
    }

    /// tcpdump's way: a word and its value.
    fn primitive(&mut self, word: &str, which: Which) -> Result<Filter, SyntaxError> {
        let (value, span) = self.value(word)?;
        Ok(Filter::Test(match word {
            "port" => Test::Port(which, Comparison::Equal, number(&value, span, "a port")?),
            "net" => network(&value, span, which)?,
            _ => Test::Host(which, value),
        }))
    }

    fn stream(&mut self) -> Result<Filter, SyntaxError> {
        let (comparison, is_not) = self.comparison("tcp.stream")?;
        let (value, span) = self.value("tcp.stream")?;
        let test = Test::Stream(comparison, number(&value, span, "a stream's number")?);
        Ok(negated_if(is_not, test))
    }

    fn port(&mut self, which: Which, field: &str) -> Result<Filter, SyntaxError> {
        let (comparison, is_not) = self.comparison(field)?;
        let (value, span) = self.value(field)?;
        let test = Test::Port(which, comparison, number(&value, span, "a port")?);
        Ok(negated_if(is_not, test))
    }

    fn address(&mut self, which: Which, field: &str) -> Result<Filter, SyntaxError> {
        let place = self.here();
        let (comparison, is_not) = self.comparison(field)?;
        if comparison != Comparison::Equal {
            return Err(SyntaxError::new(place, "addresses are compared with `==` or `!=`"));
        }
        let (value, span) = self.value(field)?;
        let test = if value.contains('/') { network(&value, span, which)? } else { Test::Host(which, value) };
        Ok(negated_if(is_not, test))
    }

    /// An operator; whether its opposite is meant.
    fn comparison(&mut self, field: &str) -> Result<(Comparison, bool), SyntaxError> {
        let span = self.here();
        let operator = match self.take().map(|token| token.kind) {
            Some(Kind::Operator(operator)) => operator,
            _ => {
                let example = if field.ends_with("addr") { "192.0.2.1" } else { "443" };
                let error = SyntaxError::new(span, format!("expected `==` after `{field}`"));
                return Err(error.help(format!("as in `{field} == {example}`")));
            }
        };
        Ok(match operator {
            "!=" => (Comparison::Equal, true),
            "<" => (Comparison::Less, false),
            "<=" => (Comparison::LessOrEqual, false),
            ">" => (Comparison::Greater, false),
            ">=" => (Comparison::GreaterOrEqual, false),
            _ => (Comparison::Equal, false),
        })
    }

    /// The word that a test needs behind it.
    fn value(&mut self, after: &str) -> Result<(String, Range<usize>), SyntaxError> {
        let span = self.here();
        match self.take().map(|token| token.kind) {
            Some(Kind::Word(value)) => Ok((value, span)),
            _ => Err(SyntaxError::new(span, format!("expected a value after `{after}`"))),
        }
    }
}

fn negated_if(is_not: bool, test: Test) -> Filter {
    let test = Filter::Test(test);
    if is_not { Filter::Not(Box::new(test)) } else { test }
}

fn number<T: std::str::FromStr>(text: &str, span: Range<usize>, what: &str) -> Result<T, SyntaxError> {
    text.parse().map_err(|_| SyntaxError::new(span, format!("`{text}` is not {what}")))
}

fn network(text: &str, span: Range<usize>, which: Which) -> Result<Test, SyntaxError> {
    let wrong = || {
        let error = SyntaxError::new(span.clone(), format!("`{text}` is not a network"));
        error.help("as in `net 192.0.2.0/24` or `net 2001:db8::/32`")
    };
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.map_or(Ok(most), |bits| bits.parse().map_err(|_| wrong()))?;
    if bits > most { Err(wrong()) } else { Ok(Test::Net(which, address, bits)) }
}

fn unknown(span: Range<usize>, word: &str) -> SyntaxError {
    let error = SyntaxError::new(span, format!("unknown test `{word}`"));
    match crate::cause_pages::nearest(word, TESTS.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None if word.parse::<IpAddr>().is_ok() => error.help(format!("an address is `host {word}`")),
        None if word.parse::<u16>().is_ok() => error.help(format!("a port is `port {word}`")),
        None => error.help(format!("tests are {}", TESTS.join(", "))),
    }
}
