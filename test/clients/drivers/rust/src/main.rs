//! Test driver of the Rust client: executes one operation per process, and reports it as lines of JSON.

use std::env::{args, var};
use std::time::{Duration, Instant};

use prost_types::value::Kind;
use prost_types::{Struct, Value as ProtoValue};
use reeve_client::proto::approval::v1::{Approval, ApprovalState, DecideApprovalRequest};
use reeve_client::proto::run::v1::run_event::Event;
use reeve_client::proto::run::v1::{ApprovalChanged, StartRunRequest};
use reeve_client::proto::tool::v1::{ClientManifest, ClientTool, OfferedCall};
use reeve_client::{Client, Error, Options, Selection, ToolAnswer, ToolTarget};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};

fn report(line: Value) {
    println!("{line}");
}

fn setting(name: &str) -> Option<String> {
    var(name).ok().filter(|value| !value.is_empty())
}

fn milliseconds(name: &str) -> Duration {
    Duration::from_millis(
        setting(name)
            .and_then(|value| value.parse().ok())
            .expect(name),
    )
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut options = Options::new(setting("REEVE_URL").expect("REEVE_URL"));
    options.token = setting("REEVE_TOKEN");
    options.ca = setting("REEVE_CA").map(|path| std::fs::read(path).expect("the file of REEVE_CA"));
    options.request_timeout = milliseconds("REEVE_REQUEST_MS");
    if setting("REEVE_TRANSFER_MS").is_some() {
        options.transfer_timeout = milliseconds("REEVE_TRANSFER_MS");
    }
    options.idle_timeout = milliseconds("REEVE_IDLE_TIMEOUT_MS");
    options.reconnect_timeout = milliseconds("REEVE_RECONNECT_TIMEOUT_MS");
    let operands: Vec<String> = args().skip(1).collect();
    if let Err(error) = perform(options, &operands).await {
        let code = format!("{:?}", error.code);
        let name: String = code
            .chars()
            .enumerate()
            .flat_map(|(at, letter)| {
                let parted = at > 0 && letter.is_uppercase();
                parted
                    .then_some('_')
                    .into_iter()
                    .chain(letter.to_uppercase())
            })
            .collect();
        let fields: Vec<_> = error
            .violations
            .iter()
            .map(|violation| &violation.field)
            .collect();
        report(
            json!({"error": {"code": name, "reason": error.reason, "message": error.message, "fields": fields}}),
        );
    }
}

async fn perform(options: Options, operands: &[String]) -> Result<(), Error> {
    let reeve = Client::connect(options)?;
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    match operands.as_slice() {
        ["start", agent_id, input, request_id] => {
            let request = StartRunRequest {
                agent_id: agent_id.to_string(),
                input: input.to_string(),
                request_id: request_id.to_string(),
                ..Default::default()
            };
            report(json!({"run": reeve.start_run(request).await?.run_id}));
        }
        ["watch", run_id, after] => {
            watch(&reeve, run_id, after.parse().expect("a sequence")).await?
        }
        ["approve", run_id] => {
            for approval in reeve.list_approvals(*run_id).await? {
                decide(&reeve, approval).await?;
            }
        }
        ["measure", run_id] => {
            let (started_at, mut events, mut watch) = (Instant::now(), 0, reeve.watch(*run_id));
            while watch.next().await?.is_some() {
                events += 1;
            }
            report(json!({"count": events, "ms": started_at.elapsed().as_secs_f64() * 1000.0}));
        }
        ["tools", run_id] => {
            let echo = ClientTool {
                name: "echo".into(),
                description: "Repeats a text.".into(),
                input_schema: Some(schema()),
                ..Default::default()
            };
            let manifest = ClientManifest {
                client_id: "driver".into(),
                tools: vec![echo],
            };
            let target = ToolTarget::Run(run_id.to_string());
            let execute = |call: OfferedCall| async move {
                report(json!({"served": call.call_id}));
                let arguments = call.arguments.unwrap_or_default();
                match arguments
                    .fields
                    .get("text")
                    .and_then(|text| text.kind.clone())
                {
                    Some(Kind::StringValue(text)) => Ok(ToolAnswer::Text(format!("echo {text}"))),
                    _ => Err("the call has no text".to_string()),
                }
            };
            reeve.serve_tools(manifest, target, execute).await?;
            report(json!({"left": true}));
        }
        ["cancel", run_id] => {
            report(json!({"status": reeve.cancel(*run_id, "enough").await?.status}))
        }
        ["files", path] => {
            let content = std::fs::read(path).expect("the file");
            let name = path.rsplit('/').next().unwrap_or_default();
            let stored = reeve.upload(name, "text/plain", content).await?;
            let download = reeve.download(stored.artifact_id).await?;
            let (size, name) = (download.artifact.size_bytes, download.artifact.name.clone());
            let digest = Sha256::digest(download.read().await?);
            report(json!({"size": size, "name": name, "sha256": format!("{digest:x}")}));
        }
        _ => panic!("unknown operation"),
    }
    Ok(())
}

/// Returns the schema of an object with a text.
fn schema() -> Struct {
    let text = |text: &str| ProtoValue {
        kind: Some(Kind::StringValue(text.to_string())),
    };
    let object = |fields: Vec<(&str, ProtoValue)>| Struct {
        fields: fields
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect(),
    };
    let nested = |inner: Struct| ProtoValue {
        kind: Some(Kind::StructValue(inner)),
    };
    let property = nested(object(vec![("type", text("string"))]));
    let properties = nested(object(vec![("text", property)]));
    object(vec![("type", text("object")), ("properties", properties)])
}

async fn decide(reeve: &Client, Approval { approval_id, .. }: Approval) -> Result<(), Error> {
    let decision = DecideApprovalRequest {
        approval_id,
        approved: true,
        ..Default::default()
    };
    let decided = reeve.decide(decision).await?;
    report(json!({"approved": decided.approval_id}));
    Ok(())
}

async fn watch(reeve: &Client, run_id: &str, after: u32) -> Result<(), Error> {
    let mut watch = reeve.watch_after(run_id, after, Selection::Detailed);
    while let Some(event) = watch.next().await? {
        report(json!({"event": event.sequence}));
        if let Some(Event::Approval(ApprovalChanged {
            approval: Some(approval),
        })) = event.event
        {
            if approval.state() == ApprovalState::Pending {
                decide(reeve, approval).await?;
            }
        }
    }
    report(json!({"ended": watch.end_status() as i32, "through": watch.through_sequence()}));
    Ok(())
}
