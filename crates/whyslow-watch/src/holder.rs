//! [`Holder`]: the program, container and pod on this machine that has an end of a connection.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use whyslow_analysis::Endpoint;

/// Maximum number of connections whose holders are remembered.
const MAX_CONNECTIONS: usize = 200_000;
/// Maximum number of listeners, and of addresses of pods, that are remembered.
const MAX_OTHERS: usize = 20_000;

/// The holder of an end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// The program's name; `None` if only the pod is known, by its address.
    pub process: Option<String>,
    pub pid: Option<u32>,
    /// The container's runtime and the beginning of its id.
    pub container: Option<String>,
    /// systemd's unit.
    pub unit: Option<String>,
    pub pod: Option<PodName>,
}

/// A pod of Kubernetes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PodName {
    pub uid: String,
    /// Unknown where the kubelet's files cannot be read.
    pub namespace: Option<String>,
    pub name: Option<String>,
    /// The container's name in the pod.
    pub container: Option<String>,
}

/// The holders of both ends, where these are on this machine and known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Holders {
    pub client: Option<Arc<Holder>>,
    pub server: Option<Arc<Holder>>,
}

/// What a holder is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Key {
    /// Its own end of a connection, and the other one.
    Connection(SocketAddr, SocketAddr),
    /// Where it takes connections.
    Listener(SocketAddr),
    /// An address that only it has.
    Address(IpAddr),
}

/// All holders that are known.
#[derive(Debug, Default)]
pub(super) struct Table {
    connections: HashMap<(SocketAddr, SocketAddr), Arc<Holder>>,
    others: HashMap<Key, Arc<Holder>>,
}

impl Holder {
    /// A line for a person: `nginx in shop/checkout-7d9f-x2x`.
    pub(crate) fn text(&self) -> String {
        let place = self.pod.as_ref().and_then(PodName::text).or_else(|| self.container.clone());
        match (&self.process, place) {
            (Some(process), Some(place)) => format!("{process} in {place}"),
            (Some(process), None) => process.clone(),
            (None, place) => place.unwrap_or_default(),
        }
    }
}

impl PodName {
    /// Namespace and name, as `kubectl` has them.
    pub(crate) fn text(&self) -> Option<String> {
        Some(format!("{}/{}", self.namespace.as_ref()?, self.name.as_ref()?))
    }
}

impl Holders {
    /// Both that are known, the server first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Holder> {
        [&self.server, &self.client].into_iter().flatten().map(Arc::as_ref)
    }

    /// The first of them that has a name.
    pub(crate) fn process(&self) -> Option<&str> {
        self.all().find_map(|holder| holder.process.as_deref())
    }
}

impl Table {
    /// Remembers a holder. Of too many connections all are forgotten: those that are open are
    /// found again.
    pub(super) fn insert(&mut self, key: Key, holder: Holder) {
        match key {
            Key::Connection(own, other) => {
                if self.connections.len() >= MAX_CONNECTIONS {
                    self.connections.clear();
                }
                self.connections.insert((own, other), Arc::new(holder));
            }
            Key::Listener(_) | Key::Address(_) => {
                if self.others.len() >= MAX_OTHERS {
                    self.others.clear();
                }
                self.others.insert(key, Arc::new(holder));
            }
        }
    }

    /// The holders of a connection's ends. A socket names them; else the listener that took the
    /// connection, else the pod whose address it is.
    pub(super) fn of(&self, client: &Endpoint, server: &Endpoint) -> Holders {
        let end = |end: &Endpoint| Some(SocketAddr::new(end.address.parse::<IpAddr>().ok()?.to_canonical(), end.port));
        let Some((client, server)) = end(client).zip(end(server)) else {
            return Holders::default();
        };
        Holders { client: self.of_end(client, server, false), server: self.of_end(server, client, true) }
    }

    /// The holder of one end. `may_listen`: the end may have taken the connection.
    pub(super) fn of_end(&self, own: SocketAddr, other: SocketAddr, may_listen: bool) -> Option<Arc<Holder>> {
        let listener = || self.others.get(&Key::Listener(own)).filter(|_| may_listen);
        let address = || self.others.get(&Key::Address(own.ip()));
        self.connections.get(&(own, other)).or_else(listener).or_else(address).cloned()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A program in a pod.
    pub(crate) fn in_pod(process: &str, namespace: &str, pod: &str) -> Holder {
        Holder {
            process: Some(process.to_owned()),
            pid: Some(812),
            container: Some("containerd 4f2a09c1be77".to_owned()),
            unit: None,
            pod: Some(PodName {
                uid: "0e3b2a4c-9f1d-4b7e-8c6a-5d4f3e2b1a09".to_owned(),
                namespace: Some(namespace.to_owned()),
                name: Some(pod.to_owned()),
                container: Some("web".to_owned()),
            }),
        }
    }

    fn end(text: &str) -> Endpoint {
        let address: SocketAddr = text.parse().unwrap();
        Endpoint { address: address.ip().to_string(), port: address.port(), name: None }
    }

    #[test]
    fn a_socket_names_its_end_before_a_listener_and_an_address() {
        let mut table = Table::default();
        let named = |name: &str| Holder { process: Some(name.to_owned()), ..Holder::default() };
        let at = |text: &str| -> SocketAddr { text.parse().unwrap() };
        let (client, server) = ("10.1.0.9:4711", "10.1.0.5:80");
        let names = |table: &Table| {
            let holders = table.of(&end(client), &end(server));
            let name = |holder: Option<Arc<Holder>>| holder.map(|holder| holder.text());
            (name(holders.client), name(holders.server))
        };
        assert_eq!(names(&table), (None, None));
        table.insert(Key::Address(at(server).ip()), Holder { process: None, ..in_pod("", "shop", "web-1") });
        assert_eq!(names(&table), (None, Some("shop/web-1".to_owned())));
        table.insert(Key::Listener(at(server)), named("listens"));
        // A client does not listen at its own port.
        table.insert(Key::Listener(at(client)), named("other"));
        assert_eq!(names(&table), (None, Some("listens".to_owned())));
        table.insert(Key::Connection(at(server), at(client)), named("worker"));
        table.insert(Key::Connection(at(client), at(server)), named("curl"));
        assert_eq!(names(&table), (Some("curl".to_owned()), Some("worker".to_owned())));
    }

    #[test]
    fn a_holder_is_a_line() {
        assert_eq!(in_pod("nginx", "shop", "web-1").text(), "nginx in shop/web-1");
        let container = Holder { pod: None, ..in_pod("nginx", "", "") };
        assert_eq!(container.text(), "nginx in containerd 4f2a09c1be77");
        assert_eq!(Holder { container: None, ..container }.text(), "nginx");
    }

    #[test]
    fn the_table_is_bounded() {
        let mut table = Table::default();
        for port in 0..u16::MAX {
            for host in 1..=4 {
                let address = SocketAddr::from(([192, 0, 2, host], port));
                table.insert(Key::Connection(address, address), Holder::default());
                table.insert(Key::Listener(address), Holder::default());
            }
        }
        assert!(table.connections.len() <= MAX_CONNECTIONS && table.others.len() <= MAX_OTHERS);
    }
}
