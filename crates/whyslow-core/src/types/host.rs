//! What is known of the host at an end: its platform and its product, with the evidence.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// An operating system whose TCP settings have commands of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Linux, Android included.
    Linux,
    /// Windows.
    Windows,
    /// macOS and iOS.
    Macos,
    /// FreeBSD.
    Freebsd,
}

impl Platform {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Linux, Self::Windows, Self::Macos, Self::Freebsd];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::Windows => "Windows",
            Self::Macos => "macOS",
            Self::Freebsd => "FreeBSD",
        }
    }
}

/// The platform of an end: an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stack {
    /// All fields of the SYN fit one platform and no other.
    Known {
        /// The platform.
        value: Platform,
        /// The fields that show it.
        evidence: StackFields,
    },
    /// The capture does not tell.
    Hidden {
        /// Why not.
        reason: StackReason,
    },
}

impl Stack {
    /// Of an end of which nothing was captured.
    pub const UNKNOWN: Self = Self::Hidden { reason: StackReason::NoSyn };

    /// The platform, if it is known.
    pub const fn platform(self) -> Option<Platform> {
        match self {
            Self::Known { value, .. } => Some(value),
            Self::Hidden { .. } => None,
        }
    }
}

/// The fields of a SYN or SYN-ACK that differ between platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct StackFields {
    /// Time to live, or hop limit, as captured.
    pub ttl: u8,
    /// Window, not scaled, bytes.
    pub window: u16,
    /// Maximum segment size, bytes.
    pub mss: u16,
    /// Window scale shift.
    pub window_scale: Option<u8>,
    /// Whether it has timestamps.
    pub timestamps: bool,
}

/// Why the platform of an end is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StackReason {
    /// Its SYN was not captured, or its options are cut.
    NoSyn,
    /// A text that does not show the time to live.
    NoTtl,
    /// Its SYN and its payload have different times to live: a box between answers for it.
    Middlebox,
    /// The fields fit several platforms, or none.
    Ambiguous,
}

/// The protocol above TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Application {
    /// HTTP in the clear.
    Http,
    /// HTTP over TLS.
    Https,
    /// SSH.
    Ssh,
    /// PostgreSQL.
    Postgresql,
    /// MySQL or MariaDB.
    Mysql,
    /// Redis.
    Redis,
    /// Kafka.
    Kafka,
    /// IMAP.
    Imap,
    /// IMAP over TLS.
    Imaps,
    /// SMTP.
    Smtp,
    /// SMTP over TLS from the first byte.
    Smtps,
    /// FTP.
    Ftp,
    /// rsync's own protocol.
    Rsync,
    /// iperf3.
    Iperf,
    /// TLS that carries something unknown.
    Tls,
    /// HTTP/3, over QUIC.
    Http3,
    /// QUIC that carries something else.
    Quic,
}

/// Where the protocol or the product shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProductEvidence {
    /// A Server or User-Agent field of HTTP.
    Header,
    /// The first bytes of the payload.
    Greeting,
    /// The port alone: weaker.
    Port,
}

/// A program with settings of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Product {
    /// nginx.
    Nginx,
    /// HAProxy.
    Haproxy,
    /// Envoy.
    Envoy,
    /// Apache httpd.
    Apache,
    /// Apache Kafka.
    Kafka,
    /// PostgreSQL.
    Postgresql,
    /// MySQL or MariaDB.
    Mysql,
    /// Redis.
    Redis,
    /// gRPC.
    Grpc,
    /// OpenSSH.
    Openssh,
    /// rclone.
    Rclone,
    /// The aws command line.
    AwsCli,
    /// boto3, botocore.
    Boto3,
    /// Python's requests.
    PythonRequests,
    /// Java's HTTP clients.
    Java,
    /// Go's net/http.
    Go,
    /// Node.js.
    Node,
    /// curl.
    Curl,
}

impl Product {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Nginx,
        Self::Haproxy,
        Self::Envoy,
        Self::Apache,
        Self::Kafka,
        Self::Postgresql,
        Self::Mysql,
        Self::Redis,
        Self::Grpc,
        Self::Openssh,
        Self::Rclone,
        Self::AwsCli,
        Self::Boto3,
        Self::PythonRequests,
        Self::Java,
        Self::Go,
        Self::Node,
        Self::Curl,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "HAProxy",
            Self::Envoy => "Envoy",
            Self::Apache => "Apache httpd",
            Self::Kafka => "Kafka",
            Self::Postgresql => "PostgreSQL",
            Self::Mysql => "MySQL",
            Self::Redis => "Redis",
            Self::Grpc => "gRPC",
            Self::Openssh => "OpenSSH",
            Self::Rclone => "rclone",
            Self::AwsCli => "aws cli",
            Self::Boto3 => "boto3",
            Self::PythonRequests => "Python requests",
            Self::Java => "Java",
            Self::Go => "Go",
            Self::Node => "Node.js",
            Self::Curl => "curl",
        }
    }

    /// The product that a Server or User-Agent field (RFC 9110 sections 10.1.5 and 10.2.4) names.
    /// The more special name stands first: the aws command line also names Botocore.
    pub(crate) fn of_field(value: &[u8]) -> Option<Self> {
        const TOKENS: [(&[u8], Product); 15] = [
            (b"nginx", Product::Nginx),
            (b"openresty", Product::Nginx),
            (b"haproxy", Product::Haproxy),
            (b"envoy", Product::Envoy),
            (b"apache/", Product::Apache),
            (b"rclone/", Product::Rclone),
            (b"aws-cli/", Product::AwsCli),
            (b"boto3/", Product::Boto3),
            (b"botocore/", Product::Boto3),
            (b"python-requests/", Product::PythonRequests),
            (b"java", Product::Java),
            (b"apache-httpclient/", Product::Java),
            (b"go-http-client/", Product::Go),
            (b"node", Product::Node),
            (b"curl/", Product::Curl),
        ];
        let starts = |token: &[u8]| value.get(..token.len()).is_some_and(|head| head.eq_ignore_ascii_case(token));
        if value.get(..5).is_some_and(|head| head.eq_ignore_ascii_case(b"grpc-")) {
            return Some(Self::Grpc);
        }
        TOKENS.iter().find(|(token, _)| starts(token)).map(|&(_, product)| product)
    }
}

/// The program at an end: an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct ProductEstimate {
    /// The product.
    pub value: Product,
    /// Where it shows.
    pub evidence: ProductEvidence,
}
