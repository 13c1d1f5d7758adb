//! Several ports as one: hosts that share a link, as behind a switch. A frame goes to the port of
//! its destination's hardware address.

use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};

use super::{Clock, Outgoing, Port, Received};

/// A host's hardware address, and the port to it.
type Branch = ([u8; 6], Box<dyn Port>);

/// Two hosts or more on one side of a link.
pub(crate) struct Switch {
    branches: Vec<Branch>,
    /// Readable when any of the ports is.
    any: Epoll,
}

impl Switch {
    /// A frame for an address that none of them has goes to the first.
    pub(crate) fn new(branches: Vec<Branch>) -> nix::Result<Self> {
        let any = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        for (_, port) in &branches {
            any.add(port.readiness(), EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        }
        Ok(Self { branches, any })
    }

    fn branch_of(&self, frame: &Outgoing) -> usize {
        let to = frame.bytes.get(..6).unwrap_or_default();
        self.branches.iter().position(|(address, _)| address == to).unwrap_or(0)
    }
}

impl Port for Switch {
    fn readiness(&self) -> BorrowedFd<'_> {
        self.any.0.as_fd()
    }

    fn receive(&mut self, clock: &Clock, limit: usize, each: &mut dyn FnMut(Received<'_>)) -> usize {
        self.branches.iter_mut().map(|(_, port)| port.receive(clock, limit, each)).sum()
    }

    fn send(&mut self, frames: &[Outgoing]) -> u64 {
        let mut refused = 0;
        // Neighbours for the same host go together, so that their order stays.
        let mut rest = frames;
        while let Some(first) = rest.first() {
            let branch = self.branch_of(first);
            let run = rest.iter().take_while(|frame| self.branch_of(frame) == branch).count();
            let (now, later) = rest.split_at(run);
            if let Some((_, port)) = self.branches.get_mut(branch) {
                refused += port.send(now);
            }
            rest = later;
        }
        refused
    }

    fn dropped(&mut self) -> u64 {
        self.branches.iter_mut().map(|(_, port)| port.dropped()).sum()
    }
}
