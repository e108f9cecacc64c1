import { readFileSync } from "node:fs";
import { ApprovalState, connect, RunStatus, StepState } from "@reeve/client";

const reeve = connect({ address: process.env.REEVE_URL, token: process.env.REEVE_TOKEN });
const content = readFileSync("examples/csv-report/sales.csv");
const { artifactId } = await reeve.upload({ name: "data.csv", content });
const files = [{ artifactId, path: "data.csv" }];
const run = await reeve.startRun({ agentId: "csv-report", input: "Summarize the file.", files });
const watch = reeve.watch(run.runId);
for await (const { event } of watch) {
  if (event.case === "text") process.stdout.write(event.value.text);
  if (event.case === "step" && event.value.state === StepState.COMPLETED) console.log();
  if (event.case !== "approval") continue;
  const { approvalId, state } = event.value.approval;
  if (state === ApprovalState.PENDING) await reeve.decide({ approvalId, approved: true });
}
console.log(watch.endStatus === RunStatus.COMPLETED ? "\ncompleted" : "\nnot completed");
reeve.close();
