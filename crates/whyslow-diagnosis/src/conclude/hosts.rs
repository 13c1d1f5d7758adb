//! Which host a remedy is for, and how its effect is measured.

use std::net::IpAddr;
use whyslow_analysis::{Connection, End, Finding, Host, Verify};

/// Adds the software of a connection's ends to each of its findings.
pub(super) fn fill(connection: &mut Connection) {
    let hosts = [End::Client, End::Server].map(|end| Host {
        platform: connection.stacks[end.index()].platform(),
        product: connection.products[end.index()].map(|estimate| estimate.value),
    });
    // A name may hold anything; an address is safe in a shell.
    let server = &connection.server;
    let host = server.address.parse::<IpAddr>().ok().map(|address| address.to_string());
    let verify = Verify { application: connection.application, host, port: server.port };
    for transfer in &mut connection.transfers {
        let sender = Some(transfer.from);
        transfer.findings.iter_mut().for_each(|finding| attach_hosts(finding, sender, hosts, &verify));
    }
    connection.findings.iter_mut().for_each(|finding| attach_hosts(finding, None, hosts, &verify));
}

fn attach_hosts(finding: &mut Finding, sender: Option<End>, hosts: [Host; 2], verify: &Verify) {
    for remedy in &mut finding.remedies {
        if let Some(end) = remedy.acts_at(sender) {
            remedy.host = hosts[end.index()];
        }
    }
    if !finding.remedies.is_empty() {
        finding.verify = Some(verify.clone());
    }
}
