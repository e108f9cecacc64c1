import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { AgentService } from "@reeve/contracts/agent";
import { RunService } from "@reeve/contracts/run";
import { nameOfStatus } from "../../format/names.ts";
import { useScreens } from "./use-screens.ts";

/** Where a person can go from everywhere. */
export interface Destination {
  readonly key: string;
  readonly name: string;
  readonly kind: string;
  readonly go: () => void;
}

const maxRuns = 8;

/** Returns the screens, agents, and runs whose names have a text. */
export function useDestinations(text: string): readonly Destination[] {
  const navigate = useNavigate();
  const screens = useScreens();
  const agents = useQuery(AgentService.method.listAgents, { pageSize: 1_000 }).data?.agents ?? [];
  const runs =
    useQuery(
      RunService.method.listRuns,
      { pageSize: maxRuns, filter: { text } },
      { placeholderData: (previous) => previous },
    ).data?.runs ?? [];
  const wanted = text.toLowerCase();
  const has = (name: string) => name.toLowerCase().includes(wanted);
  return [
    ...screens.map(({ to, params, name }) => ({
      key: to,
      name,
      kind: "screen",
      go: () => void navigate({ to, params }),
    })),
    {
      key: "start",
      name: "Start a run",
      kind: "action",
      go: () => void navigate({ to: "/start", search: {} }),
    },
    ...agents.map(({ spec }) => ({
      key: `agent ${spec?.id}`,
      name: spec?.id ?? "",
      kind: "agent",
      go: () => void navigate({ to: "/agents/{-$agentId}", params: { agentId: spec?.id } }),
    })),
    ...runs.map(({ runId, inputPreview, status }) => ({
      key: runId,
      name: `${inputPreview.slice(0, 60)} ${runId}`,
      kind: `run, ${nameOfStatus(status).name}`,
      go: () => void navigate({ to: "/runs/$runId/{-$view}", params: { runId } }),
    })),
  ].filter(({ name }) => has(name));
}
