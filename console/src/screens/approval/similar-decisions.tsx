import { useQuery } from "@connectrpc/connect-query";
import { ApprovalService } from "@reeve/contracts/approval";
import { nameOfApproval } from "../../format/names.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { Ago } from "../../ui/times.tsx";

/** How people decided similar calls before. Nothing is shown if nobody did, or if it is not known. */
export function SimilarDecisions({ approvalId }: { readonly approvalId: string }) {
  const { data } = useQuery(ApprovalService.method.listSimilarDecisions, { approvalId });
  const decisions = data?.decisions ?? [];
  if (decisions.length === 0) return null;
  return (
    <section aria-label="Similar decisions">
      <h3>Decided similar calls before</h3>
      <ul>
        {decisions.map((decision) => (
          <li key={decision.approvalId}>
            <Badge {...nameOfApproval(decision.state)} /> by {decision.decidedBy}{" "}
            <Ago ms={msOf(decision.decidedAt)} />, with{" "}
            {decision.sameArguments ? "the same arguments" : "other arguments"}
            {decision.editedArguments && ", edited"}
            {decision.byGrant && ", by a grant"}
            {decision.reason !== "" && `: ${decision.reason}`}
          </li>
        ))}
      </ul>
    </section>
  );
}
