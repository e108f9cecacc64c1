import type { Cluster } from "../cluster.ts";
import type { Figure } from "../figure.ts";
import { timesOf } from "../measure.ts";
import { agentOf, approvalIdOf } from "./parked-runs.ts";

const listings = 50;

/** Measures pages of the inbox, without and with filters, and its numbers. The floor is one approval over the same connection. */
export async function* listFigures(
  { reeve: { approvals } }: Cluster,
  pending: number,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  const unit = "ms";
  const approvalId = approvalIdOf(0);
  const get = () => approvals.getApproval({ approvalId }, { signal });
  const floors = await timesOf(listings, get);
  const figure = async (name: string, times: number, work: () => unknown): Promise<Figure> => {
    const values = await timesOf(times, work);
    return { name: `${name}, ${pending} pending`, unit, values, floors };
  };
  let pageToken = "";
  const next = async () => {
    const page = { pageSize: 100, pageToken };
    ({ nextPageToken: pageToken } = await approvals.listApprovals(page, { signal }));
  };
  yield await figure("100 approvals listed, page by page", listings, next);
  const filters = {
    "an agent": { agentId: agentOf(7) },
    "an agent and a tool": { agentId: agentOf(7), tool: "mcp__srv__tool_2" },
    "a person who requested": { requestedBy: "person-3" },
    "those for the caller": { forMe: true },
    "a text that one has": { text: `reports/${pending - 1}.csv` },
  };
  for (const [what, filter] of Object.entries(filters)) {
    const list = () => approvals.listApprovals({ pageSize: 100, filter }, { signal });
    yield await figure(`100 approvals listed by ${what}`, listings, list);
  }
  const count = () => approvals.countApprovals({}, { signal });
  yield await figure("counted", listings, count);
}
