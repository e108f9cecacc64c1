import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { AgentService } from "@reeve/contracts/agent";
import type { RunsSearch } from "./runs-search.ts";
import { listedStatuses, nameOfStatus } from "../../format/names.ts";

/** The filters of the list. They are part of the address, so that it can be shared. */
export function RunFilters({ search }: { readonly search: RunsSearch }) {
  const navigate = useNavigate();
  const agents = useQuery(AgentService.method.listAgents, { pageSize: 1_000 }).data?.agents ?? [];
  const change = (part: Partial<Record<keyof RunsSearch, unknown>>) => {
    const next = Object.entries({ ...search, ...part }).filter(
      ([, value]) => value !== undefined && value !== "" && !isEmpty(value),
    );
    void navigate({ to: "/runs", search: Object.fromEntries(next), replace: true });
  };
  const chosen = search.status ?? [];
  const ids = new Set(agents.map(({ spec }) => spec?.id ?? ""));
  if (search.agent !== undefined) ids.add(search.agent);
  return (
    <div className="filters" role="group" aria-label="Filters">
      <div className="chips" role="group" aria-label="Status">
        {listedStatuses.map((status) => {
          const { name, tone } = nameOfStatus(status);
          const isChosen = chosen.includes(name);
          const next = isChosen ? chosen.filter((each) => each !== name) : [...chosen, name];
          return (
            <button
              key={name}
              type="button"
              className={`chip tone-${tone}`}
              aria-pressed={isChosen}
              onClick={() => change({ status: next })}
            >
              <span className="mark" aria-hidden="true" />
              {name}
            </button>
          );
        })}
      </div>
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
      <input
        className="input"
        aria-label="Thread"
        placeholder="Thread"
        value={search.thread ?? ""}
        onChange={(event) => change({ thread: event.target.value })}
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

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
