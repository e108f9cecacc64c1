import type { JsonObject } from "@bufbuild/protobuf";
import { exactRule } from "@reeve/agent/permission/exact-rule";
import type { Approval, SimilarDecision } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { InboxState } from "./inbox-state.ts";
import {
  emptyInbox,
  selectedApproval,
  withApproval,
  withSelectedOnly,
  withSelection,
} from "./inbox-state.ts";
import type { Key } from "./key.ts";
import type { Prompt } from "./prompt.ts";
import { edited, withText } from "./prompt.ts";

/** What happens to a full-screen inbox. */
export type InboxEvent =
  | { readonly kind: "key"; readonly key: Key }
  | { readonly kind: "pasted"; readonly text: string }
  | { readonly kind: "resized" }
  | { readonly kind: "approval"; readonly approval: Approval }
  | { readonly kind: "voted"; readonly approvalId: string }
  /** `isAnew`: everything that waits follows, instead of what has changed. */
  | { readonly kind: "connected"; readonly isAnew: boolean }
  | { readonly kind: "lost"; readonly message: string }
  | { readonly kind: "said"; readonly message: string }
  | {
      readonly kind: "similar";
      readonly approvalId: string;
      readonly decisions: readonly SimilarDecision[];
    }
  | { readonly kind: "edited"; readonly approvalId: string; readonly value: JsonObject };

/** What the inbox does after an event. */
export type InboxEffect =
  | { readonly kind: "quit" }
  | { readonly kind: "watch"; readonly text: string; readonly isMine: boolean }
  | { readonly kind: "edit"; readonly approval: Approval; readonly value: JsonObject }
  | { readonly kind: "comment"; readonly approvalId: string; readonly text: string }
  | {
      readonly kind: "decide";
      readonly approval: Approval;
      readonly approved: boolean;
      readonly reason: string;
      readonly editedArguments?: JsonObject | undefined;
      readonly rule?: string | undefined;
    };

interface Updated {
  readonly state: InboxState;
  readonly effect?: InboxEffect | undefined;
}

/** Returns the state of the inbox after an event, and what is to be done. */
export function updateInbox(state: InboxState, event: InboxEvent): Updated {
  switch (event.kind) {
    case "key":
      return state.prompt === undefined
        ? pressed(state, event.key)
        : answered(state, state.prompt, event.key);
    case "pasted":
      return state.prompt === undefined
        ? { state: { ...state, message: "a pasted text is not read as keys" } }
        : asked(state, withText(state.prompt, event.text));
    case "resized":
      return { state };
    case "approval":
      return { state: withApproval(state, event.approval) };
    case "voted":
      return { state: { ...state, voted: new Set(state.voted).add(event.approvalId) } };
    case "connected":
      return {
        state: { ...(event.isAnew ? withSelectedOnly(state) : state), isConnected: true },
      };
    case "lost":
      return { state: { ...state, isConnected: false, message: event.message } };
    case "said":
      return { state: { ...state, message: event.message } };
    case "similar": {
      if (!state.approvals.has(event.approvalId)) return { state };
      const similar = new Map(state.similar).set(event.approvalId, event.decisions);
      return { state: { ...state, similar } };
    }
    case "edited": {
      const edits = new Map(state.edits).set(event.approvalId, event.value);
      return { state: { ...state, edits, scroll: 0, message: "the arguments are edited" } };
    }
  }
}

/** How far a key scrolls the details. */
const pageLines = 10;

function pressed(state: InboxState, { name, text, isControl }: Key): Updated {
  if (isControl)
    return name === "c" || name === "d" ? { state, effect: { kind: "quit" } } : { state };
  switch (text === "" ? name : text) {
    case "q":
      return { state, effect: { kind: "quit" } };
    case "j":
    case "down":
      return { state: withSelection(state, 1) };
    case "k":
    case "up":
      return { state: withSelection(state, -1) };
    case " ":
    case "pagedown":
      return { state: scrolled(state, pageLines) };
    case "b":
    case "pageup":
      return { state: scrolled(state, -pageLines) };
    case "m":
      return watching(state, { text: state.text, isMine: !state.isMine });
    case "R":
      return watching(state, state);
    case "/":
      return asked(state, { kind: "filter", question: "text", text: state.text });
    default:
      return decided(state, text);
  }
}

