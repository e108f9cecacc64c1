import { toBinary } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { permissionClassOf } from "@reeve/agent/tools/permission-classes";
import { schemaProblem } from "@reeve/agent/schema/schema-problem";
import type { PluginDescriptor } from "@reeve/contracts/extensions/plugin";
import { HookPhase, PluginDescriptorSchema } from "@reeve/contracts/extensions/plugin";
import { isStorable } from "@reeve/contracts/rules/nesting";

const maxKeys = 32;
const maxTools = 64;
const maxDeadlineMs = 300_000;
const maxTimeLimitMs = 3_600_000;
/** All descriptions share one record with the models. */
const maxBytes = 262_144;
const keyPattern = /^[A-Za-z0-9_.-]{1,64}$/;
const toolPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Returns why a plugin cannot be used as it describes itself. Undefined: it can. */
export function descriptorProblem(id: string, descriptor: PluginDescriptor): string | undefined {
  const { phases, stateKeys, tools, deadline, sectionSchema } = descriptor;
  const bytes = toBinary(PluginDescriptorSchema, descriptor).length;
  if (bytes > maxBytes) return `its description has ${bytes} bytes, more than ${maxBytes}`;
  if (descriptor.id !== id) return `it says that its id is "${descriptor.id}"`;
  if (descriptor.version === "") return "it has no version";
  if (!isStorable(descriptor.version) || descriptor.version.length > 64) {
    return "its version has more than 64 characters";
  }
  const known: readonly HookPhase[] = Object.values(HookPhase);
  if (phases.some((phase) => !known.includes(phase) || !hasHook(phase))) {
    return "it has a hook in a phase that does not exist; an action is none";
  }
  if (stateKeys.length > maxKeys) return `it has more than ${maxKeys} keys`;
  if (tools.length > maxTools) return `it has more than ${maxTools} tools`;
  const ms = deadline === undefined ? undefined : durationMs(deadline);
  if (ms !== undefined && !(ms > 0 && ms <= maxDeadlineMs)) {
    return "its deadline is not above 0 and at most 5 minutes";
  }
  const problem = sectionSchema && schemaProblem(sectionSchema);
  if (problem !== undefined) return `the schema of its section is invalid: ${problem}`;
  return keysProblem(descriptor) ?? toolsProblem(descriptor);
}

function hasHook(phase: HookPhase): boolean {
  return phase !== HookPhase.UNSPECIFIED && phase !== HookPhase.ACTION;
}

function keysProblem({ stateKeys }: PluginDescriptor): string | undefined {
  const names = stateKeys.map(({ name }) => name);
  const broken = names.find((name) => !keyPattern.test(name));
  if (broken !== undefined)
    return `its state key "${broken}" has other characters than letters, digits, _, ., and -, or more than 64`;
  if (new Set(names).size < names.length) return "it declares a state key twice";
  for (const { name, schema } of stateKeys) {
    const problem = schema && schemaProblem(schema);
    if (problem !== undefined)
      return `the schema of its state key "${name}" is invalid: ${problem}`;
  }
  return undefined;
}

function toolsProblem({ id, tools }: PluginDescriptor): string | undefined {
  const names = tools.map(({ name }) => name);
  if (new Set(names).size < names.length) return "it has two tools with one name";
  for (const { name, inputSchema, permissionClass, timeLimit } of tools) {
    if (!toolPattern.test(name) || `${id}__${name}`.length > 64) {
      return `the name of its tool "${name}" has other characters than letters, digits, _, and -, or is too long`;
    }
    if (permissionClass !== "" && permissionClassOf(permissionClass) === undefined) {
      return `its tool "${name}" has the unknown permission class "${permissionClass}"`;
    }
    if (permissionClass === "subagent" || permissionClass === "editor_mutate") {
      return `its tool "${name}" has the permission class "${permissionClass}", which plugins cannot have`;
    }
    const limitMs = timeLimit === undefined ? undefined : durationMs(timeLimit);
    if (limitMs !== undefined && !(limitMs > 0 && limitMs <= maxTimeLimitMs)) {
      return `the time limit of its tool "${name}" is not above 0 and at most one hour`;
    }
    if (inputSchema === undefined) continue;
    if (inputSchema["type"] !== "object") {
      return `the schema of its tool "${name}" does not have the type object`;
    }
    const problem = schemaProblem(inputSchema);
    if (problem !== undefined) return `the schema of its tool "${name}" is invalid: ${problem}`;
  }
  return undefined;
}
