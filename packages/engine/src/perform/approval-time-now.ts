import { timestampMs } from "@bufbuild/protobuf/wkt";
import { permits } from "@reeve/agent/approval-times/approval-times";
import { isConfirmed, needsPasskey } from "@reeve/agent/approval-times/needs-passkey";
import { timedCall } from "@reeve/agent/approval-times/timed-call";
import { decisionTime, tooEarly } from "@reeve/run/approvals/times/decidable";
import type { Call } from "../domain/state/frame.ts";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/**
 * Returns why the operator's policy of now does not accept when a call was approved, or undefined: approvals without the policy, or
 * of an earlier version, accept decisions at any time.
 */
export function approvalTimeProblem(
  { head }: RunState,
  { approval }: Call,
  ports: Pick<RunPorts, "policy">,
): string | undefined {
  const { created } = head;
  const policy = ports.policy();
  const times = policy?.approvals;
  const { decidedAt, breakGlass } = approval?.decision ?? {};
  if (policy === undefined || approval === undefined || decidedAt === undefined) return undefined;
  const passkeys = { tenant: created?.tenant ?? "", times, head };
  if (needsPasskey(approval, passkeys) && !isConfirmed(approval)) {
    return "this call was approved without a passkey, which the operator's policy requires for it now; call again, and approve it with one";
  }
  // The operator's policy permits it in spite of everything, and the agent's in spite of its own waits.
  if (breakGlass !== undefined && breakGlass.rule !== "") {
    const { rule: name } = breakGlass;
    const call = timedCall(approval, created?.tenant ?? "");
    const isPermitted = times?.breakGlass.some((rule) => rule.name === name && permits(rule, call));
    return isPermitted === true
      ? undefined
      : `this call was approved by break-glass under "${name}", which the operator's policy does not permit for it now`;
  }
  if (times === undefined) return undefined;
  const withoutAgent = breakGlass !== undefined;
  const rules = { tenant: created?.tenant ?? "", times, withoutAgent };
  const early = tooEarly(approval, decisionTime(rules, timestampMs(decidedAt)));
  if (early === undefined) return undefined;
  const when =
    early.freeze === undefined
      ? "before its wait had ended"
      : `in the freeze "${early.freeze.name}"`;
  return `this call was approved ${when}, which the operator's policy does not permit; call again, and approve later`;
}
