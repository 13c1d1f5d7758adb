//! placeholder
#![allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Tls,
    Http,
    Ssh,
}
#[derive(Clone, Debug, Default)]
pub struct Content {
    pub protocol: Option<Protocol>,
    pub server_name: Option<String>,
    pub tls13: Option<bool>,
    pub handshake_end: Option<u64>,
    pub first_application_data: Option<(u64, u64)>,
    pub second_application_data: Option<u64>,
    pub firsts: Vec<(u64, u64, u8)>,
    pub heads: Vec<(u64, String)>,
    pub records: u64,
    pub largest_record: u32,
}
#[derive(Debug, Default)]
pub struct Stream {
    next: u64,
}
impl Stream {
    pub fn feed(&mut self, start: u64, len: u64, _payload: &[u8]) {
        self.next = self.next.max(start + len);
    }
    pub fn turn(&mut self) {}
    pub fn finish(self) -> Content {
        Content::default()
    }
    pub fn next(&self) -> u64 {
        self.next.max(1)
    }
}
