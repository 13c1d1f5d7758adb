//! Namespaces, devices, routes and settings: the hosts of a path on this one machine.

pub mod config;
