import { create } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import { contentDigest } from "@reeve/contracts/digest/content-digest";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { BoundContentSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { approvedCall } from "../calls/approved-call.ts";
import { supersede } from "../calls/call-content.ts";
import { gateOf } from "../calls/gate-call.ts";
import { requestApproval } from "../calls/request-approval.ts";
import { nextEffects } from "../next-effects.ts";
import { rootOf } from "../state/run-state.ts";
import { scopeOf } from "../state/frame.ts";

const phases = [HookPhase.TOOL_GATE, HookPhase.BEFORE_TOOL];
const descriptor = { id: "guard", version: "1", phases };
const plugins = [{ plugin: { pluginDescriptor: descriptor, digest: "d", origin: "package" } }];
const tools = [{ name: "publish", pathArguments: ["path"] }];
const spec = { hitlTools: ["publish"], approvalPolicy: { allowEditedArguments: true } };

test("hooks before a call decide on the edit of each approval, also after an approval was superseded", () => {
  const run = new PlayedRun(spec, { tools, plugins });
  run.turn({ name: "publish", args: argumentsWith("a") });
  expect(textsOfHooks(run)).toEqual(["a"]);
  const [call] = rootOf(run.state).calls;
  if (call === undefined) throw new Error("there is no call");
  const gate = gateOf(run.state, rootOf(run.state), call);
  if (gate?.kind !== "ask") throw new Error("the call needs no approval");
  const reason = { ...gate, scope: scopeOf(rootOf(run.state)), content: contentOf("a") };
  run.append([requestApproval(run.state, call, reason, run.nowMs)]);
  run.decides(ApprovalState.APPROVED, { edited: argumentsWith("fine") });
  expect(textsOfHooks(run)).toEqual(["fine", "fine"]);

  const [approved] = rootOf(run.state).calls;
  if (approved === undefined) throw new Error("there is no call");
  run.append(supersede(run.state, rootOf(run.state), approved, contentOf("b"), run.nowMs));
  const edited = argumentsWith("evil");
  run.decides(ApprovalState.APPROVED, { callId: `${call.call.callId}-r2`, edited });
  expect(textsOfHooks(run)).toEqual(["evil"]);
  expect(run.all("toolResult")[0]?.result?.content).toBe("the plugin guard denies this call");
  expect(nextEffects(run.state).map(({ kind }) => kind)).not.toContain("call_tool");
});

function argumentsWith(text: string) {
  return { path: "report.md", text };
}

function contentOf(text: string) {
  const files = [{ path: "report.md", state: "file", sha256: text, preview: text }];
  return create(BoundContentSchema, { digest: contentDigest(files), files });
}

/** Ends the hooks that are due, and returns the text of the call that each decided on. The plugin denies the text `evil`. */
function textsOfHooks(run: PlayedRun): readonly unknown[] {
  const texts: unknown[] = [];
  for (;;) {
    const next = nextEffects(run.state).find(({ kind }) => kind === "run_hook");
    if (next?.kind !== "run_hook") return texts;
    const call = next.due.point?.call;
    const text = call && approvedCall(call).arguments?.["text"];
    texts.push(text);
    run.hookEnds(next, text === "evil" ? { verdict: { case: "deny", value: {} } } : {});
  }
}
