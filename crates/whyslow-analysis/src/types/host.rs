//! Platform and product of the host at one end, with the evidence.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// An operating system with its own commands for TCP settings.
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
    /// All platforms.
    pub const ALL: [Self; 4] = [Self::Linux, Self::Windows, Self::Macos, Self::Freebsd];

    /// Display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::Windows => "Windows",
            Self::Macos => "macOS",
            Self::Freebsd => "FreeBSD",
        }
    }
}

/// Estimated platform of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stack {
    /// All fields of the SYN match exactly one platform.
    Known {
        /// The platform.
        value: Platform,
        /// Fields of the SYN that identify it.
        evidence: StackFields,
    },
    /// The platform is unknown.
    Hidden {
        /// Why it is unknown.
        reason: StackReason,
    },
}

impl Stack {
    /// The platform of an end without captured packets.
    pub const UNKNOWN: Self = Self::Hidden { reason: StackReason::NoSyn };

    /// The platform, if known.
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
    /// Window field without scaling, bytes.
    pub window: u16,
    /// Maximum segment size, bytes.
    pub mss: u16,
    /// Window scale shift.
    pub window_scale: Option<u8>,
    /// Whether the SYN has the timestamps option.
    pub timestamps: bool,
}

/// Why the platform of an end is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StackReason {
    /// Its SYN was not captured, or its options are truncated.
    NoSyn,
    /// The input is text without the time to live.
    NoTtl,
    /// The SYN and the payload have different times to live: a middlebox answers for the host.
    Middlebox,
    /// The fields match several platforms, or none.
    Ambiguous,
}

/// The application protocol above TCP.
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

/// Evidence for the protocol or the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProductEvidence {
    /// A Server or User-Agent field of HTTP.
    Header,
    /// The first bytes of the payload.
    Greeting,
    /// Only the port number, which is weaker evidence.
    Port,
}

/// A program that has its own settings.
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
    /// The AWS command line.
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
    /// All products.
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

    /// Display name.
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

    /// The product in a Server or User-Agent field (RFC 9110 sections 10.1.5 and 10.2.4). More
    /// specific names come first: the AWS command line also names Botocore.
    pub fn of_field(value: &[u8]) -> Option<Self> {
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

/// Estimated program at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct ProductEstimate {
    /// The product.
    pub value: Product,
    /// Evidence for it.
    pub evidence: ProductEvidence,
}
