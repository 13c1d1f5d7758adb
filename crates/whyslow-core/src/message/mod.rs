//! `message`: exchanges, the side whose time they took, and whether a server sends unrequested
//! data.

mod server_push;
mod wait;
mod waits;

pub use server_push::ServerPush;
pub use server_push::{may_be_unrelated, may_send_unrequested};
pub use wait::SEGMENT;
pub use wait::{NOTICEABLE_WAIT, Wait};
pub use waits::waits;
