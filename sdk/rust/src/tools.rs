use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;

use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{timeout, Instant};

use crate::back_off::{back_off, retry};
use crate::client::Client;
use crate::error::Error;
use crate::proto::tool::v1::answer_tool_call_request::Answer;
use crate::proto::tool::v1::client_tool_service_client::ClientToolServiceClient;
use crate::proto::tool::v1::offer_tools_request::Target;
use crate::proto::tool::v1::offer_tools_response::Event;
use crate::proto::tool::v1::{
    AnswerToolCallRequest, ClientManifest, OfferToolsRequest, OfferToolsResponse, OfferedCall,
};

/// The result of a call of a tool that this process executes.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolAnswer {
    /// Text.
    Text(String),
    /// An object, which a tool with an output schema returns.
    Structured(prost_types::Struct),
}

/// To what tools are offered.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolTarget {
    /// The thread whose runs get the tools from now on.
    Thread(String),
    /// The run that was started with the same manifest as `client_tools`.
    Run(String),
}

type Sent = (String, AnswerToolCallRequest, Result<(), Error>);

impl Client {
    /// Offers the tools of a manifest, and executes their calls, across lost connections, until the run has ended. `execute` returns
    /// the result of a call, or the description of its failure, which the model reads. It is called once for each call, in a task of
    /// its own, and each call goes to one client only: an answer that a lost connection kept from the server is sent again. Use a
    /// `client_id` of its own for each process, and the same one if a process continues after a crash. Dropping the future stops it.
    pub async fn serve_tools<Execute, Executing>(
        &self,
        manifest: ClientManifest,
        target: ToolTarget,
        execute: Execute,
    ) -> Result<(), Error>
    where
        Execute: Fn(OfferedCall) -> Executing,
        Executing: Future<Output = Result<ToolAnswer, String>> + Send + 'static,
    {
        let mut calls = Calls::new(self, &manifest.client_id);
        let target = match target {
            ToolTarget::Thread(id) => Target::ThreadId(id),
            ToolTarget::Run(id) => Target::RunId(id),
        };
        let request = OfferToolsRequest { manifest: Some(manifest), target: Some(target) };
        let (mut failures, mut until) = (0, Instant::now() + self.source.options.reconnect_timeout);
        loop {
            let error = self.receive_calls(&request, &mut calls, &execute, &mut failures, &mut until).await;
            if error.reason == "RUN_ENDED" {
                return Ok(());
            }
            failures += 1;
            back_off(error, failures, until).await?;
        }
    }

    /// Receives the messages of one stream until it ends, and returns why it did.
    async fn receive_calls<Execute, Executing>(
        &self,
        request: &OfferToolsRequest,
        calls: &mut Calls,
        execute: &Execute,
        failures: &mut u32,
        until: &mut Instant,
    ) -> Error
    where
        Execute: Fn(OfferedCall) -> Executing,
        Executing: Future<Output = Result<ToolAnswer, String>> + Send + 'static,
    {
        let (idle_timeout, reconnect_timeout) =
            (self.source.options.idle_timeout, self.source.options.reconnect_timeout);
        let (number, connection) = self.source.numbered();
        let mut tools = ClientToolServiceClient::new(connection);
        let opened = timeout(idle_timeout, tools.offer_tools(request.clone())).await;
        let mut messages = match opened {
            Ok(Ok(response)) => response.into_inner(),
            Ok(Err(status)) => return status.into(),
            Err(_) => {
                self.source.renew(number);
                return Error::lost(format!("the stream of the tools was silent for {idle_timeout:?}"));
            }
        };
        loop {
            let received = timeout(idle_timeout, messages.message());
            tokio::pin!(received);
            let message: OfferToolsResponse = loop {
                tokio::select! {
                    Some(sent) = calls.sending.join_next() => {
                        if let Ok(sent) = sent {
                            calls.sent(sent);
                        }
                    }
                    received = &mut received => match received {
                        Ok(Ok(Some(message))) => break message,
                        Ok(Ok(None)) => return Error::lost("the stream of the tools ended early".to_string()),
                        Ok(Err(status)) => return status.into(),
                        Err(_) => {
                            self.source.renew(number);
                            return Error::lost(format!("the stream of the tools was silent for {idle_timeout:?}"));
                        }
                    },
                }
            };
            *until = Instant::now() + reconnect_timeout;
            match message.event {
                Some(Event::Ready(_)) => {}
                Some(Event::Call(call)) => {
                    *failures = 0;
                    calls.received(call, execute);
                }
                Some(Event::Closed(closed)) => {
                    *failures = 0;
                    calls.closed(&closed.call_id);
                }
                None => *failures = 0,
            }
        }
    }
}

