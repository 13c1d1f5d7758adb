//! Remedies in products: a line of their configuration, or of an application that uses them.

use super::action::{Action, ExchangeAction, LossAction, SendingAction};
use crate::types::Product;

/// The changed part of an application.
#[derive(Clone, Copy)]
enum Lever {
    /// Connections stay open and are used again.
    KeepAlive,
    /// A proxy's connections to the servers behind it stay open.
    Upstream,
    /// Several requests at once, or in one.
    Batch,
    /// The receive buffer of its sockets.
    ReceiveBuffer,
    /// The send buffer of its sockets.
    SendBuffer,
    /// Nagle's algorithm.
    NoDelay,
    /// The window of its own protocol.
    ProtocolWindow,
    /// The largest TLS record.
    TlsRecord,
    /// Its rate limit.
    RateLimit,
    /// Keep-alives of TCP.
    Probes,
}

/// The line that makes the change in `product`; `None` if it has none.
pub(super) fn line(action: &Action, product: Product) -> Option<&'static str> {
    lever(action).and_then(|lever| text(lever, product))
}

fn lever(action: &Action) -> Option<Lever> {
    Some(match action {
        Action::Exchange(ExchangeAction::KeepConnections { .. } | ExchangeAction::CloseIdleSooner { .. })
        | Action::Sending(SendingAction::ReuseConnection { .. }) => Lever::KeepAlive,
        Action::Exchange(ExchangeAction::KeepUpstreamConnections) => Lever::Upstream,
        Action::Exchange(ExchangeAction::BatchRequests | ExchangeAction::WriteLargerPieces)
        | Action::Sending(SendingAction::WriteLargerPieces { .. }) => Lever::Batch,
        Action::Exchange(ExchangeAction::SendKeepalives { .. }) => Lever::Probes,
        Action::Exchange(ExchangeAction::LimitTlsRecords { .. }) => Lever::TlsRecord,
        Action::Sending(SendingAction::RaiseReceiveBuffer { .. } | SendingAction::OfferLargerWindows { .. }) => {
            Lever::ReceiveBuffer
        }
        Action::Sending(SendingAction::RaiseSendBuffer { .. }) => Lever::SendBuffer,
        Action::Sending(SendingAction::NoDelay { .. }) => Lever::NoDelay,
        Action::Sending(SendingAction::RaiseProtocolWindow { .. }) => Lever::ProtocolWindow,
        Action::Sending(SendingAction::RaiseRateLimit { .. }) => Lever::RateLimit,
        Action::Exchange(_) | Action::Sending(_) | Action::Link(_) => return None,
        Action::Loss(
            LossAction::AcceptIcmp { .. }
            | LossAction::BalanceByFlow
            | LossAction::ClampMss { .. }
            | LossAction::EnableRack
            | LossAction::EnableSack { .. }
            | LossAction::EnableSackForProbes { .. }
            | LossAction::EnableTailProbes { .. }
            | LossAction::FindBurstLoss
            | LossAction::FindDamage { .. }
            | LossAction::FindDuplication
            | LossAction::FindFlightLoss
            | LossAction::FindLargeLoss
            | LossAction::FindLoss { .. }
            | LossAction::FindSackStripper
            | LossAction::FindTailLoss { .. }
            | LossAction::PaceSender
            | LossAction::PassIcmp
            | LossAction::PassIcmpOf { .. }
            | LossAction::ProbeMtu
            | LossAction::RaiseTimerFloor { .. }
            | LossAction::UpdateKernel
            | LossAction::UseBbr,
        ) => return None,
    })
}

fn text(lever: Lever, product: Product) -> Option<&'static str> {
    match lever {
        Lever::KeepAlive => keep_alive(product),
        Lever::Upstream => upstream(product),
        Lever::Batch => batch(product),
        Lever::ReceiveBuffer => receive_buffer(product),
        Lever::SendBuffer => send_buffer(product),
        Lever::NoDelay => no_delay(product),
        Lever::ProtocolWindow => protocol_window(product),
        Lever::TlsRecord => match product {
            Product::Nginx => Some("ssl_buffer_size 4k;"),
            Product::Haproxy => Some("tune.ssl.maxrecord 1400"),
            _ => None,
        },
        Lever::RateLimit => match product {
            Product::Nginx => Some("limit_rate 0;"),
            Product::Rclone => Some("rclone --bwlimit off"),
            Product::AwsCli => Some("aws configure set default.s3.max_bandwidth 1GB/s"),
            Product::Curl => Some("curl without --limit-rate"),
            _ => None,
        },
        Lever::Probes => probes(product),
    }
}

/// ngx_http_core_module; HAProxy "timeout http-keep-alive"; core of httpd; libpq and JDBC pools;
/// OpenSSH `ssh_config`(5); each client's own documentation.
fn keep_alive(product: Product) -> Option<&'static str> {
    Some(match product {
        Product::Nginx => "keepalive_timeout 75s; keepalive_requests 1000;",
        Product::Haproxy => "option http-keep-alive\ntimeout http-keep-alive 60s",
        Product::Envoy => "common_http_protocol_options: { idle_timeout: 3600s }",
        Product::Apache => "KeepAlive On\nMaxKeepAliveRequests 0\nKeepAliveTimeout 60",
        Product::Kafka => "connections.max.idle.ms=540000",
        Product::Postgresql => "use a pool (PgBouncer: pool_mode = transaction)",
        Product::Mysql => "SET GLOBAL wait_timeout = 28800   -- and a pool in the client",
        Product::Redis => "CONFIG SET timeout 0   -- and one client object for all commands",
        Product::Grpc => "one channel for all calls",
        Product::Openssh => "ssh -o ControlMaster=auto -o ControlPath=~/.ssh/%C -o ControlPersist=10m",
        Product::Boto3 => "one client for all calls: s3 = boto3.client('s3')",
        Product::PythonRequests => "session = requests.Session()   # one for all requests",
        Product::Java => "one java.net.http.HttpClient for all requests",
        Product::Go => "http.Transport{MaxIdleConnsPerHost: 100}   // one Client; read and close each Body",
        Product::Node => "new http.Agent({ keepAlive: true })",
        Product::Curl => "curl URL1 URL2   # one run for several",
        Product::Rclone | Product::AwsCli => return None,
    })
}

