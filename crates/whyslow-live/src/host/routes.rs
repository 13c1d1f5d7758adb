//! The routes that connections take.

use super::{Device, Route, Socket, State};
use std::collections::HashMap;
use std::io;
use whyslow_tcpinfo::routes::{Key, Routes};

/// Finds the route of every connection and gives the routes; the sockets then have their places.
///
/// # Errors
/// Errors of a socket. A peer without a route has none.
pub(super) fn of(sockets: &mut [Socket], devices: &[Device]) -> io::Result<Vec<Route>> {
    let mut kernel = Routes::open()?;
    let mut routes: Vec<Route> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut known: HashMap<Key, Option<usize>> = HashMap::new();
    let connections = sockets.iter_mut().filter(|socket| !matches!(socket.state, State::Listen | State::Close));
    let name = |index| devices.iter().find(|device| device.index == index).map(|device| device.name.clone());
    for socket in connections {
        let (remote, local) = (socket.remote.ip(), socket.local.ip());
        let key = Key { remote, local, interface: socket.interface, mark: socket.mark };
        socket.route = *known.entry(key).or_insert_with(|| {
            let route = kernel.of(key, name)?;
            Some(*places.entry(route.text.clone()).or_insert_with(|| {
                routes.push(route);
                routes.len() - 1
            }))
        });
    }
    Ok(routes)
}
