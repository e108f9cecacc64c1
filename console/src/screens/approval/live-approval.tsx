import type { JsonObject } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { useState } from "react";
import type { RunModel } from "../../run/run-model.ts";
import { ApprovalPanel } from "./approval-panel.tsx";
import { noticeOf } from "./decision-notice.ts";

const refreshMs = 5_000;

interface PendingApprovalsProps {
  readonly run: RunModel;
}

/** The decisions for which a run waits, and what this person has decided of them. */
export function PendingApprovals({ run }: PendingApprovalsProps) {
  const [notice, setNotice] = useState("");
  const pending = [...run.approvals.values()].filter(
    ({ state }) => state === ApprovalState.PENDING,
  );
  return (
    <>
      {pending.map((approval) => (
        <LiveApproval
          key={approval.approvalId}
          approval={approval}
          schema={run.prepared?.tools.find(({ name }) => name === approval.call?.name)?.inputSchema}
          onDecided={(decided) => setNotice(noticeOf(decided))}
        />
      ))}
      <p role="status" className={notice === "" ? "" : "notice"}>
        {notice}
      </p>
    </>
  );
}

interface LiveApprovalProps {
  /** As the log of the run has it, which does not say who reads it. */
  readonly approval: Approval;
  readonly schema: JsonObject | undefined;
  readonly onDecided: (decided: Approval | undefined) => void;
}

function LiveApproval({ approval, schema, onDecided }: LiveApprovalProps) {
  const { approvalId } = approval;
  const { data, error, refetch } = useQuery(
    ApprovalService.method.getApproval,
    { approvalId },
    { refetchInterval: refreshMs },
  );
  const read = data?.approval;
  if (read === undefined && error === null) {
    return (
      <p className="loading" role="status">
        Loading the decision …
      </p>
    );
  }
  const isNewer = read !== undefined && read.revision >= approval.revision;
  return (
    <ApprovalPanel
      approval={isNewer ? read : { ...approval, ...standingOf(read) }}
      schema={schema}
      onNoted={() => void refetch()}
      onDecided={(decided) => {
        onDecided(decided);
        void refetch();
      }}
    />
  );
}

function standingOf(read: Approval | undefined): Partial<Approval> {
  return read?.callerStanding === undefined ? {} : { callerStanding: read.callerStanding };
}
