import type { FilteredCall } from "./decision-filter.ts";
import { runContextOf } from "../resolve/resolve-agent.ts";
import type { RunCreated } from "@reeve/contracts/run";
import type { ToolCall } from "@reeve/contracts/tool";
import { roleName } from "@reeve/platform/rpc/roles";

/** Returns what the filters of a run's agent see of a call. */
export function filteredCall(
  created: RunCreated | undefined,
  call: Pick<ToolCall, "name" | "arguments">,
): FilteredCall {
  return {
    tool: call.name,
    arguments: call.arguments ?? {},
    agent: { id: created?.agentId ?? "", revision: created?.agentRevision ?? 0 },
    requester: {
      subject: created?.startedBy ?? "",
      roles: (created?.startedByRoles ?? []).map(roleName),
    },
    channel: created === undefined ? "plain" : runContextOf(created),
  };
}
