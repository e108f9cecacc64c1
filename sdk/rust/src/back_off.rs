use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{sleep, timeout_at, Instant};
use tonic::{Response, Status};

use crate::error::Error;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);

/// Waits before the next attempt: longer each time, not all clients at once, and no less than the server asked for. Gives the
/// error instead if that would be later than `until`.
pub(crate) async fn back_off(error: Error, failures: u32, until: Instant) -> Result<(), Error> {
    let most = LONGEST.min(FIRST * 2u32.pow(failures.saturating_sub(1).min(10)));
    // Hash keys are the random numbers that the standard library has.
    let random = f64::from(RandomState::new().hash_one(failures) as u32) / f64::from(u32::MAX);
    let delay = most.mul_f64(0.5 + random / 2.0).max(error.retry_after.unwrap_or_default());
    if !error.is_transient() || Instant::now() + delay >= until {
        return Err(error);
    }
    sleep(delay).await;
    Ok(())
}

/// Makes a request that may be repeated, again while no server can be reached, for a time in all.
pub(crate) async fn persistently<Answer, Answering>(
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
            Err(_) => return Err(Error::lost(format!("nothing was answered for {timeout:?}"))),
        };
        failures += 1;
        back_off(error, failures, until).await?;
    }
}
