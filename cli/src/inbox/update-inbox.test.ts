import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalSchema, ApprovalState, SimilarDecisionSchema } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import type { InboxState } from "./inbox-state.ts";
import { emptyInbox, listedApprovals, maxShown } from "./inbox-state.ts";
import type { InboxEffect, InboxEvent } from "./update-inbox.ts";
import { updateInbox } from "./update-inbox.ts";

type ApprovalInit = Exclude<
  MessageInitShape<typeof ApprovalSchema>,
  { readonly $typeName: string }
>;

const approvalOf = (approvalId: string, more: ApprovalInit = {}) =>
  create(ApprovalSchema, {
    approvalId,
    state: ApprovalState.PENDING,
    call: { name: "send", arguments: { to: "ann" } },
    requestedAt: timestampFromMs(approvalId.charCodeAt(0) * 1_000),
    ...more,
  });
const arrived = (approvalId: string, more: ApprovalInit = {}): InboxEvent => ({
  kind: "approval",
  approval: approvalOf(approvalId, more),
});
const key = (name: string): InboxEvent => {
  const text = name.length === 1 ? name : "";
  return { kind: "key", key: { name, text, isControl: false } };
};
const pasted = (text: string): InboxEvent => ({ kind: "pasted", text });
const typed = (text: string) => Array.from(text, key);

function after(events: readonly InboxEvent[]) {
  let state: InboxState = emptyInbox({ text: "", isMine: false });
  const effects: InboxEffect[] = [];
  for (const event of events) {
    const updated = updateInbox(state, event);
    state = updated.state;
    if (updated.effect !== undefined) effects.push(updated.effect);
  }
  return { state, effects };
}

test("approvals are listed oldest first, and the selection never moves by itself", () => {
  const arrivals = [arrived("b"), arrived("a"), arrived("c")];
  const { state } = after(arrivals);
  expect(listedApprovals(state).map(({ approvalId }) => approvalId)).toEqual(["a", "b", "c"]);
  expect(state.selectedId).toBe("b");
  const closed = after([...arrivals, arrived("b", { state: ApprovalState.APPROVED })]);
  expect(closed.state.selectedId).toBe("b");
  const moved = after([
    ...arrivals,
    arrived("b", { state: ApprovalState.APPROVED }),
    arrived("a", { state: ApprovalState.REJECTED }),
    key("j"),
  ]);
  expect(moved.state.selectedId).toBe("c");
  expect(moved.state.approvals.size).toBe(1);
});

test("nothing is decided without Enter, and then with the reason that was typed", () => {
  const typing = [arrived("a"), key("a"), ...typed("ox"), key("backspace"), ...typed("k")];
  expect(after(typing).effects).toEqual([]);
  expect(after([...typing, key("escape"), key("return")]).effects).toEqual([]);
  expect(after([...typing, key("return")]).effects).toMatchObject([
    { kind: "decide", approved: true, reason: "ok", approval: { approvalId: "a" } },
  ]);
  expect(after([arrived("a"), key("r"), ...typed("no"), key("return")]).effects).toMatchObject([
    { kind: "decide", approved: false, reason: "no" },
  ]);
});

test("a paste decides nothing, and is text where a person is asked", () => {
  const unasked = after([arrived("a"), arrived("b"), pasted("a"), pasted("q"), key("return")]);
  expect(unasked.effects).toEqual([]);
  expect(unasked.state.prompt).toBeUndefined();
  const asked = [arrived("a"), key("r"), pasted("Not now. just ask"), ...typed("!")];
  expect(after(asked).effects).toEqual([]);
  expect(after([...asked, key("return")]).effects).toMatchObject([
    { kind: "decide", approved: false, reason: "Not now. just ask!" },
  ]);
  const long = after([arrived("a"), key("r"), pasted("x".repeat(4_001))]);
  expect(long.state.prompt?.text).toBe("");
});

test("a call that somebody else decides meanwhile is not decided", () => {
  const elsewhere = arrived("a", { state: ApprovalState.REJECTED });
  const { state, effects } = after([arrived("a"), key("a"), elsewhere, key("return"), key("a")]);
  expect(effects).toEqual([]);
  expect(state.message).toContain("is decided");
});

