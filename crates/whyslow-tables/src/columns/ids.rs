//! By what a connection or a transfer is found again: the first columns of most tables.

use crate::column::{Column, int, raw, text};

/// The ids of a connection.
pub(super) fn of_connection() -> Vec<Column> {
    vec![
        raw("file", "The input that holds the first packet, as it was named.", |row| Some(row.capture()?.path.clone())),
        int("connection", "Number of the connection in this run, from 1, as in the JSON.", |row| {
            Some(row.connection()?.id)
        }),
        int(
            "tcp_stream",
            "Place of the connection, from 0, among those of the inputs that continue each other: Wireshark's \
             tcp.stream of one file; null for QUIC.",
            |row| row.connection()?.origin.stream,
        ),
        int("first_frame", "Frame of the first packet in `file`, from 1 as in Wireshark.", |row| {
            Some(row.connection()?.origin.frame.number)
        }),
        text(
            "uid",
            "32 hexadecimal digits, the same over reruns, machines and splits of the capture: XXH3-128 of the capture \
             point's name, addresses, ports, time of the first packet and the client's initial sequence number.",
            |row| Some(row.identity?.uid.clone()),
        ),
        text(
            "community_id",
            "Community ID version 1, seed 0, as Zeek, Suricata and Wireshark have it; null where a text shows no \
             address.",
            |row| row.identity?.community_id.clone(),
        ),
        text("client_address", "IP address of the end that opened it, or its name in a text.", |row| {
            Some(row.connection()?.client.address.clone())
        }),
        int("client_port", "Port; null where a text shows none.", |row| {
            Some(row.connection()?.client.port).filter(|&port| port > 0)
        }),
        text("server_address", "IP address of the other end, or its name in a text.", |row| {
            Some(row.connection()?.server.address.clone())
        }),
        int("server_port", "Port; null where a text shows none.", |row| {
            Some(row.connection()?.server.port).filter(|&port| port > 0)
        }),
        text("server_name", "From TLS (SNI) or HTTP (Host), or the capture's own name for the address.", |row| {
            row.connection()?.server.name.clone()
        }),
    ]
}

/// The ids of a transfer.
pub(super) fn of_transfer() -> Vec<Column> {
    let mut columns = of_connection();
    columns.push(int("transfer", "Place of the transfer, from 1, in the connection's list.", |row| {
        row.connection()?;
        Some(row.place.transfer? + 1)
    }));
    columns
}
