import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalSchema, ApprovalState, SimilarDecisionSchema } from "@reeve/contracts/approval";
import { PermissionClass } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { frameOf } from "./frame.ts";
import { emptyInbox, withApproval } from "./inbox-state.ts";
import { columnsOf } from "./screen-line.ts";

const noon = Date.parse("2030-01-01T12:00:00Z");
const size = { columns: 60, rows: 24 };
const options = {
  ...size,
  nowMs: noon + 7_200_000,
  tools: new Map([
    [
      "send",
      {
        permissionClass: PermissionClass.NETWORK,
        inputSchema: {
          properties: { to: {}, text: {}, copy: {} },
          additionalProperties: false,
        },
      },
    ],
  ]),
};
const approval = create(ApprovalSchema, {
  approvalId: "a",
  runId: "run_1",
  agentId: "writer",
  requestedBy: "eve",
  state: ApprovalState.PENDING,
  requestedAt: timestampFromMs(noon),
  call: {
    name: "send",
    arguments: { to: "ann", text: `日本${"word ".repeat(40)}\u001b[2J\u202e end` },
  },
});
const empty = emptyInbox({ text: "", isMine: false });
const state = withApproval(empty, approval);

function allDetails(edits = state.edits): string {
  const parts: string[] = [];
  for (let scroll = 0; ; scroll++) {
    const frame = frameOf({ ...state, edits, scroll }, { ...options, rows: 12 });
    if (frame.scroll < scroll) return parts.join("\n");
    parts.push(...frame.lines.map(({ text }) => text));
  }
}

test("a frame fits the screen, and shows the age, the risk, and the keys", () => {
  const { lines } = frameOf(state, options);
  expect(lines).toHaveLength(size.rows);
  for (const { text } of lines) expect(columnsOf(text)).toBeLessThanOrEqual(size.columns);
  const text = lines.map((line) => line.text).join("\n");
  expect(text).toMatch(/> +2h {2}send {2}writer/);
  expect(text).toContain("risk: network");
  expect(text.indexOf("risk: network")).toBeLessThan(text.indexOf('"to": "ann"'));
  expect(text).toContain("a approve");
});

test("the whole arguments can be scrolled to, and nothing in them controls the terminal", () => {
  const text = allDetails();
  expect(text).toContain("\\u001b[2J\\u202e end");
  expect(text).not.toContain("\u001b");
  expect(text).not.toContain("\u202e");
  expect(text).toContain("approval a, run run_1");
  const small = frameOf(state, { ...options, rows: 12 });
  expect(small.lines.at(-2)?.text).toMatch(/more lines: space$/);
});

test("a call of a delegate names it, in the list and in the details", () => {
  const ofDelegate = create(ApprovalSchema, { ...approval, delegateId: "finder" });
  const { lines } = frameOf(withApproval(empty, ofDelegate), options);
  const text = lines.map((line) => line.text).join("\n");
  expect(text).toMatch(/send {2}writer \(finder\)/);
  expect(text).toContain("send, called by writer (finder)");
});

test("edited arguments are a difference", () => {
  const text = allDetails(new Map([["a", { to: "bob", text: "short" }]]));
  expect(text).toContain('-   "to": "ann",');
  expect(text).toContain('+   "to": "bob",');
});

/** Returns the text of the screen while a grant with this rule is asked for. */
function grantText(rule: string): string {
  const prompt = { kind: "grant", approvalId: "a", question: "grant", text: rule } as const;
  return frameOf({ ...state, prompt }, options)
    .lines.map(({ text }) => text)
    .join("");
}

test("before a grant is made, its whole rule and what it leaves free are shown", () => {
  const long = `send(to = "ann", text = "${"word ".repeat(80)}")`;
  const exact = grantText(long);
  expect(exact).toContain(long);
  expect(exact).toContain("it leaves free: copy");
  expect(grantText('send(to = "ann")')).toContain("it leaves free: text, copy");
  expect(grantText('send(to ~ "*")')).toContain("it leaves free: text, copy, to in part");
  expect(grantText("send")).toContain("all calls of the tool");
  expect(grantText("send(*)")).toContain("all calls of the tool");
  expect(grantText("send(")).toContain("the rule has");
  expect(grantText('send(to = "a\u202eb")')).toContain("\\u202e");
});

test("notes and similar decisions are shown, and control nothing", () => {
  const comments = [{ commentedBy: "eve", text: "new\u001b[2J bank?" }];
  const noted = create(ApprovalSchema, { approvalId: "a", state: ApprovalState.PENDING, comments });
  const decision = create(SimilarDecisionSchema, {
    state: ApprovalState.REJECTED,
    decidedBy: "ada",
    reason: "unknown payee",
    sameArguments: true,
  });
  const shown = { ...withApproval(empty, noted), similar: new Map([["a", [decision]]]) };
  const { lines } = frameOf(shown, { ...options, rows: 60, columns: 100 });
  const text = lines.map((line) => line.text).join("\n");
  expect(text).toContain("eve: new[2J bank?");
  expect(text).toContain("rejected by ada (the same call): unknown payee");
});

test("an empty inbox, a lost connection, and a small screen have a frame", () => {
  const { lines } = frameOf({ ...empty, isConnected: false }, { ...options, rows: 5, columns: 20 });
  expect(lines.map(({ text }) => text)).toEqual(
    expect.arrayContaining([expect.stringContaining("Inbox: 0"), "nothing waits"]),
  );
  expect(lines).toHaveLength(5);
});
