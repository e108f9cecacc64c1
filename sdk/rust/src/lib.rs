//! Client library for Reeve: starts runs, watches them across lost connections, and decides approvals.
//!
//! The generated protobuf messages are in the module [`proto`].

mod back_off;
mod client;
mod connection;
mod error;
#[path = "gen/mod.rs"]
#[allow(clippy::all)]
mod generated;
mod options;
mod tool_calls;
mod tools;
mod transfer;
mod watch;

pub use client::Client;
pub use connection::{Bearer, Connection};
pub use error::{Error, Violation};
pub use generated::reeve as proto;
pub use options::Options;
pub use tools::{ToolAnswer, ToolTarget};
pub use transfer::Download;
pub use watch::{Selection, Watch};
