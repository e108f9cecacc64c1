import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Validator, Violation as RuleViolation } from "@bufbuild/protovalidate";
import { createValidator } from "@bufbuild/protovalidate";
import type { Interceptor } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "../failure.ts";
import { Failure } from "../failure.ts";
import { isDeeperThan, maxRequestLevels } from "./nesting.ts";

/** Refuses a request that breaks the rules of its contract, with every violation at once. */
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
    const words = `the request is nested deeper than ${maxRequestLevels} levels; give a plainer one`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, words);
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

/** A broken rule of a contract, as we tell it. */
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
