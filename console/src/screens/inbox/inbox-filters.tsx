import { useNavigate } from "@tanstack/react-router";
import type { CountApprovalsResponse, NamedCount } from "@reeve/contracts/approval";
import { shownCount } from "../../format/amounts.ts";
import type { InboxSearch } from "./inbox-search.ts";
import { ages } from "./inbox-search.ts";

interface InboxFiltersProps {
  readonly search: InboxSearch;
  readonly counts: CountApprovalsResponse | undefined;
}

const texts = [
  ["requester", "Started by"],
  ["thread", "Thread"],
  ["group", "Group"],
] as const;

/** The filters of the inbox, with how many decisions each selects. They are part of the address, so that it can be shared. */
export function InboxFilters({ search, counts }: InboxFiltersProps) {
  const navigate = useNavigate();
  const change = (part: Partial<Record<keyof InboxSearch, unknown>>) => {
    const next = Object.entries({ ...search, ...part }).filter(
      ([, value]) => value !== undefined && value !== "" && value !== false,
    );
    void navigate({
      to: "/inbox/{-$approvalId}",
      params: { approvalId: undefined },
      search: Object.fromEntries(next),
      replace: true,
    });
  };
  return (
    <div className="filters" role="group" aria-label="Filters">
      <button
        type="button"
        className="chip tone-wait"
        aria-pressed={search.mine === true}
        onClick={() => change({ mine: search.mine !== true })}
      >
        <span className="mark" aria-hidden="true" />
        for me{counts === undefined ? "" : ` (${shownCount(counts.waitingForMe)})`}
      </button>
      <Choice
        label="Agent"
        all="All agents"
        value={search.agent}
        counts={counts?.agents}
        onChange={(agent) => change({ agent })}
      />
      <Choice
        label="Tool"
        all="All tools"
        value={search.tool}
        counts={counts?.tools}
        onChange={(tool) => change({ tool })}
      />
      <select
        className="input"
        aria-label="Age"
        value={search.age ?? ""}
        onChange={(event) => change({ age: event.target.value })}
      >
        <option value="">Any age</option>
        {ages.map((age) => (
          <option key={age} value={age}>
            Older than {age}
          </option>
        ))}
      </select>
      <input
        className="input"
        type="search"
        aria-label="Text"
        placeholder="Tool, arguments, question"
        value={search.text ?? ""}
        onChange={(event) => change({ text: event.target.value })}
      />
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
      {Object.keys(search).length > 0 && (
        <button
          type="button"
          className="button quiet"
          onClick={() =>
            change(Object.fromEntries(Object.keys(search).map((name) => [name, undefined])))
          }
        >
          Clear
        </button>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly all: string;
  readonly value: string | undefined;
  readonly counts: readonly NamedCount[] | undefined;
  readonly onChange: (value: string) => void;
}

/** A choice of the agents or tools with waiting decisions. */
function Choice({ label, all, value = "", counts = [], onChange }: ChoiceProps) {
  const isListed = value === "" || counts.some(({ name }) => name === value);
  return (
    <select
      className="input"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{all}</option>
      {!isListed && <option value={value}>{value}</option>}
      {counts.map(({ name, count }) => (
        <option key={name} value={name}>
          {name} ({shownCount(count)})
        </option>
      ))}
    </select>
  );
}
