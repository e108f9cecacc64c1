import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { LineCounter, isMap, isNode, parseDocument } from "yaml";
import type { z } from "zod";
import { malformedFile, readMapping } from "../spec/message-file.ts";
import { closestName } from "../text/closest-name.ts";
import type { Policy } from "./policy.ts";
import { maxRules, policySchema } from "./policy-schema.ts";

const policyFile = { noun: "policy", reason: ErrorReason.INVALID_REQUEST };

/**
 * Reads a policy from YAML or JSON (which is YAML). Throws a Failure that lists every error, each with its path and line: syntax
 * errors, unknown fields, and values that a field does not have.
 */
export function parsePolicyFile(text: string, file: string): Policy {
  const given = readMapping(policyFile, text, file);
  const { rules } = given;
  // Before the rules are read: each mistake in each of them would be reported.
  if (Array.isArray(rules) && rules.length > maxRules) {
    const description = `has ${rules.length} rules, more than ${maxRules}`;
    const tooMany = { field: "rules", description, reason: "INVALID_POLICY" };
    throw malformedFile(policyFile, file, [tooMany]);
  }
  const parsed = policySchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const lineOf = linesOf(text);
  const violations = issues.slice(0, maxIssues).flatMap((issue) => violationsOf(issue, lineOf));
  throw malformedFile(policyFile, file, [...violations, ...moreThan(issues.length)]);
}

function moreThan(count: number): readonly Violation[] {
  if (count <= maxIssues) return [];
  const description = `has ${count - maxIssues} more mistakes`;
  return [{ field: "rules", description, reason: "INVALID_POLICY" }];
}

type Path = readonly PropertyKey[];

/** How many mistakes of a file are listed, each with its line. */
const maxIssues = 200;
/** How many unknown fields of one mapping are listed. */
const maxUnknown = 20;

function violationsOf(
  issue: z.core.$ZodIssue,
  lineOf: (path: Path) => number | undefined,
): readonly Violation[] {
  if (issue.code !== "unrecognized_keys") return [violation(issue.path, issue.message, lineOf)];
  return issue.keys
    .slice(0, maxUnknown)
    .map((key) => violation([...issue.path, key], unknownField(key), lineOf));
}

function violation(
  path: Path,
  problem: string,
  lineOf: (path: Path) => number | undefined,
): Violation {
  const line = lineOf(path);
  const description = line === undefined ? problem : `line ${line}: ${problem}`;
  return { field: pathText(path), description, reason: "INVALID_POLICY" };
}

const fields =
  "rules name when allow deny grant limits permission default_behavior tool behavior tenants roles contexts threads tool_classes tools mcp_servers providers models network_hosts images pools approvals waits freezes agents wait from until weekly time_zone windows days break_glass people groups min_reason_length allow_requester step_up classes".split(
    " ",
  );

function unknownField(key: string): string {
  const closest = closestName(key, fields);
  return closest === undefined ? "unknown field" : `unknown field; did you mean ${closest}?`;
}

function pathText(path: Path): string {
  return path
    .map((part, index) =>
      typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`,
    )
    .join("");
}

/** Returns a function that gives the line on which a value of the file begins, or that of its key if it has one. */
function linesOf(text: string): (path: Path) => number | undefined {
  const lines = new LineCounter();
  const document = parseDocument(text, { stringKeys: true, uniqueKeys: false, lineCounter: lines });
  return (path) => {
    const parent = document.getIn(path.slice(0, -1), true);
    const key = isMap(parent)
      ? parent.items.find((item) => isNode(item.key) && String(item.key) === path.at(-1))?.key
      : undefined;
    const found = key ?? document.getIn(path, true) ?? parent;
    const start = isNode(found) ? found.range?.[0] : undefined;
    return start === undefined ? undefined : lines.linePos(start).line;
  };
}
