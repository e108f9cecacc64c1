use std::future::Future;

use tokio::time::{timeout, Instant};

use crate::back_off::back_off;
use crate::client::Client;
use crate::error::Error;
use crate::proto::tool::v1::client_tool_service_client::ClientToolServiceClient;
use crate::proto::tool::v1::offer_tools_request::Target;
use crate::proto::tool::v1::offer_tools_response::Event;
use crate::proto::tool::v1::{ClientManifest, OfferToolsRequest, OfferToolsResponse, OfferedCall};
use crate::tool_calls::Calls;

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

impl Client {
    /// Offers the tools of a manifest, and executes their calls, across lost connections, until the run has ended. `execute` returns
    /// the result of a call, or the description of its failure, which the model reads. It is called once for each call, in a task of
    /// its own, and each call goes to one client only: an answer that did not reach the server is sent again. Use a
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
                    Some(ended) = calls.running.join_next() => {
                        if let Ok((key, is_final)) = ended {
                            calls.ended(key, is_final);
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
                    calls.closed((closed.run_id, closed.call_id));
                }
                None => *failures = 0,
            }
        }
    }
}
