use std::collections::HashMap;
use std::future::Future;
use std::time::{Duration, SystemTime};

use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;
use tonic::Code;

use crate::back_off::retry;
use crate::client::Client;
use crate::error::Error;
use crate::proto::tool::v1::answer_tool_call_request::Answer;
use crate::proto::tool::v1::client_tool_service_client::ClientToolServiceClient;
use crate::proto::tool::v1::{AnswerToolCallRequest, OfferedCall};
use crate::tools::ToolAnswer;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// Clocks may differ: a call is remembered for this time after its deadline.
const CLOCK_SKEW: Duration = Duration::from_secs(60);
const MAX_ERROR_BYTES: usize = 16_384;

/// The ids of a run and of one of its calls.
type Key = (String, String);

/// A call that is known until the server closes it or its deadline is over: a stream may deliver it again after its answer was
/// acknowledged.
struct Known {
    task: AbortHandle,
    deadline: SystemTime,
}

/// The calls of a client. Dropping it stops their executions.
pub(crate) struct Calls {
    client: Client,
    client_id: String,
    known: HashMap<Key, Known>,
    /// Each returns whether the server will never need an answer.
    pub(crate) running: JoinSet<(Key, bool)>,
}

impl Calls {
    pub(crate) fn new(client: &Client, client_id: &str) -> Self {
        Self {
            client: client.clone(),
            client_id: client_id.to_string(),
            known: HashMap::new(),
            running: JoinSet::new(),
        }
    }

    /// Executes a call, unless it is known.
    pub(crate) fn received<Execute, Executing>(&mut self, call: OfferedCall, execute: &Execute)
    where
        Execute: Fn(OfferedCall) -> Executing,
        Executing: Future<Output = Result<ToolAnswer, String>> + Send + 'static,
    {
        let now = SystemTime::now();
        self.known.retain(|_, each| !each.task.is_finished() || each.deadline + CLOCK_SKEW > now);
        let key = (call.run_id.clone(), call.call_id.clone());
        if self.known.contains_key(&key) {
            return;
        }
        let deadline = deadline_of(&call);
        let request = AnswerToolCallRequest {
            run_id: call.run_id.clone(),
            call_id: call.call_id.clone(),
            client_id: self.client_id.clone(),
            answer: None,
        };
        let (client, id, executing) = (self.client.clone(), key.clone(), execute(call));
        let task = self.running.spawn(async move {
            let request = AnswerToolCallRequest { answer: Some(answer_of(executing).await), ..request };
            (id, client.send_answer(request, deadline).await)
        });
        self.known.insert(key, Known { task, deadline });
    }

    pub(crate) fn ended(&mut self, key: Key, is_final: bool) {
        if is_final {
            self.known.remove(&key);
        }
    }

    pub(crate) fn closed(&mut self, key: Key) {
        if let Some(known) = self.known.remove(&key) {
            known.task.abort();
        }
    }
}

fn deadline_of(call: &OfferedCall) -> SystemTime {
    let seconds = call.deadline.as_ref().map_or(0, |deadline| deadline.seconds);
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.max(0).unsigned_abs())
}

/// Executes a call in a task of its own, so that a panic is a failure that the model reads.
async fn answer_of<Executing>(executing: Executing) -> Answer
where
    Executing: Future<Output = Result<ToolAnswer, String>> + Send + 'static,
{
    let mut task = JoinSet::new();
    task.spawn(executing);
    match task.join_next().await {
        Some(Ok(Ok(ToolAnswer::Text(text)))) => Answer::Text(text),
        Some(Ok(Ok(ToolAnswer::Structured(structured)))) => Answer::Structured(structured),
        Some(Ok(Err(message))) => failure(&message),
        Some(Err(error)) if error.is_panic() => failure(&panic_message(error.into_panic().as_ref())),
        Some(Err(_)) | None => failure("the tool was stopped"),
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "the tool panicked".to_string())
}

fn failure(message: &str) -> Answer {
    let message = if message.is_empty() { "the tool failed without a message" } else { message };
    let mut end = message.len().min(MAX_ERROR_BYTES);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    Answer::Error(message[..end].to_string())
}

fn is_final(error: &Error) -> bool {
    error.code == Code::NotFound || ["CALL_CLOSED", "CALL_ANSWERED", "RUN_ENDED"].contains(&error.reason.as_str())
}

impl Client {
    /// Sends an answer until the server has it, or the deadline is over. Returns whether the server will never need it.
    async fn send_answer(&self, mut request: AnswerToolCallRequest, deadline: SystemTime) -> bool {
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match self.answer_call(&request).await {
                Ok(()) => return false,
                Err(error) => error,
            };
            if is_final(&error) {
                return true;
            }
            if error.code == Code::InvalidArgument {
                if matches!(request.answer, Some(Answer::Error(_))) {
                    return false;
                }
                // The model learns why, and nobody waits for the deadline.
                request.answer = Some(failure(&error.message));
                continue;
            }
            if SystemTime::now() >= deadline {
                return false;
            }
            sleep(pause).await;
            pause = MAX_PAUSE.min(pause * 2);
        }
    }

    async fn answer_call(&self, request: &AnswerToolCallRequest) -> Result<(), Error> {
        let attempt = || {
            let (mut tools, request) = (ClientToolServiceClient::new(self.connection()), request.clone());
            async move { tools.answer_tool_call(request).await }
        };
        retry(self.source.options.request_timeout, attempt).await.map(|_| ())
    }
}
