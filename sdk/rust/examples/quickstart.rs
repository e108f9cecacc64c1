use reeve_client::proto::approval::v1::{ApprovalState, DecideApprovalRequest};
use reeve_client::proto::run::v1::{run_event::Event, ApprovalChanged, StartRunRequest, StepState};
use reeve_client::proto::tool::v1::WorkspaceFile;
use reeve_client::{Client, Error, Options};
use std::env::var;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (address, token) = (var("REEVE_URL").unwrap(), var("REEVE_TOKEN").unwrap());
    let reeve = Client::connect(Options::new(address).token(token))?;
    let content = std::fs::read("examples/csv-report/sales.csv").unwrap();
    let artifact_id = reeve.upload("data.csv", "text/csv", content).await?.artifact_id;
    let files = vec![WorkspaceFile { artifact_id, path: "data.csv".into() }];
    let (agent_id, input) = ("csv-report".into(), "Summarize the file.".into());
    let run = reeve.start_run(StartRunRequest { agent_id, input, files, ..Default::default() }).await?;
    let mut watch = reeve.watch(&run.run_id);
    while let Some(event) = watch.next().await? {
        match event.event {
            Some(Event::Text(text)) => print!("{}", text.text),
            Some(Event::Step(step)) if step.state() == StepState::Completed => println!(),
            Some(Event::Approval(ApprovalChanged { approval: Some(it) })) if it.state() == ApprovalState::Pending => {
                let approval_id = it.approval_id;
                reeve.decide(DecideApprovalRequest { approval_id, approved: true, ..Default::default() }).await?;
            }
            _ => {}
        }
    }
    println!("\n{}", watch.end_status().as_str_name());
    Ok(())
}