function scrolled(state: InboxState, lines: number): InboxState {
  return { ...state, scroll: Math.max(state.scroll + lines, 0) };
}

/** Returns what a key does with the selected approval. */
function decided(state: InboxState, key: string): Updated {
  const approval = selectedApproval(state);
  if (approval === undefined || !["a", "r", "e", "g", "c"].includes(key)) return { state };
  const said = (message: string) => ({ state: { ...state, message } });
  if (approval.state !== ApprovalState.PENDING) return said("this call is decided; j moves on");
  const { approvalId, call, question, allowEditedArguments } = approval;
  const about = { approvalId, text: "" };
  if (key === "c") return asked(state, { ...about, kind: "comment", question: "comment" });
  if (key === "r") {
    return asked(state, { ...about, kind: "reject", question: "reject, with the reason" });
  }
  if (question !== undefined) return said(`answer it: reeve approve ${approvalId} --answer '{…}'`);
  if (key === "a") {
    const verb = state.edits.has(approvalId) ? "approve with the edited arguments" : "approve";
    return asked(state, { ...about, kind: "approve", question: `${verb}, with the reason` });
  }
  const args = call?.arguments ?? {};
  if (key === "e") {
    if (!allowEditedArguments) return said("the agent does not permit edited arguments");
    const value = state.edits.get(approvalId) ?? args;
    return { state, effect: { kind: "edit", approval, value } };
  }
  if (state.edits.has(approvalId)) return said("a grant cannot be made with edited arguments");
  const rule = exactRule(call?.name ?? "", args);
  if (rule === undefined) {
    const command = `reeve approve ${approvalId} --scope run --rule '…'`;
    return said(`no rule matches exactly this call; name the calls that you mean: ${command}`);
  }
  const what = "approve, and further calls that match the rule";
  const prompt = { ...about, kind: "grant", question: what, text: rule } as const;
  return asked({ ...state, scroll: 0 }, prompt);
}

/** Returns what a key does while a person is asked. Nothing is decided without Enter. */
function answered(state: InboxState, prompt: Prompt, key: Key): Updated {
  const { name, isControl } = key;
  const isCancelled = name === "escape" || (isControl && (name === "c" || name === "d"));
  const closed = { ...state, prompt: undefined };
  if (isCancelled) return { state: { ...closed, message: "nothing was sent" } };
  if (name === "pagedown" || name === "pageup") {
    return { state: scrolled(state, name === "pagedown" ? pageLines : -pageLines) };
  }
  if (name !== "return" && name !== "enter") return asked(state, edited(prompt, key));
  const text = prompt.text.trim();
  if (prompt.kind === "filter") return watching(closed, { text, isMine: state.isMine });
  const approval = state.approvals.get(prompt.approvalId ?? "");
  if (approval === undefined) return { state: closed };
  if (prompt.kind === "comment") {
    const { approvalId } = approval;
    return text === ""
      ? { state: closed }
      : { state: closed, effect: { kind: "comment", approvalId, text } };
  }
  const decision = { kind: "decide", approval } as const;
  const effect: InboxEffect =
    prompt.kind === "grant"
      ? { ...decision, approved: true, reason: "", rule: text }
      : prompt.kind === "reject"
        ? { ...decision, approved: false, reason: text }
        : {
            ...decision,
            approved: true,
            reason: text,
            editedArguments: state.edits.get(approval.approvalId),
          };
  return { state: { ...closed, message: "sending the decision …" }, effect };
}

function asked(state: InboxState, prompt: Prompt): Updated {
  return { state: { ...state, prompt, message: "" } };
}

/** Begins again with a filter: what was shown may not match it. */
function watching(
  { edits }: InboxState,
  { text, isMine }: { readonly text: string; readonly isMine: boolean },
): Updated {
  return {
    state: { ...emptyInbox({ text, isMine }), edits },
    effect: { kind: "watch", text, isMine },
  };
}
