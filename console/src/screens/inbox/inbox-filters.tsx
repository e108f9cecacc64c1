import { useNavigate } from "@tanstack/react-router";
import type { CountApprovalsResponse, NamedCount } from "@reeve/contracts/approval";
import { shownCount } from "../../format/amounts.ts";
import { ClearFilters, FilterChoice, Filters, FilterText } from "../../ui/filters.tsx";
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
    <Filters>
      <button
        type="button"
        className="chip tone-wait"
        aria-pressed={search.mine === true}
        onClick={() => change({ mine: search.mine !== true })}
      >
        <span className="mark" aria-hidden="true" />
        for me{counts === undefined ? "" : ` (${shownCount(counts.waitingForMe)})`}
      </button>
      <FilterChoice
        label="Agent"
        all="All agents"
        value={search.agent}
        choices={choicesOf(counts?.agents)}
        onChange={(agent) => change({ agent })}
      />
      <FilterChoice
        label="Tool"
        all="All tools"
        value={search.tool}
        choices={choicesOf(counts?.tools)}
        onChange={(tool) => change({ tool })}
      />
      <FilterChoice
        label="Age"
        all="Any age"
        value={search.age}
        choices={ages.map((age) => ({ value: age, name: `Older than ${age}` }))}
        onChange={(age) => change({ age })}
      />
      <FilterText
        label="Text"
        type="search"
        placeholder="Tool, arguments, question"
        value={search.text}
        onChange={(text) => change({ text })}
      />
      {texts.map(([name, label]) => (
        <FilterText
          key={name}
          label={label}
          value={search[name]}
          onChange={(value) => change({ [name]: value })}
        />
      ))}
      <ClearFilters
        search={search}
        onClear={() =>
          change(Object.fromEntries(Object.keys(search).map((name) => [name, undefined])))
        }
      />
    </Filters>
  );
}

/** The agents or tools with waiting decisions. */
function choicesOf(counts: readonly NamedCount[] = []) {
  return counts.map(({ name, count }) => ({ value: name, name: `${name} (${shownCount(count)})` }));
}
