import type { DescMessage, Message } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import {
  field as fieldRules,
  Ignore,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { oncePerDescriptor } from "@reeve/contracts/once-per-descriptor";
import type { Interceptor } from "@connectrpc/connect";
import { createContextKey } from "@connectrpc/connect";
import type { Violation } from "../failure.ts";
import { assertValid } from "../strict/assert-valid.ts";
import { shapeViolations } from "../strict/strict-json.ts";
import { unknownFields } from "../strict/unknown-fields.ts";

/**
 * The violations of the current request in the fields that its handler validates itself, because its contract says
 * `IGNORE_ALWAYS` of them: what these fields were sent with that their contract does not allow.
 */
export const shapeOfUnvalidated = createContextKey<readonly Violation[]>([]);

/**
 * Refuses a request that breaks the rules of its contract, or that has fields which its contract does not have: a newer client
 * would believe that they had an effect. The Failure lists all violations.
 */
export function validateRequests(): Interceptor {
  return (next) => async (request) => {
    const { input, parent } = request.method;
    const isStrict = parent.typeName.startsWith("reeve.");
    const check = (message: Message) => {
      const shape = isStrict ? [...shapeViolations(), ...unknownFields(input, message)] : [];
      const [own, left] = partition(input, shape);
      request.contextValues.set(shapeOfUnvalidated, left);
      assertValid(input, message, own);
    };
    if (!request.stream) {
      check(request.message);
      return await next(request);
    }
    async function* checked(messages: AsyncIterable<Message>) {
      for await (const message of messages) {
        check(message);
        yield message;
      }
    }
    return await next({ ...request, message: checked(request.message) });
  };
}

/** Returns the names of the fields that the handler validates. */
const unvalidatedFields = oncePerDescriptor((schema: DescMessage) =>
  schema.fields
    .filter((field) => getOption(field, fieldRules).ignore === Ignore.ALWAYS)
    .map(({ name }) => name),
);

/** Splits violations into those that the validation reports, and those in fields that the handler validates. */
function partition(
  schema: DescMessage,
  violations: readonly Violation[],
): readonly [readonly Violation[], readonly Violation[]] {
  const unvalidated = unvalidatedFields(schema);
  const isLeft = ({ field }: Violation) =>
    unvalidated.some((name) => field === name || field.startsWith(`${name}.`));
  return [violations.filter((each) => !isLeft(each)), violations.filter(isLeft)];
}
