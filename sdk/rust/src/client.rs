use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tonic::Request;

use crate::back_off::retry;
use crate::connection::{Connection, Source};
use crate::error::Error;
use crate::options::Options;
use crate::proto::approval::v1::approval_service_client::ApprovalServiceClient;
use crate::proto::approval::v1::{AnswerQuestionRequest, Approval, DecideApprovalRequest, ListApprovalsRequest};
use crate::proto::artifact::v1::artifact_service_client::ArtifactServiceClient;
use crate::proto::artifact::v1::{Artifact, DownloadArtifactRequest};
use crate::proto::run::v1::run_service_client::RunServiceClient;
use crate::proto::run::v1::{CancelRunRequest, GetRunRequest, Run, StartRunRequest};
use crate::transfer::{in_time, upload_parts, Download};
use crate::watch::{Selection, Watch};

/// A client of a server. Clones share its connection. Each request ends within `request_timeout`. While no server can be reached,
/// the client repeats the request within that time; a repeated request never has a second effect.
#[derive(Clone)]
pub struct Client {
    pub(crate) source: Arc<Source>,
}

impl Client {
    /// Returns a client of a server. It connects with its first request. Returns an error if the options are invalid.
    pub fn connect(options: Options) -> Result<Self, Error> {
        Ok(Self { source: Arc::new(Source::new(options)?) })
    }

    /// Returns the current connection. Pass it to the generated clients to call methods that `Client` does not have.
    pub fn connection(&self) -> Connection {
        self.source.get()
    }

    /// Starts a run. The same `request_id` always returns the same run, even in another process. If it is empty, a new run is
    /// started.
    pub async fn start_run(&self, mut request: StartRunRequest) -> Result<Run, Error> {
        if request.request_id.is_empty() {
            request.request_id = uuid::Uuid::new_v4().to_string();
        }
        let attempt = || {
            let (mut runs, request) = (RunServiceClient::new(self.connection()), request.clone());
            async move { runs.start_run(request).await }
        };
        Ok(retry(self.timeout(), attempt).await?.run.unwrap_or_default())
    }

    /// Returns the events of a run, until its end.
    pub fn watch(&self, run_id: impl Into<String>) -> Watch {
        self.watch_after(run_id, 0, Selection::Detailed)
    }

    /// Returns the events of a run after the sequence `after`, until its end.
    pub fn watch_after(&self, run_id: impl Into<String>, after: u32, selection: Selection) -> Watch {
        Watch::new(self.source.clone(), run_id.into(), after, selection)
    }

    pub async fn get_run(&self, run_id: impl Into<String>) -> Result<Run, Error> {
        let run_id = run_id.into();
        let attempt = || {
            let (mut runs, run_id) = (RunServiceClient::new(self.connection()), run_id.clone());
            async move { runs.get_run(GetRunRequest { run_id, ..Default::default() }).await }
        };
        Ok(retry(self.timeout(), attempt).await?.run.unwrap_or_default())
    }

    /// Cancels a run. Cancelling a cancelled run succeeds. Cancelling a run that ended otherwise returns an error with reason
    /// `RUN_ENDED`.
    pub async fn cancel(&self, run_id: impl Into<String>, reason: impl Into<String>) -> Result<Run, Error> {
        let request = CancelRunRequest { run_id: run_id.into(), reason: reason.into() };
        let attempt = || {
            let (mut runs, request) = (RunServiceClient::new(self.connection()), request.clone());
            async move { runs.cancel_run(request).await }
        };
        Ok(retry(self.timeout(), attempt).await?.run.unwrap_or_default())
    }

    /// Returns the pending approvals of a run, or of all runs if `run_id` is empty, oldest first.
    pub async fn list_approvals(&self, run_id: impl Into<String>) -> Result<Vec<Approval>, Error> {
        let mut found = Vec::new();
        let mut request = ListApprovalsRequest { run_id: run_id.into(), ..Default::default() };
        loop {
            let attempt = || {
                let (mut approvals, request) = (ApprovalServiceClient::new(self.connection()), request.clone());
                async move { approvals.list_approvals(request).await }
            };
            let page = retry(self.timeout(), attempt).await?;
            found.extend(page.approvals);
            if page.next_page_token.is_empty() {
                return Ok(found);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// Decides an approval. Exactly one decision takes effect; any other returns an error with reason `APPROVAL_CLOSED`.
    pub async fn decide(&self, mut request: DecideApprovalRequest) -> Result<Approval, Error> {
        if request.decision_id.is_empty() {
            request.decision_id = uuid::Uuid::new_v4().to_string();
        }
        let attempt = || {
            let (mut approvals, request) = (ApprovalServiceClient::new(self.connection()), request.clone());
            async move { approvals.decide_approval(request).await }
        };
        Ok(retry(self.timeout(), attempt).await?.approval.unwrap_or_default())
    }

    /// Answers a question of an agent as somebody who asked for its run, or declines it. People with the role approver may use `decide`.
    pub async fn answer(&self, mut request: AnswerQuestionRequest) -> Result<Approval, Error> {
        if request.decision_id.is_empty() {
            request.decision_id = uuid::Uuid::new_v4().to_string();
        }
        let attempt = || {
            let (mut approvals, request) = (ApprovalServiceClient::new(self.connection()), request.clone());
            async move { approvals.answer_question(request).await }
        };
        Ok(retry(self.timeout(), attempt).await?.approval.unwrap_or_default())
    }

    /// Stores a file. Not repeated if the connection breaks.
    pub async fn upload(
        &self,
        name: impl Into<String>,
        media_type: impl Into<String>,
        content: Vec<u8>,
    ) -> Result<Artifact, Error> {
        let parts = upload_parts(name.into(), media_type.into(), content);
        let request = self.transferred(tokio_stream::iter(parts));
        let mut artifacts = ArtifactServiceClient::new(self.connection());
        let stored = in_time(self.transfer_end(), artifacts.upload_artifact(request)).await?;
        Ok(stored.into_inner().artifact.unwrap_or_default())
    }

    /// Opens a stored file for reading.
    pub async fn download(&self, artifact_id: impl Into<String>) -> Result<Download, Error> {
        let request = self.transferred(DownloadArtifactRequest { artifact_id: artifact_id.into() });
        let until = self.transfer_end();
        let mut artifacts = ArtifactServiceClient::new(self.connection());
        let opened = in_time(until, artifacts.download_artifact(request)).await?;
        Download::open(opened.into_inner(), until).await
    }

    fn transferred<Message>(&self, message: Message) -> Request<Message> {
        let mut request = Request::new(message);
        request.set_timeout(self.source.options.transfer_timeout);
        request
    }

    fn transfer_end(&self) -> Instant {
        Instant::now() + self.source.options.transfer_timeout
    }

    fn timeout(&self) -> Duration {
        self.source.options.request_timeout
    }
}
