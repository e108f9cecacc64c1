import type { DescField, DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { CallOutcome } from "./call-outcome.ts";
import { succeeded } from "./call-outcome.ts";
import type { CallMessages } from "./call-resources.ts";
import { resourcesOf, textAt } from "./call-resources.ts";
import { auditOf } from "./method-audit.ts";

/** What is recorded of a call, or of a part of it. */
export interface AuditedPart {
  readonly outcome: CallOutcome;
  readonly resources: ReturnType<typeof resourcesOf>;
}

/** How many parts of a call are recorded at most. A request that was refused may have any number. */
const maxParts = 100;

/** Returns the parts of a call, as its contract declares them, each with its outcome. A call without them is one part. */
export function partsOf(
  method: DescMethod,
  sent: CallMessages,
  outcome: CallOutcome,
): readonly AuditedPart[] {
  const { parts } = auditOf(method);
  if (parts === undefined) return [{ outcome, resources: resourcesOf(method, sent) }];
  const requests = listAt(method.input, sent.request, parts.request);
  const responses = listAt(method.output, sent.response, parts.response);
  if (requests.messages.length === 0) return [{ outcome, resources: [] }];
  const types = { input: requests.type, output: responses.type };
  return requests.messages.slice(0, maxParts).map((request, index) => {
    const response = responses.messages[index];
    return {
      outcome: outcomeOfPart(types.output, response) ?? outcome,
      resources: resourcesOf(method, { request, response }, types),
    };
  });
}

/** Returns how a part ended. Undefined: nothing is known of it but the end of the call. */
function outcomeOfPart(type: DescMessage, response: Message | undefined): CallOutcome | undefined {
  if (response === undefined) return undefined;
  const code = textAt(type, response, "error.code");
  return code === "" ? succeeded : { code, reason: textAt(type, response, "error.reason") };
}

/** Returns the messages of a repeated field, and their type. */
function listAt(schema: DescMessage, message: Message | undefined, name: string) {
  const field: DescField | undefined = schema.fields.find((each) => each.name === name);
  if (field?.fieldKind !== "list" || field.listKind !== "message") {
    throw new Error(`${schema.typeName} has no repeated message ${name}`);
  }
  const items = message === undefined ? [] : [...reflect(schema, message).get(field)];
  const messages = items.flatMap((item) => {
    const inner = typeof item === "object" && item !== null && "message" in item && item.message;
    return isMessage(inner) ? [inner] : [];
  });
  return { type: field.message, messages };
}
