use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{sleep, timeout_at, Instant};
use tonic::{Response, Status};

use crate::error::Error;

const FIRST_DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(5);

/// Waits before the next attempt: with exponential backoff and jitter, but at least as long as the server requested. Returns the
/// error if it is permanent, or if the next attempt would start after `until`.
pub(crate) async fn back_off(error: Error, failures: u32, until: Instant) -> Result<(), Error> {
    let max_delay = MAX_DELAY.min(FIRST_DELAY * 2u32.pow(failures.saturating_sub(1).min(10)));
    // The keys of a hasher are the only random numbers in the standard library.
    let random = f64::from(RandomState::new().hash_one(failures) as u32) / f64::from(u32::MAX);
    let delay = max_delay.mul_f64(0.5 + random / 2.0).max(error.retry_after.unwrap_or_default());
    if !error.is_transient() || Instant::now() + delay >= until {
        return Err(error);
    }
    sleep(delay).await;
    Ok(())
}

/// Sends a request that is safe to repeat, and repeats it while no server can be reached. The timeout applies to all attempts
/// together.
pub(crate) async fn retry<Answer, Answering>(
    timeout: Duration,
    mut request: impl FnMut() -> Answering,
) -> Result<Answer, Error>
where
    Answering: Future<Output = Result<Response<Answer>, Status>>,
{
    let until = Instant::now() + timeout;
    let mut failures = 0;
    loop {
        let error = match timeout_at(until, request()).await {
            Ok(Ok(response)) => return Ok(response.into_inner()),
            Ok(Err(status)) => Error::from(status),
            Err(_) => return Err(Error::lost(format!("no response within {timeout:?}"))),
        };
        failures += 1;
        back_off(error, failures, until).await?;
    }
}