test("edited arguments go with the approval, and only where the agent permits them", () => {
  const editable = arrived("a", { allowEditedArguments: true });
  const bob: InboxEvent = { kind: "edited", approvalId: "a", value: { to: "bob" } };
  expect(after([arrived("a"), key("e")]).effects).toEqual([]);
  const { effects } = after([editable, key("e"), bob, key("a"), key("return")]);
  expect(effects).toMatchObject([
    { kind: "edit", value: { to: "ann" } },
    { kind: "decide", approved: true, editedArguments: { to: "bob" } },
  ]);
  const granted = after([editable, bob, key("g")]);
  expect(granted.state.prompt).toBeUndefined();
});

test("a grant shows the exact rule, which can be edited before it is made", () => {
  const { state } = after([arrived("a"), key("g")]);
  expect(state.prompt?.text).toMatch(/^send\(/);
  const { effects } = after([arrived("a"), key("g"), key("return")]);
  expect(effects).toMatchObject([{ approved: true, rule: state.prompt?.text }]);
});

test("no grant is offered for a call that no rule matches exactly", () => {
  const long = { to: "ann", note: "x".repeat(1_200) };
  const { state, effects } = after([
    arrived("a", { call: { name: "send", arguments: long } }),
    key("g"),
    key("return"),
  ]);
  expect(effects).toEqual([]);
  expect(state.prompt).toBeUndefined();
  expect(state.message).toContain("no rule matches exactly");
});

test("the details scroll while a grant is asked for", () => {
  const { state, effects } = after([arrived("a"), key(" "), key("g"), key("pagedown")]);
  expect(state).toMatchObject({ scroll: 10, prompt: { kind: "grant" } });
  expect(effects).toEqual([]);
});

test("a comment and similar decisions decide nothing", () => {
  const decisions = [create(SimilarDecisionSchema, { decidedBy: "eve" })];
  const { state, effects } = after([
    arrived("a"),
    { kind: "similar", approvalId: "a", decisions },
    { kind: "similar", approvalId: "gone", decisions },
    key("c"),
    ...typed("why"),
    key("return"),
  ]);
  expect(effects).toEqual([{ kind: "comment", approvalId: "a", text: "why" }]);
  expect([...state.similar.keys()]).toEqual(["a"]);
});

test("a question is not answered without its answer, and can be declined", () => {
  const asking = arrived("a", { question: { message: "to whom?" } });
  expect(after([asking, key("a"), key("return")]).effects).toEqual([]);
  const declined = after([asking, key("r"), key("return")]);
  expect(declined.effects).toMatchObject([{ kind: "decide", approved: false }]);
});

test("in the list of what waits for a person, a call with the own vote leaves with the selection", () => {
  const more: ApprovalInit = { revision: 1 };
  const vote: InboxEvent = { kind: "voted", approvalId: "a" };
  const voted = [key("m"), arrived("a"), arrived("b"), arrived("a", more), vote];
  expect(after(voted).state.selectedId).toBe("a");
  const { state } = after([...voted, key("j"), arrived("a", more)]);
  expect(state.selectedId).toBe("b");
  expect([...state.approvals.keys()]).toEqual(["b"]);
  // Elsewhere it waits for others.
  expect(after([...voted.slice(1), key("j")]).state.approvals.size).toBe(2);
});

test("a filter begins the watch again, and empties the list", () => {
  const { state, effects } = after([
    arrived("a"),
    key("/"),
    ...typed("ann"),
    key("return"),
    key("m"),
  ]);
  expect(effects).toEqual([
    { kind: "watch", text: "ann", isMine: false },
    { kind: "watch", text: "ann", isMine: true },
  ]);
  expect(state).toMatchObject({ text: "ann", isMine: true, selectedId: undefined });
  expect(state.approvals.size).toBe(0);
});

test("a large inbox is shown in part, and says so", () => {
  const many = Array.from({ length: maxShown + 1 }, (_, index) => arrived(`${index}`));
  const { state } = after(many);
  expect(state.approvals.size).toBe(maxShown);
  expect(state.isPartial).toBe(true);
});
