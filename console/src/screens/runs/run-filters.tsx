import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { AgentService } from "@reeve/contracts/agent";
import type { CountRunsResponse } from "@reeve/contracts/run";
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
  const ids = new Set(agents.map(({ spec }) => spec?.id ?? ""));
  if (search.agent !== undefined) ids.add(search.agent);
  return (
    <div className="filters" role="group" aria-label="Filters">
      <StatusChips
        chosen={search.status ?? []}
        counts={counts}
        onChange={(status) => change({ status })}
      />
      <input
        className="input"
        type="search"
        aria-label="Text"
        placeholder="Id or input"
        value={search.text ?? ""}
        onChange={(event) => change({ text: event.target.value })}
      />
      <select
        className="input"
        aria-label="Time"
        value={search.since ?? ""}
        onChange={(event) => change({ since: event.target.value })}
      >
        <option value="">Any time</option>
        {sinces.map((since) => (
          <option key={since} value={since}>
            Last {since}
          </option>
        ))}
      </select>
      <select
        className="input"
        aria-label="Agent"
        value={search.agent ?? ""}
        onChange={(event) => change({ agent: event.target.value })}
      >
        <option value="">All agents</option>
        {[...ids].map((id) => (
          <option key={id}>{id}</option>
        ))}
      </select>
      {texts.map(([name, label]) => (
        <input
          key={name}
          className="input"
          aria-label={label}
          placeholder={label}
          value={search[name] ?? ""}
          onChange={(event) => change({ [name]: event.target.value })}
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
      {Object.keys(search).length > 0 && (
        <button
          type="button"
          className="button quiet"
          onClick={() => void navigate({ to: "/runs", search: {}, replace: true })}
        >
          Clear
        </button>
      )}
    </div>
  );
}
