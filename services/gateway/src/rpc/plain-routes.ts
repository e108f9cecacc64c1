import type { JsonObject } from "@bufbuild/protobuf";
import { ApprovalService } from "@reeve/contracts/approval";
import { ReceiptService } from "@reeve/contracts/receipt";
import { RunService } from "@reeve/contracts/run";
import type { PlainEvents, PlainRoute } from "@reeve/platform/rpc/plain/plain-route";

/**
 * The server-sent events of a run. Each has the id `SEQUENCE:TOKEN`, from which a client resumes; the token names the history
 * that the client has. The last event is `end`.
 */
const runEvents: PlainEvents = {
  resume(lastEventId) {
    const [after = "", ...token] = lastEventId.split(":");
    return { afterSequence: after, resumeToken: token.join(":") };
  },
  render(message) {
    const { events = [], resumeToken = "", throughSequence = 0, endStatus } = watchMessage(message);
    const texts = events.map(
      (event) => `id: ${event.sequence}:${resumeToken}\ndata: ${JSON.stringify(event)}\n\n`,
    );
    if (endStatus !== undefined) {
      texts.push(`event: end\ndata: ${JSON.stringify({ throughSequence, endStatus })}\n\n`);
    }
    return texts.length === 0 ? ": heartbeat\n\n" : texts.join("");
  },
  isOver(first) {
    const { events = [], endStatus } = watchMessage(first);
    return events.length === 0 && endStatus !== undefined;
  },
};

/** The addresses for clients without a library, such as `curl` and a browser's EventSource. */
export const plainRoutes: readonly PlainRoute[] = [
  { verb: "POST", path: "/v1/runs", method: RunService.method.startRun },
  { verb: "GET", path: "/v1/runs/{run_id}", method: RunService.method.getRun },
  {
    verb: "GET",
    path: "/v1/runs/{run_id}/events",
    method: RunService.method.watchRun,
    events: runEvents,
  },
  {
    verb: "GET",
    path: "/v1/runs/{run_id}/calls/{call_id}/receipt",
    method: ReceiptService.method.getReceipt,
  },
  { verb: "GET", path: "/v1/receipt-keys", method: ReceiptService.method.listReceiptKeys },
  { verb: "GET", path: "/v1/approvals", method: ApprovalService.method.listApprovals },
  { verb: "POST", path: "/v1/decisions", method: ApprovalService.method.decideApproval },
  { verb: "POST", path: "/v1/answers", method: ApprovalService.method.answerQuestion },
];

/** The JSON of `WatchRunResponse`, without the fields that have their default. */
interface WatchMessage {
  readonly events?: readonly { readonly sequence: number }[];
  readonly throughSequence?: number;
  readonly resumeToken?: string;
  readonly endStatus?: string;
}

/** The protocol wrote this message by its contract. */
function watchMessage(message: JsonObject): WatchMessage {
  return message;
}
