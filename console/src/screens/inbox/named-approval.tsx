import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalService } from "@reeve/contracts/approval";
import { ToolService } from "@reeve/contracts/tool";
import { problemOf } from "../../api/problem.ts";
import { nameOfApproval } from "../../format/names.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { JsonView } from "../../ui/content/json-view.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { ApprovalPanel } from "../approval/approval-panel.tsx";
import { VoteProgress } from "../approval/vote-progress.tsx";
import { shownApproval } from "./shown-approval.ts";

interface NamedApprovalProps {
  readonly approvalId: string;
  /** Those that wait. */
  readonly listed: readonly Approval[];
  readonly onNoted: () => void;
  readonly onDecided: (approval: Approval | undefined) => void;
}

/** The approval that the address names: to decide it, or what was decided, or that there is none. */
export function NamedApproval({ approvalId, listed, onNoted, onDecided }: NamedApprovalProps) {
  const isListed = listed.some((each) => each.approvalId === approvalId);
  const { data, error, refetch } = useQuery(
    ApprovalService.method.getApproval,
    { approvalId },
    // The list is read again, too.
    { refetchInterval: isListed ? false : 2_000 },
  );
  const shown = shownApproval(approvalId, { listed, read: data?.approval });
  if (shown === undefined) {
    return (
      <div className="inbox-chosen">
        {error === null ? (
          <p className="loading" role="status">
            Loading the decision …
          </p>
        ) : (
          <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />
        )}
      </div>
    );
  }
  const { approval, isWaiting } = shown;
  return (
    <div className="inbox-chosen">
      {isWaiting ? (
        <Waiting approval={approval} onNoted={onNoted} onDecided={onDecided} />
      ) : (
        <Closed approval={approval} />
      )}
      <Link to="/runs/$runId/{-$view}" params={{ runId: approval.runId, view: undefined }}>
        Show the run
      </Link>
    </div>
  );
}

function Waiting({
  approval,
  ...told
}: { readonly approval: Approval } & Pick<NamedApprovalProps, "onNoted" | "onDecided">) {
  const tools = useQuery(ToolService.method.listTools, {}).data?.tools;
  const schema = tools?.find(({ name }) => name === approval.call?.name)?.inputSchema;
  return <ApprovalPanel key={approval.approvalId} approval={approval} schema={schema} {...told} />;
}

function Closed({ approval }: { readonly approval: Approval }) {
  const { call, state, decision } = approval;
  return (
    <section className="approval" aria-label={`Decision about ${call?.name ?? "a call"}`}>
      <header>
        <h2>
          <span className="mono">{call?.name}</span> waits no more{" "}
          <Badge {...nameOfApproval(state)} />
        </h2>
        {decision !== undefined && (
          <p className="muted">
            Decided by {decision.decidedBy}
            {decision.decidedAt !== undefined && (
              <>
                {" "}
                <Ago ms={msOf(decision.decidedAt)} />
              </>
            )}
            {decision.reason !== "" && `: ${decision.reason}`}
          </p>
        )}
      </header>
      <JsonView
        value={decision?.editedArguments ?? call?.arguments ?? call?.rawArguments ?? {}}
        label="Arguments"
      />
      <VoteProgress approval={approval} />
    </section>
  );
}
