import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Validator, Violation as RuleViolation } from "@bufbuild/protovalidate";
import { createValidator } from "@bufbuild/protovalidate";
import type { Interceptor } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "../failure.ts";
import { Failure } from "../failure.ts";

/** How deep a request may be nested, including JSON in it. A log may accept less: see `isStorable` of the contracts. */
const maxRequestLevels = 32;

/** Refuses a request that breaks the rules of its contract. The Failure lists all violations. */
export function validateRequests(validator: Validator = createValidator()): Interceptor {
  return (next) => async (request) => {
    if (!request.stream) {
      assertValid(validator, request.method.input, request.message);
      return await next(request);
    }
    const { input } = request.method;
    async function* checked(messages: AsyncIterable<Message>) {
      for await (const message of messages) {
        assertValid(validator, input, message);
        yield message;
      }
    }
    return await next({ ...request, message: checked(request.message) });
  };
}

function assertValid(validator: Validator, schema: DescMessage, message: Message): void {
  if (isDeeperThan(message, maxRequestLevels)) {
    const problem = `the request is nested deeper than ${maxRequestLevels} levels; send a flatter one`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
  }
  const result = validator.validate(schema, message);
  if (result.kind === "valid") return;
  if (result.kind === "error") throw result.error;
  const violations = result.violations.map(violationOf);
  const list = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, `the request is not valid: ${list}`, {
    violations,
  });
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/** Converts a violation of protovalidate. */
export function violationOf(violation: RuleViolation): Violation {
  const { field, ruleId, message } = violation;
  return {
    field: pathOf(field),
    description: message === "" ? `breaks the rule ${ruleId}` : message,
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
