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
const runIdPattern = /^run_[A-Za-z0-9_-]{4,}$/;

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
  const wanted = text.trim().toLowerCase();
  const has = ({ name }: Destination) => name.toLowerCase().includes(wanted);
  const goToRun = (runId: string) =>
    void navigate({ to: "/runs/$runId/{-$view}", params: { runId } });
  const named = [
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
  ];
  const found = runs.map(({ runId, inputPreview, status }) => ({
    key: runId,
    name: `${inputPreview.slice(0, 60)} ${runId}`,
    kind: `run, ${nameOfStatus(status).name}`,
    go: () => goToRun(runId),
  }));
  // The server searches the newest runs only; an id leads to every run.
  const isOther = runIdPattern.test(text.trim()) && runs.every((run) => run.runId !== text.trim());
  const other = { key: "id", name: text.trim(), kind: "run", go: () => goToRun(text.trim()) };
  return [...named.filter(has), ...found, ...(isOther ? [other] : [])];
}