fn upstream(product: Product) -> Option<&'static str> {
    Some(match product {
        Product::Nginx => {
            "upstream: keepalive 32;   location: proxy_http_version 1.1; proxy_set_header Connection \"\";"
        }
        Product::Haproxy => "http-reuse always",
        Product::Apache => "ProxyPass / http://backend/ keepalive=On",
        Product::Envoy => "common_http_protocol_options: { idle_timeout: 3600s }",
        _ => return None,
    })
}

/// Kafka's producer settings; libpq pipeline mode; Redis pipelines; MySQL's multi-row INSERT.
fn batch(product: Product) -> Option<&'static str> {
    Some(match product {
        Product::Kafka => "batch.size=131072 linger.ms=10",
        Product::Postgresql => "psql: \\startpipeline (18), libpq: PQenterPipelineMode(conn), or COPY for many rows",
        Product::Mysql => "INSERT … VALUES (…), (…), …   -- JDBC: rewriteBatchedStatements=true",
        Product::Redis => "redis-cli --pipe, or a pipeline of the client library; MGET and MSET",
        Product::Grpc => "one streaming call instead of many unary ones",
        Product::Openssh => "sftp -R 256 -B 262144",
        Product::Rclone => "rclone --transfers 16 --checkers 32",
        Product::AwsCli => "aws configure set default.s3.max_concurrent_requests 20",
        Product::Boto3 => "TransferConfig(max_concurrency=20)",
        _ => return None,
    })
}

fn receive_buffer(product: Product) -> Option<&'static str> {
    Some(match product {
        Product::Nginx => "listen … rcvbuf=   # remove it, or raise it",
        Product::Haproxy => "tune.rcvbuf.client, tune.rcvbuf.server   # remove them, or raise them",
        Product::Kafka => "receive.buffer.bytes=-1 (consumer), socket.receive.buffer.bytes=-1 (broker)",
        Product::Apache => "ReceiveBufferSize 0",
        Product::Java => "-Djdk.httpclient.receiveBufferSize   # leave it unset",
        _ => return None,
    })
}

fn send_buffer(product: Product) -> Option<&'static str> {
    Some(match product {
        Product::Nginx => "listen … sndbuf=   # remove it, or raise it",
        Product::Haproxy => "tune.sndbuf.client, tune.sndbuf.server   # remove them, or raise them",
        Product::Kafka => "send.buffer.bytes=-1 (producer), socket.send.buffer.bytes=-1 (broker)",
        Product::Apache => "SendBufferSize 0",
        Product::Envoy => "per_connection_buffer_limit_bytes: 4194304",
        _ => return None,
    })
}

fn no_delay(product: Product) -> Option<&'static str> {
    Some(match product {
        Product::Nginx => "tcp_nodelay on;",
        Product::Java => "socket.setTcpNoDelay(true)",
        Product::Node => "socket.setNoDelay(true)",
        Product::Go => "conn.SetNoDelay(true)   // the default",
        Product::PythonRequests => "HTTPAdapter with socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]",
        Product::Haproxy => "option http-no-delay",
        _ => return None,
    })
}

fn protocol_window(product: Product) -> Option<&'static str> {
    Some(match product {
        Product::Nginx => "http2_preread_size 1m; client_body_buffer_size 1m;",
        Product::Haproxy => "tune.h2.fe.initial-window-size 1048576",
        Product::Envoy => {
            "http2_protocol_options: { initial_stream_window_size: 1048576, initial_connection_window_size: 16777216 }"
        }
        Product::Apache => "H2WindowSize 1048576",
        Product::Grpc => {
            "Go: grpc.InitialWindowSize(1<<20), grpc.InitialConnWindowSize(1<<24); C++: GRPC_ARG_HTTP2_BDP_PROBE"
        }
        Product::Openssh => "sftp -R 256 -B 262144, or several connections: the window of a channel is 2 MiB",
        Product::Java => "-Djdk.httpclient.windowsize=16777216",
        Product::Kafka => "fetch.max.bytes, max.partition.fetch.bytes, max.in.flight.requests.per.connection=5",
        Product::Rclone => "rclone --multi-thread-streams 8",
        _ => return None,
    })
}

fn probes(product: Product) -> Option<&'static str> {
    Some(match product {
        Product::Nginx => "listen … so_keepalive=60s:15s:4;",
        Product::Haproxy => "option tcpka",
        Product::Postgresql => "tcp_keepalives_idle = 60",
        Product::Redis => "tcp-keepalive 60",
        Product::Openssh => "ServerAliveInterval 60",
        Product::Grpc => "GRPC_ARG_KEEPALIVE_TIME_MS=60000",
        Product::Go => "net.Dialer{KeepAlive: 60 * time.Second}",
        Product::Node => "socket.setKeepAlive(true, 60000)",
        Product::Curl => "curl --keepalive-time 60",
        _ => return None,
    })
}
