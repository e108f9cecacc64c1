import type { DescMessage, DescMethod, Message, MessageInitShape } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { AuditResourceSchema } from "@reeve/contracts/audit";
import { bounded } from "./bounded.ts";
import { auditOf } from "./method-audit.ts";

/** The maximum length of the id of a resource. A client may send any text. */
const maxIdLength = 256;

/** What was sent in a call, as far as it is known. */
export interface CallMessages {
  readonly request?: Message | undefined;
  readonly response?: Message | undefined;
}

/** The types of the messages in which the paths of resources begin. */
interface AuditedTypes {
  readonly input: DescMessage;
  readonly output: DescMessage;
}

/**
 * Returns the resources of a call that its contract declares, without those that are not set. `types` are those of the method, or of
 * a part of its messages.
 */
export function resourcesOf(
  method: DescMethod,
  { request, response }: CallMessages,
  { input, output }: AuditedTypes = method,
): MessageInitShape<typeof AuditResourceSchema>[] {
  return auditOf(method).resources.flatMap((declared) => {
    const ids = [
      textAt(input, request, declared.request),
      textAt(output, response, declared.response),
    ];
    const { kind } = declared;
    return ids.filter((id) => id !== "").map((id) => ({ kind, id: bounded(id, maxIdLength) }));
  });
}

/** Returns the values of the fields of a request that its contract declares as choices of the caller. */
export function choicesOf(
  method: DescMethod,
  { request }: CallMessages,
): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    auditOf(method).choices.flatMap((path) => {
      const value = request && valueAt(method.input, request, path);
      return typeof value === "boolean" ? [[path, value]] : [];
    }),
  );
}

/** Returns the text at a path of a message; empty if there is none. */
export function textAt(schema: DescMessage, message: Message | undefined, path: string): string {
  if (message === undefined || path === "") return "";
  const value = valueAt(schema, message, path);
  return typeof value === "string" ? value : "";
}

/** Returns the value of a field. Undefined: a message on the path is not set. */
function valueAt(schema: DescMessage, message: Message, path: string): unknown {
  const [name = "", ...rest] = path.split(".");
  const field = schema.fields.find((each) => each.name === name);
  if (field === undefined) throw new Error(`${schema.typeName} has no field ${name}`);
  const content = reflect(schema, message);
  if (field.fieldKind !== "message") return content.get(field);
  if (!content.isSet(field)) return undefined;
  const inner = content.get(field).message;
  return isMessage(inner) ? valueAt(field.message, inner, rest.join(".")) : undefined;
}
