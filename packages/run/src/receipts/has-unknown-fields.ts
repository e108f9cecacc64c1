import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { isReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { StructSchema } from "@bufbuild/protobuf/wkt";

/** Whether a message, or one inside it, has fields that this version does not know. Free JSON has none. */
export function hasUnknownFields<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): boolean {
  return isNewer(reflect(schema, message));
}

function isNewer(message: ReflectMessage): boolean {
  if ((message.getUnknown() ?? []).length > 0) return true;
  return message.fields.some((field) => {
    if (field.fieldKind === "message" && message.isSet(field)) {
      return field.message.typeName !== StructSchema.typeName && isNewer(message.get(field));
    }
    if (field.fieldKind === "list" && field.listKind === "message") {
      const list: Iterable<unknown> = message.get(field);
      return [...list].some((each) => isReflectMessage(each) && isNewer(each));
    }
    return false;
  });
}
