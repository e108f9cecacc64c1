//! A client of Reeve: starts runs, watches them over lost connections, and decides approvals.
//!
//! The messages are those of the contracts, generated below [`proto`].

mod back_off;
mod client;
mod connection;
mod error;
#[path = "gen/mod.rs"]
#[allow(clippy::all)]
mod generated;
mod options;
mod transfer;
mod watch;

pub use client::Client;
pub use connection::{Bearer, Connection};
pub use error::{Error, Violation};
pub use generated::reeve as proto;
pub use options::Options;
pub use transfer::Download;
pub use watch::{Selection, Watch};
