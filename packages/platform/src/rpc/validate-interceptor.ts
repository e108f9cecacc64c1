import type { DescMessage, Message } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import type { Validator, Violation as RuleViolation } from "@bufbuild/protovalidate";
import { createValidator } from "@bufbuild/protovalidate";
import {
  field as fieldRules,
  Ignore,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Interceptor } from "@connectrpc/connect";
import { createContextKey } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "../failure.ts";
import { Failure } from "../failure.ts";
import { listViolations, shortened } from "../list-violations.ts";
import { mergeViolations } from "../strict/merge-violations.ts";
import { shapeViolations } from "../strict/strict-json.ts";
import { unknownFields } from "../strict/unknown-fields.ts";

/** The maximum length of a path: the key of a map is as long as the client makes it. */
const maxPath = 500;
/** How deep a request may be nested, including JSON in it. A log may accept less: see `isStorable` of the contracts. */
const maxRequestLevels = 32;

/**
 * The violations of the current request in the fields that its handler validates itself, because its contract says
 * `IGNORE_ALWAYS` of them: what these fields were sent with that their contract does not allow.
 */
export const shapeOfUnvalidated = createContextKey<readonly Violation[]>([]);

/**
 * Refuses a request that breaks the rules of its contract, or that has fields which its contract does not have: a newer client
 * would believe that they had an effect. The Failure lists all violations.
 */
export function validateRequests(validator: Validator = createValidator()): Interceptor {
  return (next) => async (request) => {
    const { input, parent } = request.method;
    const isStrict = parent.typeName.startsWith("reeve.");
    const assertValid = (message: Message) => {
      const shape = isStrict ? [...shapeViolations(), ...unknownFields(input, message)] : [];
      const [own, left] = partition(input, shape);
      request.contextValues.set(shapeOfUnvalidated, left);
      assertRules(validator, input, message, own);
    };
    if (!request.stream) {
      assertValid(request.message);
      return await next(request);
    }
    async function* checked(messages: AsyncIterable<Message>) {
      for await (const message of messages) {
        assertValid(message);
        yield message;
      }
    }
    return await next({ ...request, message: checked(request.message) });
  };
}

/** Splits violations into those that the validation reports, and those in fields that the handler validates. */
function partition(
  schema: DescMessage,
  violations: readonly Violation[],
): readonly [readonly Violation[], readonly Violation[]] {
  const unvalidated = schema.fields
    .filter((field) => getOption(field, fieldRules).ignore === Ignore.ALWAYS)
    .map(({ name }) => name);
  const isLeft = ({ field }: Violation) =>
    unvalidated.some((name) => field === name || field.startsWith(`${name}.`));
  return [violations.filter((each) => !isLeft(each)), violations.filter(isLeft)];
}

function assertRules(
  validator: Validator,
  schema: DescMessage,
  message: Message,
  shape: readonly Violation[],
): void {
  if (isDeeperThan(message, maxRequestLevels)) {
    const problem = `the request is nested deeper than ${maxRequestLevels} levels; send a flatter one`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
  }
  const result = validator.validate(schema, message);
  if (result.kind === "error") throw result.error;
  const rules = result.kind === "valid" ? [] : result.violations.map(violationOf);
  const violations = mergeViolations(shape, rules);
  if (violations.length === 0) return;
  const problem = `the request is not valid: ${listViolations(violations)}`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, problem, { violations });
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
    field: shortened(pathOf(field), maxPath),
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
