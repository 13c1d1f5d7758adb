//! The platform of an end, from the fields of its SYN or SYN-ACK.
//!
//! The idea is that of passive fingerprints (M. Zalewski, p0f 3, README, sections on `sig`): stacks
//! begin with a TTL of 64 or 128 and choose window, scale and options by their own arithmetic.
//! Sources of the rules: Linux `tcp_select_initial_window` (a multiple of the MSS, with or without
//! the 12 bytes of timestamps), Linux `ip_default_ttl` 64; Windows `DefaultTTL` 128 (Microsoft,
//! "TCP/IP and NBT configuration parameters"); XNU `tcp_recvspace` 131,072 (a SYN's window is then
//! 65,535) and `tcp_autorcvbuf_max`, from which its scale of 3 to 6 comes.
//!
//! FreeBSD and macOS differ by the order of options, which is not kept: a SYN that fits both is
//! hidden.

use whyslow_analysis::types::{Platform, Side, Stack, StackFields, StackReason};
use whyslow_core::tcp::facts::Facts;

/// Initial TTL of Linux, macOS and FreeBSD (RFC 1700; Linux `IPDEFTTL`), …
const TTL_OF_UNIX: u8 = 64;
/// … and of Windows (its documentation of `DefaultTTL`, https://learn.microsoft.com).
const TTL_OF_WINDOWS: u8 = 128;
/// Maximum number of hops of a path: a TTL further below its initial value belongs to another one.
/// More than 99 % of the paths that CAIDA's Archipelago measured are shorter.
const MAX_HOPS: u8 = 32;
/// Bytes of the timestamps option with its padding (RFC 7323 section 3.2), which Linux subtracts
/// from the MSS.
const TIMESTAMPS: u16 = 12;
/// Largest window of a SYN, which is never scaled (RFC 7323 section 2.2).
const MAX_WINDOW: u16 = u16::MAX;

/// The platform of the host at `side`.
pub(crate) fn of(facts: &Facts, side: Side) -> Stack {
    match fields(facts, side) {
        Ok(evidence) => match platform(evidence) {
            Some(value) => Stack::Known { value, evidence },
            None => Stack::Hidden { reason: StackReason::Ambiguous },
        },
        Err(reason) => Stack::Hidden { reason },
    }
}

fn fields(facts: &Facts, side: Side) -> Result<StackFields, StackReason> {
    let handshake = &facts.handshake;
    let offer = handshake.offers[side].filter(|_| !handshake.is_joined).ok_or(StackReason::NoSyn)?;
    let (of_syn, of_payload) = facts.ttl[side];
    let ttl = of_syn.ok_or(StackReason::NoTtl)?;
    // A SYN proxy, or a split connection (RFC 3135): the SYN is another host's.
    if of_payload.is_some_and(|other| other != ttl) {
        return Err(StackReason::Middlebox);
    }
    let mss = offer.mss.ok_or(StackReason::Ambiguous)?;
    let offers = offer.sack || offer.timestamps;
    // Without options a box took them off, or the stack is unknown.
    if !offers || mss <= TIMESTAMPS {
        return Err(StackReason::Ambiguous);
    }
    Ok(StackFields { ttl, window: offer.window, mss, window_scale: offer.window_scale, timestamps: offer.timestamps })
}

/// The only platform that fits.
fn platform(fields: StackFields) -> Option<Platform> {
    let StackFields { ttl, window, mss, window_scale, timestamps } = fields;
    let began_at = |first: u8| ttl <= first && ttl > first - MAX_HOPS;
    let is_multiple = |of: u16| window >= of && window.is_multiple_of(of);
    // Linux rounds the window down to whole segments; an MSS that a router clamped on the way shows
    // no multiple any more, and the stack stays hidden.
    let by_segments = is_multiple(mss) || (timestamps && is_multiple(mss - TIMESTAMPS));
    if began_at(TTL_OF_WINDOWS) {
        let scale = window_scale.is_none_or(|shift| shift <= 8);
        let usual = [8192, 64_240, 65_535].contains(&window) || by_segments;
        return (scale && usual).then_some(Platform::Windows);
    }
    if !began_at(TTL_OF_UNIX) {
        return None;
    }
    match window_scale {
        Some(shift) if window == MAX_WINDOW && timestamps => (3..=5).contains(&shift).then_some(Platform::Macos),
        // A balancer with scale 8 and no timestamps is as likely as Windows behind 64 hops.
        Some(_) if by_segments => Some(Platform::Linux),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform_of(ttl: u8, window: u16, mss: u16, window_scale: Option<u8>, timestamps: bool) -> Option<Platform> {
        platform(StackFields { ttl, window, mss, window_scale, timestamps })
    }

    #[test]
    fn syn_of_a_default_installation_names_its_platform() {
        assert_eq!(platform_of(64, 64_240, 1460, Some(7), true), Some(Platform::Linux));
        assert_eq!(platform_of(52, 65_160, 1460, Some(7), true), Some(Platform::Linux));
        assert_eq!(platform_of(57, 28_960, 1460, Some(9), true), Some(Platform::Linux));
        assert_eq!(platform_of(128, 64_240, 1460, Some(8), false), Some(Platform::Windows));
        assert_eq!(platform_of(113, 8_192, 1440, Some(8), false), Some(Platform::Windows));
        assert_eq!(platform_of(64, 65_535, 1460, Some(5), true), Some(Platform::Macos));
    }

    #[test]
    fn fields_that_fit_two_platforms_or_none_are_hidden() {
        // FreeBSD and macOS both.
        assert_eq!(platform_of(64, 65_535, 1460, Some(6), true), None);
        // A balancer's TTL of 255.
        assert_eq!(platform_of(250, 64_240, 1460, Some(7), true), None);
        // An MSS that was clamped on the way.
        assert_eq!(platform_of(60, 64_240, 1380, Some(7), true), None);
        assert_eq!(platform_of(20, 64_240, 1460, Some(7), true), None);
    }
}
