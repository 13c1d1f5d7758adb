//! [`Account`]: what a kernel counted of one connection, for questions that a capture leaves open.

/// One end's account of a connection. Counts are those since the connection began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// This end: address and port.
    pub local: Place,
    /// The other end.
    pub remote: Place,
    /// Time with data to send, seconds.
    pub busy_s: Option<f64>,
    /// The part of it with the peer's window full. The kernel prints nothing for zero.
    pub rwnd_limited_s: f64,
    /// The part of it with the send buffer full.
    pub sndbuf_limited_s: f64,
    /// Looks at which data was in flight.
    pub looks: usize,
    /// The looks at which the application wrote less than could be sent.
    pub app_limited_looks: usize,
    /// Acknowledged by the peer, bytes.
    pub acked: Option<f64>,
    /// Received, bytes.
    pub received: Option<f64>,
    /// Received and not read by the application, bytes: most of all looks.
    pub unread: Option<f64>,
    /// Segments retransmitted in all.
    pub retransmitted: f64,
    /// Timeouts in a row.
    pub backoff: f64,
    /// Smoothed round trip, seconds: the median of the looks with data in flight.
    pub rtt_s: Option<f64>,
    /// Minimum round trip, seconds.
    pub least_rtt_s: Option<f64>,
    /// Congestion window, segments.
    pub cwnd: Option<f64>,
    /// Slow start's threshold, segments; `None` if it was never set.
    pub ssthresh: Option<f64>,
    /// The window that the peer offers, bytes.
    pub peer_window: Option<f64>,
    /// Delivered, bits per second.
    pub delivery_bps: Option<f64>,
    /// A limit that the application or a setting gives, bits per second.
    pub pacing_limit_bps: Option<f64>,
}

/// An end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// IP address, without brackets, zone or the prefix of a mapped IPv4 address.
    pub address: String,
    /// `None` if the output has only a name that is not well known.
    pub port: Option<u16>,
}

impl Place {
    /// Reads `192.0.2.1:443`, `[2001:db8::1]:22`, `[::ffff:192.0.2.1]:80`, `192.0.2.1%eth0:https`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let host = host.split('%').next()?.trim_end_matches(']');
        let host = host.strip_prefix("::ffff:").filter(|rest| rest.contains('.')).unwrap_or(host);
        // One spelling for one address.
        let address = host.parse::<core::net::IpAddr>().map_or_else(|_| host.to_owned(), |address| address.to_string());
        Some(Self { address, port: port.parse().ok().or_else(|| well_known(port)) })
    }
}

/// Names that `ss` without `-n` prints most: /etc/services.
fn well_known(name: &str) -> Option<u16> {
    Some(match name {
        "ftp-data" => 20,
        "ftp" => 21,
        "ssh" => 22,
        "smtp" => 25,
        "http" => 80,
        "imap2" => 143,
        "https" => 443,
        "microsoft-ds" => 445,
        "submission" => 587,
        "imaps" => 993,
        "mysql" => 3306,
        "postgresql" => 5432,
        "amqp" => 5672,
        "redis" => 6379,
        "http-alt" => 8080,
        _ => return None,
    })
}
