import type { CallerPolicy } from "@reeve/agent/policy/caller-policy";
import { policyFor, unrestricted, withheldTool } from "@reeve/agent/policy/caller-policy";
import { runPlaceOf, starterOf } from "@reeve/agent/resolve/resolve-agent";
import {
  decideCall,
  describeDecision,
  maxPermissionWork,
} from "@reeve/agent/permission/decide-call";
import { policyLevel } from "@reeve/agent/permission/permission-levels";
import { WorkBudget } from "@reeve/agent/schema/work-budget";
import { grantedClasses, nameOfClass } from "@reeve/agent/tools/permission-classes";
import type { PermissionDecision, ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionBehavior, PermissionClass } from "@reeve/contracts/tool";
import { approvedCall } from "../domain/calls/approved-call.ts";
import type { Refusal, RefusalNow } from "../domain/calls/refusal-now.ts";
import { shareOf } from "../domain/calls/once-for-call.ts";
import { isVotedByModel } from "../domain/calls/review/reviewer-vote.ts";
import { workingAgent } from "../domain/delegates/working-agent.ts";
import type { Call, Frame } from "../domain/state/frame.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { frameOf } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { approvalTimeProblem } from "./approval-time-now.ts";

type PolicyPorts = Pick<RunPorts, "policy" | "worker">;

/**
 * Returns what the operator's policy of now decides for the run, whichever of its subtasks acts. It only withholds more: what the
 * run was prepared without stays away. At a worker without a policy it withholds everything from a run that was started or
 * prepared under one.
 */
export function policyNow({ head }: RunState, ports: PolicyPorts): CallerPolicy {
  const { created, prepared, runId } = head;
  const policy = ports.policy();
  if (policy === undefined && (created?.hasPolicy || prepared?.policy !== undefined)) {
    return withholdingAll(missingPolicy(runId, ports));
  }
  const caller = created ?? { tenant: "", startedByRoles: [], threadId: "" };
  return policyFor(policy, { ...starterOf(caller), ...runPlaceOf(caller) });
}

/** Returns why a worker without a policy does nothing for a run that has one. */
export function missingPolicy(runId: string, { worker }: Pick<RunPorts, "worker">): string {
  return `run ${runId} was started under an operator's policy, and worker ${worker} has none; set REEVE_POLICY_FILE of all runtimes to the file of the gateways`;
}

function withholdingAll(reason: string): CallerPolicy {
  return {
    ...unrestricted,
    withheld: (item) => {
      const name = item.kind === "network_hosts" ? item.entry.text : (item.names[0] ?? "");
      return { kind: item.kind, name, rule: "", reason };
    },
  };
}

/** Returns what the operator's policy of now refuses of the calls that start subtasks. */
export function refusalBy(ports: RunPorts): RefusalNow {
  return (state, { id }, call, tool) => refusalOfCall(state, tool, { call, frame: id }, ports);
}

/**
 * Returns why the operator's policy of now refuses a call with the arguments that it would be executed with. Undefined: it allows
 * the call. A rule that asks and was not there when the run was prepared holds for later runs, but no vote of a model passes it.
 */
export function refusalOfCall(
  state: RunState,
  tool: ToolDescriptor,
  called: CallOfFrame,
  ports: RunPorts,
): Refusal | undefined {
  const { call } = called;
  const caller = frameOf(state, called.frame);
  const reason = withheldNow(state, caller, tool, ports) ?? approvalTimeProblem(state, call, ports);
  if (reason !== undefined) return { reason };
  const permission = permissionNow(state, tool, called, ports);
  if (permission?.behavior === PermissionBehavior.DENY) {
    return { reason: `${describeDecision(permission)} denies this call`, permission };
  }
  const asks = permission?.behavior === PermissionBehavior.ASK;
  if (!asks || call.approval === undefined || !isVotedByModel(call.approval)) return undefined;
  const rule = describeDecision(permission);
  return { reason: `a model voted for this call, and ${rule} asks a person now`, permission };
}

/** A call, and the frame that it belongs to. */
interface CallOfFrame {
  readonly call: Call;
  readonly frame: string;
}

/**
 * Returns what the permission rules of the operator's policy of now decide about a call with the arguments that it would be executed with.
 * Undefined: nothing. The calls of a turn share a bound of work.
 */
export function permissionNow(
  state: RunState,
  tool: ToolDescriptor,
  { call, frame }: CallOfFrame,
  ports: RunPorts,
): PermissionDecision | undefined {
  const level = policyLevel(policyNow(state, ports).permissions);
  const args = approvedCall(call).arguments ?? {};
  const work = new WorkBudget(shareOf(maxPermissionWork, frameOf(state, frame).calls.length));
  return level && decideCall([level], { tool, args }, work);
}

/**
 * Returns why the operator's policy of now refuses a call of a tool that the run was prepared with: it withholds the tool, or does
 * not grant its class anymore. Undefined: it allows the call.
 */
export function withheldNow(
  state: RunState,
  frame: Frame,
  tool: ToolDescriptor,
  ports: PolicyPorts & Pick<RunPorts, "catalogs">,
): string | undefined {
  const policy = policyNow(state, ports);
  const withheld = withheldTool(policy, tool, ports.catalogs().tools);
  return withheld?.reason ?? missingGrant(state, frame, tool, policy);
}

function missingGrant(
  state: RunState,
  frame: Frame,
  { permissionClass }: ToolDescriptor,
  { grants }: CallerPolicy,
): string | undefined {
  const { spec, prepared } = workingAgent(state, frame);
  // Without a policy the preparation alone decides on classes, as in the logs of earlier versions.
  if (prepared?.policy === undefined) return undefined;
  // The context of the run unlocks this class, which no policy grants.
  if (permissionClass === PermissionClass.EDITOR_MUTATE) return undefined;
  const classes = grantedClasses(spec?.permissionClasses ?? [], grants);
  if (classes.has(permissionClass)) return undefined;
  return `the operator's policy does not grant the class ${nameOfClass(permissionClass)} now, and permission_classes of the agent does not name it`;
}
