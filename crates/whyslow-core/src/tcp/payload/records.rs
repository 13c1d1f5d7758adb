//! TLS: follows the chain of records through a stream.

use super::Stream;
use super::gather::{Gather, GatherKind, Piece};
use super::greeting::Greeting;
use super::protocol::LIST_MAX;
use super::tls;

impl Stream {
    /// TLS: follows the chain of records through a piece.
    pub(super) fn records(&mut self, piece: Piece<'_>) {
        if self.expected() < piece.start && piece.start >= self.next && tls::Header::read(piece.bytes).is_some() {
            self.resume(piece.start);
        }
        loop {
            self.gather_hello(piece);
            let Some(bytes) = piece.from(self.expected()) else { return };
            for (to, from) in self.header.iter_mut().skip(usize::from(self.have)).zip(bytes) {
                *to = *from;
                self.have += 1;
            }
            if usize::from(self.have) < tls::HEADER_LEN {
                return;
            }
            self.have = 0;
            let header = tls::Header::read(&self.header);
            if header.is_none_or(|header| header.kind != tls::HANDSHAKE)
                && let Some(gather) = self.gather.take()
            {
                self.parse_gathered(*gather);
            }
            // Without a header, `awaited` stays behind `next`, so the chain is broken.
            let Some(header) = header else { return };
            self.record(header);
        }
    }

    /// Processes a record header at the awaited position.
    fn record(&mut self, header: tls::Header) {
        let start = self.awaited;
        let body = start.saturating_add(tls::HEADER_LEN as u64);
        let end = body.saturating_add(u64::from(header.len));
        let fresh = std::mem::take(&mut self.fresh);
        let broken = self.broken;
        let found = self.found();
        found.records += 1;
        found.largest_record = found.largest_record.max(u32::from(header.len) + tls::HEADER_LEN as u32);
        // A connection that was open before the capture had its greeting earlier.
        let is_behind_handshake =
            fresh && found.firsts.len() == 1 && matches!(found.firsts[0].2, tls::HANDSHAKE | tls::CHANGE_CIPHER_SPEC);
        if fresh && found.firsts.len() < LIST_MAX {
            if found.firsts.is_empty() {
                // For most connections one entry is enough.
                found.firsts.reserve_exact(1);
            }
            found.firsts.push((start, end, header.kind));
        }
        // Only with TLS 1.3 a server's handshake contains application data.
        let is_tls13 = found.tls13.or(found.first_application_data.map(|_| true));
        match header.kind {
            tls::HANDSHAKE | tls::CHANGE_CIPHER_SPEC if found.first_application_data.is_none() => {
                found.handshake_end = Some(end);
            }
            tls::APPLICATION_DATA if found.first_application_data.is_none() => {
                found.first_application_data = Some((start, end));
            }
            tls::APPLICATION_DATA if found.second_application_data.is_none() && !broken => {
                found.second_application_data = Some(start);
            }
            _ => {}
        }
        if is_behind_handshake {
            self.greeting = Greeting::begin(header, (start, end), is_tls13).map(Box::new);
        } else if let Some(greeting) = &mut self.greeting {
            greeting.add(header, end);
        }
        self.fresh = self.greeting.as_ref().is_some_and(|greeting| greeting.is_open());
        self.awaited = end;
        if header.kind == tls::HANDSHAKE {
            match &mut self.gather {
                Some(gather) => gather.at = body,
                None if !self.greeted => self.gather = Some(Gather::new(body, GatherKind::Hello)),
                None => {}
            }
        }
    }

    /// Collects the part of a hello that is in the piece's part of the current record.
    fn gather_hello(&mut self, piece: Piece<'_>) {
        let Some(gather) = &mut self.gather else { return };
        let left = usize::try_from(self.awaited.saturating_sub(gather.at)).unwrap_or(usize::MAX);
        let Some(bytes) = piece.from(gather.at).filter(|_| left > 0) else { return };
        gather.push(bytes.get(..left).unwrap_or(bytes));
        if (gather.is_full() || tls::is_whole(&gather.bytes))
            && let Some(gather) = self.gather.take()
        {
            self.parse_gathered(*gather);
        }
    }
}
