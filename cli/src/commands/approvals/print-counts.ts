import type { Client } from "@reeve/client";
import type { ApprovalCount, CountApprovalsResponse } from "@reeve/contracts/approval";
import { ApprovalStateSchema, CountApprovalsResponseSchema } from "@reeve/contracts/approval";
import type { Context } from "../../context.ts";
import { jsonLine } from "../../render/json-line.ts";
import { oneLine } from "../../render/plain-text.ts";
import { table } from "../../render/table.ts";

/** Prints how many approvals there are: as a table, or as JSON. */
export async function printCounts(
  { terminal, signal }: Pick<Context, "terminal" | "signal">,
  reeve: Client,
  json: boolean,
): Promise<void> {
  const counts = await reeve.approvals.count({ signal });
  if (json) terminal.out(jsonLine(CountApprovalsResponseSchema, counts));
  else terminal.out(table(["COUNT", "OF", "NAME"], rowsOf(counts)));
}

function rowsOf({ states, agents, tools, waitingForMe }: CountApprovalsResponse) {
  const named = (of: string, counts: typeof agents) =>
    counts.map(({ name, count }) => [shown(count), of, oneLine(name, 128)]);
  return [
    [shown(waitingForMe), "pending", "for you"],
    ...states.map(({ state, count }) => [
      shown(count),
      "state",
      ApprovalStateSchema.value[state]?.localName.toLowerCase() ?? "unknown",
    ]),
    ...named("agent", agents),
    ...named("tool", tools),
  ];
}

/** Returns a number for people: `12`, `12+` if there may be more, or `?` if it is not known. */
function shown(count: ApprovalCount | undefined): string {
  return count === undefined ? "?" : `${count.count}${count.isPartial ? "+" : ""}`;
}
