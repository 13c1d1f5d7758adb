//! Compares the readers with tshark and tcpdump on the same bytes.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod capture_vs_tshark;
mod condensed;
mod decrypted;
mod qlog;
mod summary_verdicts;
mod text_verdicts;
mod text_vs_pcap;
mod wire_vs_tshark;
