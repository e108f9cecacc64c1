import { useQuery } from "@connectrpc/connect-query";
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import type { Approval } from "@reeve/contracts/approval";
import { ToolService } from "@reeve/contracts/tool";
import { problemOf } from "../../api/problem.ts";
import { usePendingApprovals } from "../../api/use-pending-approvals.ts";
import { plural } from "../../format/amounts.ts";
import { msOf } from "../../format/time.ts";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { ApprovalPanel } from "../approval/approval-panel.tsx";
import { ClosedApprovals } from "./closed-approvals.tsx";
import "../../styles/inbox.css";

const route = getRouteApi("/inbox/{-$approvalId}");

/** Everything that waits for a person, oldest first, and what was decided. */
export function InboxScreen() {
  const { approvalId } = route.useParams();
  const { approvals, isPending, error, refetch } = usePendingApprovals();
  const found = approvals.findIndex((each) => each.approvalId === approvalId);
  const at = found === -1 ? 0 : found;
  return (
    <>
      <PageHead title="Inbox">
        <span className="muted">{plural(approvals.length, "decision")} waiting</span>
      </PageHead>
      {error !== null && <ProblemView problem={problemOf(error)} onRetry={refetch} />}
      {isPending ? (
        <p className="loading" role="status">
          Loading decisions …
        </p>
      ) : approvals.length === 0 ? (
        <Empty title="Nothing waits for you">
          Calls of tools that an agent names in <code>hitl_tools</code>, and questions of tools,
          appear here.
        </Empty>
      ) : (
        <div className="inbox">
          <Waiting approvals={approvals} at={at} />
          <Chosen approval={approvals[at]} onDecided={refetch} />
        </div>
      )}
      <ClosedApprovals />
    </>
  );
}

interface WaitingProps {
  readonly approvals: readonly Approval[];
  readonly at: number;
}

function Waiting({ approvals, at }: WaitingProps) {
  return (
    <ol className="inbox-list" aria-label="Waiting decisions">
      {approvals.map(({ approvalId, call, agentId, requestedAt, question }, index) => (
        <li key={approvalId}>
          <Link
            to="/inbox/{-$approvalId}"
            params={{ approvalId }}
            className="inbox-item"
            aria-current={index === at ? "true" : undefined}
            aria-keyshortcuts={index === at + 1 ? "j" : index === at - 1 ? "k" : undefined}
            replace
          >
            <span className="mono">{call?.name}</span>
            <span className="sub">
              <span>{agentId}</span>
              <span>{question === undefined ? "call" : "question"}</span>
              <Ago ms={msOf(requestedAt)} />
            </span>
          </Link>
        </li>
      ))}
    </ol>
  );
}

interface ChosenProps {
  readonly approval: Approval | undefined;
  readonly onDecided: () => void;
}

function Chosen({ approval, onDecided }: ChosenProps) {
  const navigate = useNavigate();
  const tools = useQuery(ToolService.method.listTools, {}).data?.tools;
  if (approval === undefined) return null;
  const schema = tools?.find(({ name }) => name === approval.call?.name)?.inputSchema;
  return (
    <div className="inbox-chosen">
      <ApprovalPanel
        key={approval.approvalId}
        approval={approval}
        schema={schema}
        onDecided={() => {
          void navigate({
            to: "/inbox/{-$approvalId}",
            params: { approvalId: undefined },
            replace: true,
          });
          onDecided();
        }}
      />
      <Link to="/runs/$runId/{-$view}" params={{ runId: approval.runId, view: undefined }}>
        Show the run
      </Link>
    </div>
  );
}
