use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// A field of a request that breaks the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub field: String,
    pub description: String,
}

/// Why something did not succeed. Switch on `reason`, or on `code` where it is empty; never on the message.
#[derive(Clone, Debug)]
pub struct Error {
    /// The gRPC status code.
    pub code: Code,
    /// A name of `reeve.error.v1.ErrorReason` without its prefix, as `RUN_NOT_FOUND`; `CONNECTION_LOST` when no server could be
    /// reached in time; empty when what answered is no Reeve.
    pub reason: String,
    pub message: String,
    pub violations: Vec<Violation>,
    pub metadata: HashMap<String, String>,
    /// How long to wait before another attempt, when the server says so.
    pub retry_after: Option<Duration>,
}

const LOST: &str = "CONNECTION_LOST";

impl Error {
    /// Whether the same may succeed at another time, or by another way.
    pub fn is_transient(&self) -> bool {
        self.code == Code::Unavailable
    }

    /// A connection that is lost although nothing said so.
    pub(crate) fn lost(message: impl Into<String>) -> Self {
        Self::from(Status::unavailable(message))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::from(Status::invalid_argument(message))
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        let details = status.get_error_details();
        let info = details.error_info();
        let is_lost = info.is_none() && may_be_lost(status.code());
        let reason = info.map(|info| info.reason.clone()).unwrap_or_default();
        let violations = details.bad_request().map(|request| {
            let violation = |each: &tonic_types::FieldViolation| Violation {
                field: each.field.clone(),
                description: each.description.clone(),
            };
            request.field_violations.iter().map(violation).collect()
        });
        Self {
            code: if is_lost { Code::Unavailable } else { status.code() },
            reason: if is_lost { LOST.into() } else { reason },
            message: status.message().into(),
            violations: violations.unwrap_or_default(),
            metadata: info.map(|info| info.metadata.clone()).unwrap_or_default(),
            retry_after: details.retry_info().and_then(|retry| retry.retry_delay),
        }
    }
}

/// What a connection that broke is called. An answer of the server has details and is none of these.
fn may_be_lost(code: Code) -> bool {
    matches!(
        code,
        Code::Aborted | Code::Cancelled | Code::DeadlineExceeded | Code::Internal | Code::Unavailable | Code::Unknown
    )
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = format!("{:?}", self.code);
        let what = if self.reason.is_empty() { &code } else { &self.reason };
        write!(formatter, "{what}: {}", self.message)
    }
}

impl std::error::Error for Error {}