/// A call whose answer the server has not acknowledged.
enum Call {
    /// It is being executed, or its answer is being sent.
    InProgress(AbortHandle),
    /// No server could be reached to take the answer.
    Answered(AnswerToolCallRequest),
}

struct Calls {
    client: Client,
    client_id: String,
    open: HashMap<String, Call>,
    sending: JoinSet<Sent>,
}

impl Calls {
    fn new(client: &Client, client_id: &str) -> Self {
        Self { client: client.clone(), client_id: client_id.to_string(), open: HashMap::new(), sending: JoinSet::new() }
    }

    /// Executes a call, unless it is known: then only its answer is sent again.
    fn received<Execute, Executing>(&mut self, call: OfferedCall, execute: &Execute)
    where
        Execute: Fn(OfferedCall) -> Executing,
        Executing: Future<Output = Result<ToolAnswer, String>> + Send + 'static,
    {
        match self.open.get(&call.call_id) {
            Some(Call::InProgress(_)) => {}
            Some(Call::Answered(request)) => self.send(request.clone(), None),
            None => {
                let request = AnswerToolCallRequest {
                    run_id: call.run_id.clone(),
                    call_id: call.call_id.clone(),
                    client_id: self.client_id.clone(),
                    answer: None,
                };
                self.send(request, Some(Box::pin(execute(call))));
            }
        }
    }

    fn send(
        &mut self,
        mut request: AnswerToolCallRequest,
        executing: Option<Pin<Box<dyn Future<Output = Result<ToolAnswer, String>> + Send>>>,
    ) {
        let (client, call_id) = (self.client.clone(), request.call_id.clone());
        let handle = self.sending.spawn(async move {
            if let Some(executing) = executing {
                request.answer = Some(match executing.await {
                    Ok(ToolAnswer::Text(text)) => Answer::Text(text),
                    Ok(ToolAnswer::Structured(structured)) => Answer::Structured(structured),
                    Err(message) => failure(&message),
                });
            }
            let mut sent = client.answer_call(&request).await;
            if matches!(&sent, Err(error) if error.code == tonic::Code::InvalidArgument) {
                // The model learns why, and nobody waits for the deadline.
                let message = sent.err().map(|error| error.message).unwrap_or_default();
                request.answer = Some(failure(&message));
                sent = client.answer_call(&request).await;
            }
            (request.call_id.clone(), request, sent)
        });
        self.open.insert(call_id, Call::InProgress(handle));
    }

    /// While no server can be reached, the call stays open, and its answer is sent when the server sends the call again.
    fn sent(&mut self, (call_id, request, result): Sent) {
        match result {
            Err(error) if error.is_transient() => self.open.insert(call_id, Call::Answered(request)),
            _ => self.open.remove(&call_id),
        };
    }

    fn closed(&mut self, call_id: &str) {
        if let Some(Call::InProgress(handle)) = self.open.remove(call_id) {
            handle.abort();
        }
    }
}

fn failure(message: &str) -> Answer {
    let message = if message.is_empty() { "the tool failed without a message" } else { message };
    Answer::Error(message.chars().take(4_000).collect())
}

impl Client {
    async fn answer_call(&self, request: &AnswerToolCallRequest) -> Result<(), Error> {
        let attempt = || {
            let (mut tools, request) = (ClientToolServiceClient::new(self.connection()), request.clone());
            async move { tools.answer_tool_call(request).await }
        };
        retry(self.source.options.request_timeout, attempt).await.map(|_| ())
    }
}
