//! A filter's text → [`Filter`].

use super::error::SyntaxError;
use super::field::{self, FIGURES, TEXTS};
use super::token::{Kind, Token, tokens};
use super::{Comparison, Filter, Test, Which};
use std::net::IpAddr;
use std::ops::Range;

/// Parentheses and negations within each other.
const DEPTH: usize = 64;

/// Words of tcpdump's tests that an address or a number follows.
const PRIMITIVES: &[&str] = &["host", "net", "port"];
/// Words between tests, and before one.
const CONNECTIVES: &[&str] = &["and", "not"];
/// A field with fewer wrong letters than this is suggested.
const LIKE: usize = 3;

/// Reads a filter.
///
/// # Errors
/// The error in the text, with a caret at the place.
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
    /// The end of the text.
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

    /// The place of the next token, or else the end.
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
        while self.take_if(&Kind::And) || self.begins_a_test() {
            parts.push(self.negated()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::All(parts) })
    }

    /// Whether the next token begins a test: without a word between them both must hold.
    fn begins_a_test(&self) -> bool {
        self.peek().is_some_and(|token| matches!(token.kind, Kind::Word(_) | Kind::Not | Kind::Open))
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
        if let Some(rest) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            let span = span.start + 1..span.end;
            return Ok(Filter::Not(Box::new(self.named(rest, span)?)));
        }
        self.named(&word, span)
    }

    /// The test that a word begins.
    fn named(&mut self, word: &str, span: Range<usize>) -> Result<Filter, SyntaxError> {
        if let Some((name, value)) = word.split_once(':').filter(|(name, _)| is_field(name)) {
            let value_span = span.start + name.len() + 1..span.end;
            return field_test(name, ":", value, &value_span);
        }
        let is_compared = matches!(self.peek(), Some(Token { kind: Kind::Operator(_), .. }));
        if is_field(word) && (is_compared || !is_primitive(word)) {
            return self.compared(word);
        }
        match word {
            "client" | "src" => self.of_end(Which::Client),
            "server" | "dst" => self.of_end(Which::Server),
            "host" | "net" | "port" => self.primitive(word, Which::Either),
            "tcp" => Ok(Filter::Test(Test::Tcp)),
            "quic" => Ok(Filter::Test(Test::Quic)),
            "tcp.stream" => self.stream(),
            "tcp.port" => self.port(Which::Either, word),
            "tcp.srcport" => self.port(Which::Client, word),
            "tcp.dstport" => self.port(Which::Server, word),
            "ip.addr" | "ipv6.addr" => self.address(Which::Either, word),
            "ip.src" | "ipv6.src" => self.address(Which::Client, word),
            "ip.dst" | "ipv6.dst" => self.address(Which::Server, word),
            _ => self.word(word, span, is_compared),
        }
    }

    /// A field, an operator and a value.
    fn compared(&mut self, name: &str) -> Result<Filter, SyntaxError> {
        let span = self.here();
        let operator = match self.take().map(|token| token.kind) {
            Some(Kind::Operator(operator)) => operator,
            _ => {
                let error = SyntaxError::new(span, format!("expected an operator after `{name}`"));
                return Err(error.help(example(name)));
            }
        };
        let (value, span) = self.value(name)?;
        field_test(name, operator, &value, &span)
    }

    /// A word outside the fields is searched, unless a field or a test was meant.
    fn word(&self, word: &str, span: Range<usize>, is_compared: bool) -> Result<Filter, SyntaxError> {
        if is_compared {
            return Err(unknown_field(span, word));
        }
        if let Some((name, value)) = word.split_once(':').filter(|_| !is_address(word))
            && !value.chars().all(|c| c.is_ascii_digit())
        {
            return Err(unknown_field(span.start..span.start + name.len(), name));
        }
        let has_value = match self.peek() {
            Some(Token { kind: Kind::Word(next), .. }) => next.chars().all(|c| c.is_ascii_digit() || c == '.'),
            _ => false,
        };
        let is_like = |one: &&&str| strsim::osa_distance(word, one) == 1;
        let meant = PRIMITIVES.iter().filter(|_| has_value).find(is_like);
        match meant.or_else(|| CONNECTIVES.iter().find(is_like)) {
            Some(meant) => {
                let error = SyntaxError::new(span, format!("unknown test `{word}`"));
                Err(error.help(format!("did you mean `{meant}`?")))
            }
            None => Ok(Filter::Test(Test::Word(word.to_lowercase()))),
        }
    }

    /// Parses a test of one end, after `client` or `server`.
    fn of_end(&mut self, which: Which) -> Result<Filter, SyntaxError> {
        let span = self.here();
        match self.take().map(|token| token.kind) {
            Some(Kind::Word(word)) if matches!(word.as_str(), "host" | "net" | "port") => self.primitive(&word, which),
            _ => Err(SyntaxError::new(span, "expected `host`, `net` or `port`")),
        }
    }

    /// Parses a test as tcpdump writes it: a word and its value.
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

    /// Parses an operator; also returns whether the opposite is meant.
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
        Ok(comparison_of(operator))
    }

    /// Parses the word that must follow a test's name.
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

