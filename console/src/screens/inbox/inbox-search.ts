import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ApprovalFilterSchema } from "@reeve/contracts/approval";

/** The filters of the inbox, as the address has them. */
export interface InboxSearch {
  readonly mine?: true;
  readonly agent?: string;
  readonly tool?: string;
  readonly requester?: string;
  readonly thread?: string;
  readonly group?: string;
  readonly text?: string;
  /** For how long at least the approvals have waited. */
  readonly age?: Age;
}

const agesMs = { "1h": 3_600_000, "1d": 86_400_000, "7d": 604_800_000 } as const;

type Age = keyof typeof agesMs;

/** The ages to choose from, shortest first. */
export const ages: readonly Age[] = ["1h", "1d", "7d"];

const texts = ["agent", "tool", "requester", "thread", "group", "text"] as const;

/** Reads the filters of an address, which a person may have written. */
export function readInboxSearch(search: Record<string, unknown>): InboxSearch {
  const given = texts.flatMap((name) => {
    const value = search[name];
    // An address may have a number where a person wrote digits.
    const text = typeof value === "number" ? String(value) : value;
    return typeof text === "string" && text !== "" ? [[name, text] as const] : [];
  });
  const age = ages.find((each) => each === search["age"]);
  return {
    ...Object.fromEntries(given),
    ...(search["mine"] === true && { mine: true }),
    ...(age && { age }),
  };
}

/** Returns the filter of a request. Times are whole minutes, so that the request changes once a minute. */
export function filterOf(
  { mine, agent, tool, requester, thread, group, text, age }: InboxSearch,
  nowMs: number,
): MessageInitShape<typeof ApprovalFilterSchema> {
  const minuteMs = 60_000;
  const beforeMs = age === undefined ? undefined : nowMs - agesMs[age];
  return {
    forMe: mine === true,
    agentId: agent ?? "",
    tool: tool ?? "",
    requestedBy: requester ?? "",
    threadId: thread ?? "",
    group: group ?? "",
    text: text ?? "",
    ...(beforeMs !== undefined && {
      requestedBefore: timestampFromMs(Math.floor(beforeMs / minuteMs) * minuteMs),
    }),
  };
}
