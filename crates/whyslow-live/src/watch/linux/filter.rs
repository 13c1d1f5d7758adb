//! The packets that the kernel lets into the ring: an expression of pcap-filter(7), or TCP and ICMP
//! errors.
//!
//! Expressions are compiled by libpcap's compiler, as `tcpdump -ddd` runs it: a program needs no
//! header of libpcap to build, works with a static musl build, and reads what the user wrote in a
//! process of its own, before rights are dropped. Where there is libpcap but not tcpdump there is
//! no filter; the two come together in distributions.
//!
//! A program is compiled for a link type. A cooked socket shows packets from the network layer on:
//! there a program for LINKTYPE_LINUX_SLL is moved, as libpcap itself does.

mod cooked;
mod default;

use crate::bpf::{Assembler, Instruction, JUMP_IF_EQUAL, LOAD_WORD, RETURN, ancillary};
use crate::watch::error::{FilterError, WatchError};
use std::io;
use std::ops::Range;
use std::process::{Command, Stdio};

/// The values of a socket.
#[derive(Clone, Copy, Debug)]
pub(super) enum CaptureTarget<'a> {
    /// One interface, with its Ethernet headers.
    Ethernet(&'a str),
    /// Packets from the network layer on, of these interfaces (index and name) or of all.
    Cooked(&'a [(u32, String)]),
}

/// The instructions for the kernel. `snaplen` bytes are kept of an accepted packet.
pub(super) fn program(
    expression: Option<&str>,
    watched: CaptureTarget<'_>,
    snaplen: u32,
) -> Result<Vec<Instruction>, WatchError> {
    let expression = expression.map(str::trim).filter(|expression| !expression.is_empty());
    let mut program = before(watched)?;
    program.extend(match (expression, watched) {
        (None, CaptureTarget::Ethernet(_)) => default::ethernet(),
        (None, CaptureTarget::Cooked(_)) => default::cooked(),
        (Some(expression), _) => compile(expression, watched)?,
    });
    for instruction in &mut program {
        if instruction.code == RETURN && instruction.value > 0 {
            instruction.value = snaplen;
        }
    }
    Ok(program)
}

/// The loopback device shows each packet when it leaves and again when it comes; a cooked socket
/// shows all interfaces.
fn before(watched: CaptureTarget<'_>) -> Result<Vec<Instruction>, WatchError> {
    let mut code = Assembler::default();
    let [no_echo, drop, end] = [(); 3].map(|()| code.label());
    code.op(LOAD_WORD, ancillary(libc::SKF_AD_HATYPE));
    code.test(JUMP_IF_EQUAL, libc::ARPHRD_LOOPBACK.into(), None, Some(no_echo));
    code.op(LOAD_WORD, ancillary(libc::SKF_AD_PKTTYPE));
    code.test(JUMP_IF_EQUAL, libc::PACKET_OUTGOING.into(), Some(drop), Some(no_echo));
    code.place(drop);
    code.op(RETURN, 0);
    code.place(no_echo);
    if let CaptureTarget::Cooked(interfaces @ [_, ..]) = watched {
        if interfaces.len() > 200 {
            let allowed = "200 at most; without a name all are watched".to_owned();
            return Err(WatchError::Option {
                what: "the number of interfaces",
                value: interfaces.len().to_string(),
                allowed,
            });
        }
        code.op(LOAD_WORD, ancillary(libc::SKF_AD_IFINDEX));
        for (index, _) in interfaces {
            code.test(JUMP_IF_EQUAL, *index, Some(end), None);
        }
        code.op(RETURN, 0);
    }
    code.place(end);
    Ok(code.finish())
}

/// Compiles an expression.
fn compile(expression: &str, watched: CaptureTarget<'_>) -> Result<Vec<Instruction>, FilterError> {
    match watched {
        CaptureTarget::Ethernet(interface) if mentions_vlan(expression) => {
            // The kernel takes tags out of packets: libpcap knows for an interface how to ask for
            // them, which takes the right to open it.
            tcpdump(&["-i", interface], expression).map_err(|error| match error {
                FilterError::Expression { message, .. } if is_about_rights(&message) => FilterError::Unusable {
                    expression: expression.to_owned(),
                    reason: "tcpdump may not ask the interface how it shows VLAN tags".to_owned(),
                    advice: "run it with sudo, or watch the VLAN's own interface with -i",
                },
                error => error,
            })
        }
        CaptureTarget::Ethernet(_) => tcpdump(&["-y", "EN10MB"], expression),
        CaptureTarget::Cooked(_) => {
            let program = tcpdump(&["-y", "LINUX_SLL"], expression)?;
            cooked::from_linux_sll(&program).map_err(|reason| FilterError::Unusable {
                expression: expression.to_owned(),
                reason,
                advice: "name one Ethernet interface with -i",
            })
        }
    }
}

fn mentions_vlan(expression: &str) -> bool {
    expression.split(|c: char| !c.is_alphanumeric()).any(|word| word == "vlan")
}

fn is_about_rights(message: &str) -> bool {
    ["permission", "not permitted", "CAP_NET_RAW"].iter().any(|word| message.contains(word))
}

/// Has tcpdump compile it for this interface or link type.
fn tcpdump(link: &[&str], expression: &str) -> Result<Vec<Instruction>, FilterError> {
    // On some systems it is not where unprivileged users look.
    let mut output = Err(io::ErrorKind::NotFound.into());
    for program in ["tcpdump", "/usr/sbin/tcpdump", "/sbin/tcpdump"] {
        let mut command = Command::new(program);
        // Arguments behind the dashes are not options.
        command.arg("-ddd").args(link).args(["--", expression]).stdin(Stdio::null());
        output = command.env("LC_ALL", "C").output();
        if !output.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            break;
        }
    }
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FilterError::NoCompiler,
        _ => FilterError::Compiler(error),
    })?;
    if !output.status.success() {
        return Err(misunderstood(expression, &String::from_utf8_lossy(&output.stderr)));
    }
    let listing = String::from_utf8_lossy(&output.stdout);
    parse(&listing).ok_or_else(|| {
        let printed = listing.lines().next().unwrap_or("nothing").to_owned();
        FilterError::Compiler(io::Error::other(format!("it printed {printed:?} in place of a program")))
    })
}