fn is_field(word: &str) -> bool {
    field::names().any(|name| name == word)
}

/// Whether a word begins a test of tcpdump, too.
fn is_primitive(word: &str) -> bool {
    matches!(word, "client" | "server") || PRIMITIVES.contains(&word)
}

/// An IPv6 address, with or without its port, or a part of one.
fn is_address(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '.' | '%'))
}

fn example(name: &str) -> String {
    match FIGURES.iter().any(|(figure, _)| *figure == name) {
        true => format!("as in `{name} > 50`"),
        false => format!("as in `{name}:text` or `{name} == text`"),
    }
}

/// The test that a field with an operator and a value is; `:` compares numbers, and searches texts.
fn field_test(name: &str, operator: &str, value: &str, span: &Range<usize>) -> Result<Filter, SyntaxError> {
    if value.is_empty() {
        return Err(SyntaxError::new(span.clone(), format!("expected a value after `{name}`")).help(example(name)));
    }
    let (comparison, is_not) = comparison_of(operator);
    if name == "port" {
        let port = number(value, span.clone(), "a port")?;
        return Ok(negated_if(is_not, Test::Port(Which::Either, comparison, port)));
    }
    if let Some((_, figure)) = FIGURES.iter().find(|(figure, _)| *figure == name) {
        let value = figure.value(value, span.clone())?;
        return Ok(negated_if(is_not, Test::Figure(*figure, comparison, value)));
    }
    let Some((_, text)) = TEXTS.iter().find(|(text, _)| *text == name) else {
        return Err(unknown_field(span.clone(), name));
    };
    let value = value.to_lowercase();
    match (operator, comparison) {
        (":", _) => Ok(Filter::Test(Test::Contains(*text, value))),
        (_, Comparison::Equal) => Ok(negated_if(is_not, Test::Is(*text, value))),
        _ => {
            let error = SyntaxError::new(span.clone(), format!("`{name}` is text, which has no order"));
            Err(error.help(example(name)))
        }
    }
}

/// The comparison of an operator, and whether it is negated.
fn comparison_of(operator: &str) -> (Comparison, bool) {
    match operator {
        "!=" => (Comparison::Equal, true),
        "<" => (Comparison::Less, false),
        "<=" => (Comparison::LessOrEqual, false),
        ">" => (Comparison::Greater, false),
        ">=" => (Comparison::GreaterOrEqual, false),
        _ => (Comparison::Equal, false),
    }
}

fn unknown_field(span: Range<usize>, name: &str) -> SyntaxError {
    let error = SyntaxError::new(span, format!("unknown field `{name}`"));
    let near = field::names().map(|one| (strsim::osa_distance(name, one), one)).min();
    match near {
        Some((distance, near)) if distance < LIKE => error.help(format!("did you mean `{near}`?")),
        _ => error.help(format!("fields are {}", field::names().collect::<Vec<_>>().join(", "))),
    }
}
