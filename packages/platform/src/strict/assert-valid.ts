import type { DescMessage, Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Violation as RuleViolation } from "@bufbuild/protovalidate";
import { createValidator } from "@bufbuild/protovalidate";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "../failure.ts";
import { Failure } from "../failure.ts";
import { listViolations, shortened } from "../list-violations.ts";
import { mergeViolations } from "./merge-violations.ts";

/** The maximum length of a path: the key of a map is as long as the client makes it. */
const maxPath = 500;
/** How deep a request may be nested, including JSON in it. A log may accept less: see `isStorable` of the contracts. */
const maxRequestLevels = 32;

const validator = createValidator();

/**
 * Throws a Failure for a request that breaks the rules of its contract. It lists all violations, beginning with those of the
 * shape that the request was sent with.
 */
export function assertValid(
  schema: DescMessage,
  message: Message,
  shape: readonly Violation[] = [],
): void {
  if (isDeeperThan(message, maxRequestLevels)) {
    const problem = `the request is nested deeper than ${maxRequestLevels} levels; send a flatter one`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
  }
  const violations = mergeViolations(shape, ruleViolations(schema, message));
  if (violations.length > 0) throw invalidRequest(violations);
}

/** Returns a violation for each rule of its contract that a message breaks. */
export function ruleViolations(schema: DescMessage, message: Message): readonly Violation[] {
  const result = validator.validate(schema, message);
  if (result.kind === "error") throw result.error;
  return result.kind === "valid" ? [] : result.violations.map(violationOf);
}

/** Compiles the rules of a contract, as its first validation would do otherwise. Throws if a rule does not compile. */
export function compileRules(schema: DescMessage): void {
  ruleViolations(schema, create(schema));
}

/** Returns the Failure of a request with violations. */
export function invalidRequest(violations: readonly Violation[]): Failure {
  const problem = `the request is not valid: ${listViolations(violations)}`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, problem, { violations });
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/** The rules of the library have one wording for all numbers. */
function reworded(message: string): string {
  return message
    .replace(/^must be at least 1 characters$/, "must not be empty")
    .replace(/^must contain at least 1 item\(s\)$/, "must not be empty");
}

/** Converts a violation of protovalidate. */
function violationOf(violation: RuleViolation): Violation {
  const { field, ruleId, message } = violation;
  return {
    field: shortened(pathOf(field), maxPath),
    description: message === "" ? `breaks the rule ${ruleId}` : reworded(message),
    reason: ruleId.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_"),
  };
}

function pathOf(path: RuleViolation["field"]): string {
  let text = "";
  for (const part of path) {
    switch (part.kind) {
      case "field":
        text += `${text === "" ? "" : "."}${part.name}`;
        break;
      case "oneof":
        text += `${text === "" ? "" : "."}${part.name}`;
        break;
      case "extension":
        text += `[${part.typeName}]`;
        break;
      case "list_sub":
        text += `[${part.index}]`;
        break;
      case "map_sub":
        text += `[${JSON.stringify(typeof part.key === "bigint" ? part.key.toString() : part.key)}]`;
        break;
    }
  }
  return text;
}
