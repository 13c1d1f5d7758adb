//! A fragment on its way to another machine: results of explainers of a share of the connections,
//! to be merged with the other shares there.
//!
//! The bytes (Borsh) are readable only by the same version of whyslow, so their sender names its
//! version. Their size is bounded by the connections that an analysis lists, and a byte or two for
//! each other one.

use super::capture_state::CaptureState;
use super::connection_ordinals::OpeningPositions;
use super::fragment::Fragment;
use super::top_connections::ListedAccounts;
use crate::conclude::Names;
use crate::together::LargestFlows;
use crate::whatif::Replays;
use borsh::BorshDeserialize;
use borsh::io::{self, Read, Write};
use whyslow_units::Time;

impl Fragment {
    /// Writes it. If a sink wants the connections that are not listed, they must have been given to
    /// it before.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        borsh::to_writer(&mut *out, &(self.captures.len() as u64))?;
        self.captures.iter().try_for_each(|capture| capture.write_to(out))?;
        borsh::to_writer(&mut *out, &(&self.openings, &self.quic_openings))?;
        self.accounts.write_to(out)?;
        borsh::to_writer(&mut *out, &self.replays)?;
        borsh::to_writer(&mut *out, &self.flows)?;
        borsh::to_writer(&mut *out, &(self.evicted, self.first_time, self.path_rate))?;
        borsh::to_writer(&mut *out, &self.host_names)
    }

    /// Reads one.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn read_from(input: &mut impl Read) -> io::Result<Self> {
        let captures = u64::deserialize_reader(input)?;
        let captures = (0..captures).map(|_| CaptureState::read_from(input)).collect::<io::Result<_>>()?;
        let (openings, quic_openings) = <[Vec<OpeningPositions>; 2]>::deserialize_reader(input)?.into();
        let accounts = ListedAccounts::read_from(input)?;
        let (replays, flows) = (Replays::deserialize_reader(input)?, LargestFlows::deserialize_reader(input)?);
        let (evicted, first_time, path_rate) = <(u64, Option<Time>, Option<f64>)>::deserialize_reader(input)?;
        let host_names = Names::deserialize_reader(input)?;
        let omitted = None;
        Ok(Self {
            captures,
            openings,
            quic_openings,
            accounts,
            replays,
            flows,
            evicted,
            first_time,
            path_rate,
            host_names,
            omitted,
        })
    }
}
