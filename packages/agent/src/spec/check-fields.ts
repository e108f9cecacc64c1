import type { AgentSpec } from "@reeve/contracts/agent";
import type { ListValue } from "@bufbuild/protobuf/wkt";
import type { Violation } from "@reeve/platform/failure";
import { outputSchemaProblem } from "../schema/schema-problem.ts";
import { isUnknownRole } from "../deciders/unknown-role.ts";
import { checkNetwork } from "./check-network.ts";
import { parseNamePattern } from "../tools/name-pattern.ts";
import { permissionClassOf } from "../tools/permission-classes.ts";
import { stringsOf } from "./string-list.ts";

/** Returns the violations of single fields that the rules of the contract cannot express. */
export function checkFields(spec: AgentSpec): readonly Violation[] {
  return [
    ...rounds(spec),
    ...budgetAwareness(spec),
    ...planningModel(spec),
    ...injectedNames(spec),
    ...patterns("allowed_tool_patterns", stringsOf(spec.allowedToolPatterns).strings),
    ...patterns("excluded_tool_patterns", spec.excludedToolPatterns),
    ...onlyStrings("allowed_tools", spec.allowedTools),
    ...onlyStrings("allowed_tool_patterns", spec.allowedToolPatterns),
    ...onlyStrings("deep_agent.allowed_imports", spec.deepAgent?.allowedImports),
    ...onlyStrings("deep_agent.command_blacklist", spec.deepAgent?.commandBlacklist),
    ...checkNetwork(spec),
    ...classes(spec),
    ...answerers(spec),
    ...outputSchema(spec),
  ];
}

function violation(field: string, reason: string, description: string): Violation {
  return { field, reason, description };
}

function rounds({ maxRounds, maxSteps }: AgentSpec): readonly Violation[] {
  if (maxRounds === undefined || maxSteps === undefined || maxRounds === maxSteps) return [];
  const description = `max_steps is another name for max_rounds, but their values are ${maxSteps} and ${maxRounds}`;
  return [violation("max_steps", "CONTRADICTION", description)];
}

/** The value is exactly `per-message`, or `limit:` with an integer from 0 to 100. */
function budgetAwareness({ budgetAwareness: value }: AgentSpec): readonly Violation[] {
  if (value === undefined || value === "per-message") return [];
  if (/^limit:(0|[1-9]\d?|100)$/.test(value)) return [];
  const description = `"${value}" is neither per-message nor limit:<n> with an integer n from 0 to 100`;
  return [violation("budget_awareness", "MALFORMED", description)];
}

/** The planning fields are ignored when planning is off. */
function planningModel({ planningEnabled, planningModel: value }: AgentSpec): readonly Violation[] {
  if (!planningEnabled || value === undefined || /^\S+$/.test(value)) return [];
  return [violation("planning_model", "MALFORMED", `"${value}" is not a model reference`)];
}

/** Every provider accepts these names for a property of a tool's schema. */
function injectedNames({ injectedToolArgs }: AgentSpec): readonly Violation[] {
  return Object.keys(injectedToolArgs)
    .filter((key) => !/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(key))
    .map((key) =>
      violation(
        `injected_tool_args[${JSON.stringify(key)}]`,
        "MALFORMED",
        `${JSON.stringify(key)} is not a valid property name: use at most 64 letters, digits, "_", ".", and "-", starting with a letter or "_"`,
      ),
    );
}

function patterns(field: string, texts: readonly string[]): readonly Violation[] {
  return texts.flatMap((text, index) =>
    parseNamePattern(text) === undefined
      ? [
          violation(
            `${field}[${index}]`,
            "MALFORMED",
            text === "" ? "a pattern must not be empty" : `"${text}" ends with an escape character`,
          ),
        ]
      : [],
  );
}

function onlyStrings(field: string, list: ListValue | undefined): readonly Violation[] {
  return stringsOf(list).others.map((index) =>
    violation(`${field}[${index}]`, "MISTYPED", "must be a string"),
  );
}

function answerers({ questions }: AgentSpec): readonly Violation[] {
  return (questions?.groups ?? []).flatMap((group, index) =>
    isUnknownRole(group)
      ? [violation(`questions.groups[${index}]`, "MALFORMED", `"${group}" names no role`)]
      : [],
  );
}

function outputSchema({ outputSchema: schema }: AgentSpec): readonly Violation[] {
  const problem = schema === undefined ? undefined : outputSchemaProblem(schema);
  return problem === undefined ? [] : [violation("output_schema", "MALFORMED", problem)];
}

function classes({ permissionClasses }: AgentSpec): readonly Violation[] {
  return permissionClasses.flatMap((name, index) =>
    permissionClassOf(name) === undefined
      ? [
          violation(
            `permission_classes[${index}]`,
            "UNKNOWN_CLASS",
            `permission class "${name}" does not exist; the classes are safe, knowledge, network, workspace_write, execute, editor_mutate, subagent, and secrets`,
          ),
        ]
      : [],
  );
}
