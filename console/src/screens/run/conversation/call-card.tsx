import { memo } from "react";
import { create } from "@bufbuild/protobuf";
import type { ContentPart } from "@reeve/contracts/content/parts";
import { ContentPartSchema } from "@reeve/contracts/content/parts";
import { nameOfApproval } from "../../../format/names.ts";
import { formatDuration, msOf } from "../../../format/time.ts";
import { votersOf } from "../../../format/voters.ts";
import { argsLine, resultLine, stateOfCall } from "../../../run/call-state.ts";
import type { CallItem, RunModel } from "../../../run/run-model.ts";
import { whyWithheld } from "../../../run/withheld.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Disclosure } from "../../../ui/disclosure.tsx";
import { MessageParts } from "../../../ui/content/message-parts.tsx";
import { JsonView } from "../../../ui/content/json-view.tsx";
import { Clock } from "../../../ui/times.tsx";
import { argumentsLine } from "../../approval/arguments-line.ts";
import { VoteProgress } from "../../approval/vote-progress.tsx";
import { FrameCard } from "./frame-card.tsx";
import type { FrameView } from "./frame-view.ts";
import { PlannedWorkflow } from "./planned-workflow.tsx";

interface CallCardProps {
  readonly call: CallItem;
  readonly run: RunModel;
  readonly version: number;
  readonly view: FrameView;
}

/** A call of a tool, with the subtasks that it started. Closed, it shows one line of its arguments and of its result. */
export const CallCard = memo(function CallCard({ call, run, version, view }: CallCardProps) {
  const { result, progress, subtasks } = call;
  const approval = run.approvals.get(call.approvalId);
  const isFailed = result !== undefined && !result.success;
  const withheld = isFailed ? whyWithheld(run, call.call.name) : undefined;
  const line = result === undefined ? (progress?.message ?? "") : resultLine(call);
  return (
    <div className="card call" data-node={call.call.callId}>
      <Disclosure
        summary={
          <span className="card-head">
            <span className="card-name mono">{call.call.nodeId || call.call.name}</span>
            <span className="card-args mono">{argsLine(call)}</span>
            {result !== undefined && result.durationMs > 0 && (
              <span className="muted tabular">{formatDuration(result.durationMs)}</span>
            )}
            <Badge {...stateOfCall(call, run)} />
          </span>
        }
      >
        <CallDetails call={call} run={run} />
      </Disclosure>
      {approval?.decision !== undefined && (
        <p className="card-line decided">
          {nameOfApproval(approval.state).name} by {votersOf(approval)} at{" "}
          <Clock ms={msOf(approval.decision.decidedAt)} />
          {approval.decision.editedArguments !== undefined && (
            <span className="mono">
              , with other arguments:{" "}
              {argumentsLine({ ...call.call, arguments: approval.decision.editedArguments })}
            </span>
          )}
          {approval.decision.reason !== "" && <>: {approval.decision.reason}</>}
        </p>
      )}
      {withheld !== undefined && <p className="card-line">It was not allowed: {withheld}.</p>}
      {line !== "" && <p className="card-line mono">{line}</p>}
      <MessageParts parts={filesOf(call)} />
      <PlannedWorkflow call={call} run={run} />
      {subtasks.map((frame) => (
        <FrameCard key={frame.id} frame={frame} run={run} version={version} view={view} />
      ))}
    </div>
  );
});

/** Returns the images of a result. */
function filesOf({ result }: CallItem): readonly ContentPart[] {
  return (result?.result?.files ?? []).map((value) =>
    create(ContentPartSchema, { part: { case: "file", value } }),
  );
}

function CallDetails({
  call: { call, result, approvalId },
  run,
}: Pick<CallCardProps, "call" | "run">) {
  const approval = run.approvals.get(approvalId);
  const edited = approval?.decision?.editedArguments;
  const metadata = result?.result?.metadata;
  return (
    <div className="details">
      <h3>{edited === undefined ? "Arguments" : "Arguments of the model"}</h3>
      <JsonView value={call.arguments ?? call.rawArguments} label="Arguments" />
      {edited !== undefined && (
        <>
          <h3>Arguments with which it ran</h3>
          <JsonView value={edited} label="Edited arguments" />
        </>
      )}
      {call.injectedArgs !== undefined && (
        <>
          <h3>What the model said about the call</h3>
          <JsonView value={call.injectedArgs} label="Injected arguments" />
        </>
      )}
      {approval?.decision !== undefined && (
        <p className="muted">
          {nameOfApproval(approval.state).name} by {votersOf(approval)}
          {approval.decision.breakGlass !== undefined && <>, by break-glass</>}
          {approval.decision.appliedGrant !== undefined && (
            <>, with grant {approval.decision.appliedGrant.grantId}</>
          )}
        </p>
      )}
      {approval !== undefined && <VoteProgress approval={approval} />}
      {result !== undefined && (
        <>
          <h3>{result.success ? "Result" : "Failure"}</h3>
          <JsonView value={result.error || (result.result?.content ?? "")} label="Result" />
        </>
      )}
      <p className="muted">
        <span className="mono">{call.callId}</span>
        {metadata?.isolation ? ` · isolation: ${metadata.isolation}` : ""}
        {metadata?.endReason ? ` · process ended: ${metadata.endReason}` : ""}
      </p>
    </div>
  );
}
