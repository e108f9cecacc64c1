use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// A field of a request that violates the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub field: String,
    pub description: String,
}

/// The error of a request. Switch on `reason`, or on `code` if the reason is empty; never on the message.
#[derive(Clone, Debug)]
pub struct Error {
    /// The gRPC status code.
    pub code: Code,
    /// A value of `reeve.error.v1.ErrorReason` without its prefix, for example `RUN_NOT_FOUND`; `CONNECTION_LOST` if no server
    /// could be reached in time; or empty if the response is not from a Reeve server.
    pub reason: String,
    pub message: String,
    pub violations: Vec<Violation>,
    pub metadata: HashMap<String, String>,
    /// The delay before the next attempt. `None` if the server did not request one.
    pub retry_after: Option<Duration>,
}

const LOST: &str = "CONNECTION_LOST";

impl Error {
    /// Returns whether the same request may succeed later, or through another server.
    pub fn is_transient(&self) -> bool {
        self.code == Code::Unavailable
    }

    /// Returns the error of a connection that counts as lost although the network reported no error.
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

/// Whether a status code may indicate a broken connection. A response of a Reeve server always has details.
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
