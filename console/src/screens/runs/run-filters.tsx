import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { AgentService } from "@reeve/contracts/agent";
import type { CountRunsResponse } from "@reeve/contracts/run";
import { ClearFilters, FilterChoice, Filters, FilterText } from "../../ui/filters.tsx";
import type { RunsSearch } from "./runs-search.ts";
import { readRunsSearch, sinces } from "./runs-search.ts";
import { StatusChips } from "./status-chips.tsx";

interface RunFiltersProps {
  readonly search: RunsSearch;
  /** How many runs the filters leave, without that by status. */
  readonly counts: CountRunsResponse | undefined;
}

const texts = [
  ["thread", "Thread"],
  ["user", "Started by"],
  ["label", "Label, such as team=blue"],
] as const;

/** The filters of the list. They are part of the address, so that it can be shared. */
export function RunFilters({ search, counts }: RunFiltersProps) {
  const navigate = useNavigate();
  const agents = useQuery(AgentService.method.listAgents, { pageSize: 1_000 }).data?.agents ?? [];
  const change = (part: Partial<Record<keyof RunsSearch, unknown>>) =>
    void navigate({ to: "/runs", search: readRunsSearch({ ...search, ...part }), replace: true });
  return (
    <Filters>
      <StatusChips
        chosen={search.status ?? []}
        counts={counts}
        onChange={(status) => change({ status })}
      />
      <FilterText
        label="Text"
        type="search"
        placeholder="Id or input"
        value={search.text}
        onChange={(text) => change({ text })}
      />
      <FilterChoice
        label="Time"
        all="Any time"
        value={search.since}
        choices={sinces.map((since) => ({ value: since, name: `Last ${since}` }))}
        onChange={(since) => change({ since })}
      />
      <FilterChoice
        label="Agent"
        all="All agents"
        value={search.agent}
        choices={agents.map(({ spec }) => ({ value: spec?.id ?? "", name: spec?.id ?? "" }))}
        onChange={(agent) => change({ agent })}
      />
      {texts.map(([name, label]) => (
        <FilterText
          key={name}
          label={label}
          value={search[name]}
          onChange={(value) => change({ [name]: value })}
        />
      ))}
      <input
        className="input narrow"
        type="number"
        min="0"
        step="any"
        aria-label="Minimum cost in US dollars"
        placeholder="Min. cost $"
        value={search.cost ?? ""}
        onChange={(event) => change({ cost: Number(event.target.value) })}
      />
      <FilterChoice
        label="Subtasks"
        all="All outcomes of subtasks"
        value={search.parts}
        choices={[{ value: "failed", name: "With failed subtasks" }]}
        onChange={(parts) => change({ parts })}
      />
      <FilterChoice
        label="Order"
        all="Newest first"
        value={search.by}
        choices={[{ value: "cost", name: "Most expensive first" }]}
        onChange={(by) => change({ by })}
      />
      <ClearFilters
        search={search}
        onClear={() => void navigate({ to: "/runs", search: {}, replace: true })}
      />
    </Filters>
  );
}