/// The number of instructions, then a line for each: code, two jumps, value.
fn parse(listing: &str) -> Option<Vec<Instruction>> {
    let mut lines = listing.lines();
    let count: usize = lines.next()?.trim().parse().ok()?;
    let instruction = |line: &str| {
        let mut figures = line.split_whitespace();
        let code = figures.next()?.parse().ok()?;
        let jumps = [figures.next()?.parse().ok()?, figures.next()?.parse().ok()?];
        let instruction = Instruction { code, jumps, value: figures.next()?.parse().ok()? };
        figures.next().is_none().then_some(instruction)
    };
    let program: Vec<_> = lines.map(instruction).collect::<Option<_>>()?;
    (program.len() == count && count > 0).then_some(program)
}

/// libpcap's message, and the word of the expression that it quotes.
fn misunderstood(expression: &str, printed: &str) -> FilterError {
    let mut lines = printed.lines().map(|line| line.strip_prefix("tcpdump: ").unwrap_or(line));
    let message = lines.rfind(|line| !line.is_empty() && !line.starts_with("WARNING"));
    let message = message.unwrap_or("tcpdump does not say why").to_owned();
    let message = message.strip_prefix("can't parse filter expression: ").map_or(message.clone(), str::to_owned);
    let at = quoted(&message).and_then(|word| find_word(expression, word));
    FilterError::Expression { expression: expression.to_owned(), message, at }
}

/// The text between quotes, or after a colon as in `illegal token: %`.
fn quoted(message: &str) -> Option<&str> {
    let between = |quote: char| {
        let (_, rest) = message.split_once(quote)?;
        Some(rest.split_once(quote)?.0).filter(|word| !word.is_empty())
    };
    between('\'').or_else(|| between('"'))
}

/// The place of a word in an expression, preferably alone.
fn find_word(expression: &str, word: &str) -> Option<Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '/');
    let alone = |at: &usize| {
        let (before, after) = (&expression[..*at], &expression[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    };
    let mut found: Vec<usize> = expression.match_indices(word).map(|(at, _)| at).collect();
    if found.iter().any(alone) {
        found.retain(alone);
    }
    found.first().map(|at| *at..at + word.len())
}

/// The kernel does not take the program.
pub(super) fn refused(expression: Option<&str>, error: io::Error) -> WatchError {
    match expression {
        Some(expression) => FilterError::Unusable {
            expression: expression.to_owned(),
            reason: format!("the kernel does not take its {error}"),
            advice: "make it simpler: the kernel runs no loops (protochain) and 4096 instructions at most",
        }
        .into(),
        None => WatchError::system("the filter cannot be attached")(error),
    }
}

#[cfg(test)]
mod tests;
