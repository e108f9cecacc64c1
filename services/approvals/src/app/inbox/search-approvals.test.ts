import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { approver, numbered, openLists } from "../../../test/support/listed-approvals.ts";
import { countApprovals } from "./count-approvals.ts";
import { noon } from "../../../test/support/parked-run.ts";

const { APPROVED, PENDING, REJECTED } = ApprovalState;
const at = (second: number) => timestampFromMs(noon + second * 1_000);
const named = (name: string, who: { readonly people?: string[]; readonly groups?: string[] }) => ({
  alternatives: [{ name, approvals: 1, denials: 1, ...who }],
});

const approvals = [
  numbered(1, { agentId: "payer", threadId: "thr_1", requestedBy: "ann", call: { name: "pay" } }),
  numbered(2, { agentId: "payer", state: APPROVED, call: { name: "pay" } }),
  numbered(3, { agentId: "writer", requestedBy: "bob", call: { name: "mail" } }),
  numbered(4, { runId: "run_bbbbbbbb", call: { name: "mail", arguments: { to: ["Zoë"] } } }),
  numbered(5, { call: { name: "mail" }, question: { message: "To WHOM?" } }),
  numbered(6, { call: { name: "mail", rawArguments: '{"to": zoë' } }),
  numbered(7, named("one", { people: ["eve"] })),
  numbered(8, { ...named("two", { groups: ["finance"] }), excludedSubjects: ["eve"] }),
  numbered(9, { state: REJECTED, requestedBy: "ann" }),
];

test.each([
  ["nothing", {}, [1, 3, 4, 5, 6, 7, 8]],
  ["states", { states: [APPROVED, REJECTED] }, [2, 9]],
  ["a state that is pending", { states: [PENDING], requestedBy: "ann" }, [1]],
  ["an agent", { agentId: "payer" }, [1]],
  ["a tool", { tool: "mail" }, [3, 4, 5, 6]],
  ["an agent and a tool", { agentId: "writer", tool: "mail" }, [3]],
  ["an agent, and a tool that it does not use", { agentId: "writer", tool: "pay" }, []],
  ["a thread", { threadId: "thr_1" }, [1]],
  ["a requester", { requestedBy: "bob" }, [3]],
  ["a person", { person: "eve" }, [7]],
  ["a group", { group: "finance" }, [8]],
  ["a start", { requestedAfter: at(5) }, [5, 6, 7, 8]],
  ["an end", { requestedBefore: at(5) }, [1, 3, 4]],
  ["a time", { requestedAfter: at(3), requestedBefore: at(5) }, [3, 4]],
  ["the name of a tool", { text: "AIL" }, [3, 4, 5, 6]],
  ["a text in the arguments", { text: "zoë" }, [4, 6]],
  ["a text in the question", { text: "to whom" }, [5]],
])("a list has the approvals that match %s", async (_, filter, expected) => {
  const { page } = await openLists(...approvals);
  expect(await page({ filter })).toEqual({ numbers: expected, nextPageToken: "" });
});

test("a list has what a person takes care of", async () => {
  const { page } = await openLists(...approvals, numbered(11, { assignment: { assignee: "ann" } }));
  expect((await page({ filter: { assignee: "ann" } })).numbers).toEqual([11]);
});

test("a list with a run and a filter has what matches both, and closed ones on request", async () => {
  const { page } = await openLists(...approvals);
  const ofRun = { runId: "run_bbbbbbbb", filter: { tool: "mail" } };
  expect((await page(ofRun)).numbers).toEqual([4]);
  expect((await page({ includeClosed: true, filter: { agentId: "payer" } })).numbers).toEqual([
    1, 2,
  ]);
});

test("a list for the caller has what the caller may decide and has not voted on", async () => {
  const vote = { decision: { decidedBy: "ada", approved: true } };
  const voted = numbered(10, { ...named("three", { people: ["ada", "eve"] }), votes: [vote] });
  const { page } = await openLists(...approvals, voted);
  const of = async (...[subject, ...groups]: readonly [string, ...string[]]) =>
    (await page({ filter: { forMe: true } }, approver(subject, ...groups))).numbers;
  const open = [1, 3, 4, 5, 6];
  expect(await of("ada")).toEqual(open);
  expect(await of("ada", "finance")).toEqual([...open, 8]);
  expect(await of("eve", "finance")).toEqual([...open, 7, 10]);
  const viewer = { tenant: "acme", subject: "ada", groups: new Set(["role:viewer"]) };
  expect((await page({ filter: { forMe: true } }, viewer)).numbers).toEqual([]);
});

/** A question of an agent in a run that Ada started. */
const question = (number: number, more: object = {}) =>
  numbered(number, {
    requestedBy: "ada",
    question: { message: "which?" },
    call: { name: "ask_user", callId: numbered(number).approvalId },
    ...more,
  });

test("a list, a count, and a standing agree on what waits for the person who started a run", async () => {
  const vote = { decision: { decidedBy: "ada", approved: true } };
  const { page, lists } = await openLists(
    numbered(1, { requestedBy: "ada" }),
    question(2),
    question(3, { requestedBy: "eve" }),
    question(4, { votes: [vote] }),
    question(5, { excludedSubjects: ["ada"] }),
    question(6, named("others", { people: ["eve"] })),
    question(7, named("own", { groups: ["role:viewer"] })),
  );
  for (const [groups, expected] of [
    [["role:viewer"], [2, 7]],
    [["role:approver"], [1, 2, 3]],
    [[], []],
  ] as const) {
    const caller = { tenant: "acme", subject: "ada", groups: new Set(groups) };
    expect((await page({ filter: { forMe: true } }, caller)).numbers).toEqual(expected);
    const { waitingForMe } = await countApprovals(lists, caller, new AbortController().signal);
    expect(waitingForMe?.count).toBe(expected.length);
  }
});

test("one request searches 1,000 approvals, and the next page continues there", async () => {
  const many = Array.from({ length: 2_100 }, (_, index) =>
    numbered(index, { call: { name: index % 1_050 === 1_049 ? "rare" : "common" } }),
  );
  const { page } = await openLists(...many);
  const pages: (readonly number[])[] = [];
  let pageToken = "";
  do {
    const next = await page({ filter: { text: "rare" }, pageToken });
    pages.push(next.numbers);
    pageToken = next.nextPageToken;
  } while (pageToken !== "");
  expect(pages).toEqual([[], [1_049], [2_099]]);
  // The index has the tool, so nothing else is searched.
  const byTool = await page({ filter: { tool: "rare" } });
  expect(byTool).toEqual({ numbers: [1_049, 2_099], nextPageToken: "" });
});
