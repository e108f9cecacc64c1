import { useNavigate } from "@tanstack/react-router";
import { ClearFilters, FilterChoice, Filters, FilterText } from "../../ui/filters.tsx";
import type { AuditSearch } from "./audit-search.ts";
import { readAuditSearch, sinces } from "./audit-search.ts";

const texts = [
  ["action", "Action, such as run.start or run"],
  ["subject", "Who"],
  ["resource", "Id of a run, an approval, or another resource"],
] as const;

const chips = [
  ["reads", "with reads"],
  ["single", "every event"],
] as const;

/** The filters of the trail. They are part of the address, so that it can be shared. */
export function AuditFilters({ search }: { readonly search: AuditSearch }) {
  const navigate = useNavigate();
  const change = (part: Partial<Record<keyof AuditSearch, unknown>>) =>
    void navigate({ to: "/audit", search: readAuditSearch({ ...search, ...part }), replace: true });
  return (
    <Filters>
      <FilterChoice
        label="Outcome"
        all="Any outcome"
        value={search.outcome}
        choices={[
          { value: "ok", name: "Accepted" },
          { value: "refused", name: "Refused or failed" },
        ]}
        onChange={(outcome) => change({ outcome })}
      />
      <FilterChoice
        label="Time"
        all="Any time"
        value={search.since}
        choices={sinces.map((since) => ({ value: since, name: `Last ${since}` }))}
        onChange={(since) => change({ since })}
      />
      {texts.map(([name, label]) => (
        <FilterText
          key={name}
          label={label}
          value={search[name]}
          onChange={(value) => change({ [name]: value })}
        />
      ))}
      {chips.map(([name, label]) => (
        <button
          key={name}
          type="button"
          className="chip"
          aria-pressed={search[name] === true}
          onClick={() => change({ [name]: search[name] !== true })}
        >
          {label}
        </button>
      ))}
      <ClearFilters
        search={search}
        onClear={() => void navigate({ to: "/audit", search: {}, replace: true })}
      />
    </Filters>
  );
}
