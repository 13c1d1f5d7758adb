//! Commands that are printed to be pasted on Linux. Each is whole, and raises a value that is too small without lowering one
//! that is larger already.

/// Sets an attribute of the default route, and leaves the rest of the route as it is.
pub(super) fn default_route(ipv6: bool, attribute: &str) -> String {
    let ip = if ipv6 { "ip -6" } else { "ip" };
    format!("{ip} route change $({ip} route show default | head -n 1) {attribute}")
}
