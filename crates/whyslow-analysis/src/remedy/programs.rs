//! Which end's application a remedy of an application is for.

use super::action::{Action, ExchangeAction, SendingAction};
use crate::types::End;

/// The end whose application acts, for a remedy of an application.
pub(super) fn end(action: &Action, sender: Option<End>) -> Option<End> {
    match action {
        Action::Exchange(ExchangeAction::KeepConnections { by }) => Some(*by),
        Action::Exchange(ExchangeAction::ProfileRequest { at }) => Some(*at),
        Action::Exchange(
            ExchangeAction::RequestEarlier
            | ExchangeAction::BatchRequests
            | ExchangeAction::CloseIdleSooner { .. }
            | ExchangeAction::RetryOnNewConnection
            | ExchangeAction::SendKeepalives { .. },
        )
        | Action::Sending(SendingAction::ReuseConnection { .. }) => Some(End::Client),
        Action::Exchange(
            ExchangeAction::KeepUpstreamConnections
            | ExchangeAction::StartService { .. }
            | ExchangeAction::CheckServer { .. }
            | ExchangeAction::ReadServerLog { .. }
            | ExchangeAction::FindWhyServerDrops
            | ExchangeAction::FindSynDrops
            | ExchangeAction::FindUdpDrops
            | ExchangeAction::LimitTlsRecords { .. },
        ) => Some(End::Server),
        Action::Exchange(ExchangeAction::KeepDataReady | ExchangeAction::WriteLargerPieces)
        | Action::Sending(SendingAction::WriteLargerPieces { .. } | SendingAction::RaiseRateLimit { .. }) => sender,
        Action::Sending(SendingAction::NoDelay { at }) => at.first().copied().filter(|_| at.len() == 1),
        Action::Sending(SendingAction::RaiseProtocolWindow { at, .. }) => *at,
        Action::Sending(
            SendingAction::RaiseReceiveBuffer { .. }
            | SendingAction::OfferLargerWindows { .. }
            | SendingAction::ReadUnread { .. }
            | SendingAction::ReadForAcks { .. }
            | SendingAction::ReadFaster { .. },
        ) => sender.map(End::other),
        Action::Exchange(_) | Action::Sending(_) | Action::Link(_) | Action::Loss(_) => None,
    }
}
