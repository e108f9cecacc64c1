use std::collections::VecDeque;
use std::sync::Arc;

use tokio::time::{timeout, Instant};
use tonic::Streaming;

use crate::back_off::back_off;
use crate::connection::Source;
use crate::error::Error;
use crate::proto::run::v1::run_service_client::RunServiceClient;
use crate::proto::run::v1::watch_run_request::Selection as Asked;
use crate::proto::run::v1::{EventFamilies, EventFamily, RunEvent, RunStatus, WatchRunRequest, WatchRunResponse};

/// Selects the events of a watch.
#[derive(Clone, Debug, Default)]
pub enum Selection {
    /// All events.
    #[default]
    Detailed,
    /// Only the events that a person reads.
    Narrow,
    /// Exactly these families.
    Families(Vec<EventFamily>),
}

/// The events of a run, each exactly once and in order, across lost connections, until the run ends.
pub struct Watch {
    source: Arc<Source>,
    run_id: String,
    selection: Selection,
    through: u32,
    /// Covers the events of the last message, even those that were not returned yet.
    token: String,
    end: RunStatus,
    connected: Option<(u64, Option<Streaming<WatchRunResponse>>)>,
    waiting: VecDeque<RunEvent>,
    /// Position and end status to set once the waiting events have been consumed.
    coming: (u32, RunStatus),
    failures: u32,
    until: Option<Instant>,
}

impl Watch {
    pub(crate) fn new(source: Arc<Source>, run_id: String, after: u32, selection: Selection) -> Self {
        Self {
            source,
            run_id,
            selection,
            through: after,
            token: String::new(),
            end: RunStatus::Unspecified,
            connected: None,
            waiting: VecDeque::new(),
            coming: (after, RunStatus::Unspecified),
            failures: 0,
            until: None,
        }
    }

    /// Returns the sequence up to which all selected events were received. Use it to resume the watch.
    pub fn through_sequence(&self) -> u32 {
        self.through
    }

    /// Returns the terminal status of the run. It is unspecified until the watch has ended.
    pub fn end_status(&self) -> RunStatus {
        self.end
    }

    /// Returns the next event, or `None` after the end of the run. Returns an error if the server refuses the request, or if
    /// nothing is received for the reconnect timeout; calling it again continues after the last event. Dropping the future
    /// loses no events.
    pub async fn next(&mut self) -> Result<Option<RunEvent>, Error> {
        loop {
            while let Some(event) = self.waiting.pop_front() {
                if event.sequence > self.through {
                    self.through = event.sequence;
                    return Ok(Some(event));
                }
            }
            self.through = self.through.max(self.coming.0);
            self.end = self.coming.1;
            if self.end != RunStatus::Unspecified {
                self.connected = None;
                return Ok(None);
            }
            let until = *self.until.get_or_insert_with(|| Instant::now() + self.source.options.reconnect_timeout);
            if let Err(error) = self.receive().await {
                self.connected = None;
                self.failures += 1;
                if let Err(error) = back_off(error, self.failures, until).await {
                    self.until = None;
                    return Err(error);
                }
            }
        }
    }

    async fn receive(&mut self) -> Result<(), Error> {
        let idle_timeout = self.source.options.idle_timeout;
        let received = timeout(idle_timeout, self.message()).await;
        let Ok(message) = received else {
            if let Some((number, _)) = self.connected {
                self.source.renew(number);
            }
            let run_id = &self.run_id;
            return Err(Error::lost(format!("the stream of run {run_id} was silent for {idle_timeout:?}")));
        };
        let Some(message) = message? else {
            return Err(Error::lost(format!("the stream of run {} ended before the run", self.run_id)));
        };
        self.failures = 0;
        self.until = None;
        self.coming = (message.through_sequence, message.end_status());
        self.token = message.resume_token;
        self.waiting = message.events.into();
        Ok(())
    }

    async fn message(&mut self) -> Result<Option<WatchRunResponse>, Error> {
        if let Some((_, Some(stream))) = &mut self.connected {
            return Ok(stream.message().await?);
        }
        let (number, connection) = self.source.numbered();
        self.connected = Some((number, None));
        let request = self.request();
        let mut stream = RunServiceClient::new(connection).watch_run(request).await?.into_inner();
        let first = stream.message().await;
        self.connected = Some((number, Some(stream)));
        Ok(first?)
    }

    fn request(&self) -> WatchRunRequest {
        let selection = match &self.selection {
            Selection::Detailed => Asked::Detailed(true),
            Selection::Narrow => Asked::Detailed(false),
            Selection::Families(families) => {
                let families = families.iter().map(|&family| family.into()).collect();
                Asked::Families(EventFamilies { families })
            }
        };
        let (run_id, after_sequence) = (self.run_id.clone(), self.through);
        let resume_token = self.token.clone();
        WatchRunRequest { run_id, after_sequence, resume_token, selection: Some(selection) }
    }
}
