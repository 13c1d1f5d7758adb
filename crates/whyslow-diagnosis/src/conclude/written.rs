//! Hosts are shown as the capture writes them: where a text has placeholders instead of addresses,
//! every sentence uses the placeholders.

use std::collections::HashMap;
use std::net::IpAddr;
use whyslow_analysis::{Connection, Finding};
use whyslow_core::tcp::facts::Facts;

/// Replaces stand-in addresses by the names in the capture.
pub(super) fn restore(connection: &mut Connection, facts: &Facts, names: &Names) {
    // Routers that sent ICMP errors have no port; one that is an endpoint is already listed.
    let is_end = |by: IpAddr| facts.endpoints.iter().any(|&(address, _)| address == by);
    let routers = facts.notices.list.iter().map(|notice| (notice.by, 0)).filter(|&(by, _)| !is_end(by));
    let hidden = facts.endpoints.iter().copied().chain(routers).filter_map(|(address, port)| {
        let (name, stand_in) = names.get(&address)?;
        stand_in.then_some((address, port, name.as_str()))
    });
    for (address, port, name) in hidden {
        let restored = |text: &mut String| {
            if let Some(new) = replaced(text, address, port, name) {
                *text = new;
            }
        };
        for transfer in &mut connection.transfers {
            transfer.findings.iter_mut().for_each(|finding| each_host(finding, &restored));
        }
        connection.findings.iter_mut().for_each(|finding| each_host(finding, &restored));
        for error in &mut connection.icmp {
            restored(&mut error.by);
        }
    }
}

fn each_host(finding: &mut Finding, act: &dyn Fn(&mut String)) {
    finding.statement.each_host(act);
    finding.details.iter_mut().for_each(|detail| detail.each_host(act));
    finding.to_confirm.iter_mut().for_each(|question| question.each_host(act));
    finding.remedies.iter_mut().for_each(|remedy| remedy.action.each_host(act));
}

/// `text` with `name` for the address, wherever that stands whole; none if it does not. A port that
/// is not known goes with it.
fn replaced(text: &str, address: IpAddr, port: u16, name: &str) -> Option<String> {
    let address = address.to_string();
    let mut parts = text.split(address.as_str());
    let mut out = parts.next()?.to_owned();
    let mut found = false;
    for part in parts {
        // A longer address begins in the same way.
        if part.starts_with(|c: char| c.is_ascii_hexdigit()) {
            out += &address;
            out += part;
            continue;
        }
        found = true;
        out += name;
        out += part.strip_prefix(":0").filter(|_| port == 0).unwrap_or(part);
    }
    found.then_some(out)
}

/// Names of addresses, and whether the address only stands in for the name.
pub(crate) type Names = HashMap<IpAddr, (String, bool)>;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_whole_addresses_are_replaced() {
        let replaced = |text: &str, port| replaced(text, [198, 18, 0, 1].into(), port, "x.x.x.x");
        assert_eq!(
            replaced("198.18.0.1:80 refused; on 198.18.0.1, start it", 80).unwrap(),
            "x.x.x.x:80 refused; on x.x.x.x, start it"
        );
        assert_eq!(replaced("ping 198.18.0.1", 80).unwrap(), "ping x.x.x.x");
        assert_eq!(replaced("198.18.0.12:80, and 192.0.2.1", 80), None);
        assert_eq!(replaced("198.18.0.1:0 refused", 0).unwrap(), "x.x.x.x refused");
    }
}
