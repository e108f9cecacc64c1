import { toJson } from "@bufbuild/protobuf";
import type { ModelRegistry, RegistryChange } from "@reeve/client";
import { ModelSpecSchema, ProviderSpecSchema } from "@reeve/contracts/agent";
import { oneLine } from "../../render/plain-text.ts";
import type { Style } from "../../style.ts";
import type { ChangedField } from "../agents/spec-diff.ts";
import { compare } from "../agents/spec-diff.ts";

const signs = { create: ["green", "+"], update: ["yellow", "~"], delete: ["red", "-"] } as const;

/** Returns a line for each change of the registry of models. `fieldsOf` returns what differs in an update; default: it is not said. */
export function renderRegistryChanges(
  changes: readonly RegistryChange[],
  style: Style,
  fieldsOf: (change: RegistryChange) => string = () => "",
): string {
  if (changes.length === 0) return "nothing changes\n";
  return changes
    .map((change) => {
      const { kind, id, action } = change;
      const [color, sign] = signs[isAction(action) ? action : "update"];
      const text = `${sign} ${oneLine(action, 16)} ${oneLine(kind, 16)} ${oneLine(id, 128)}`;
      return `${style(color, text)}${fieldsOf(change)}\n`;
    })
    .join("");
}

/** Returns the fields in which an entry differs between two states of the registry. */
export function changedEntryFields(
  { kind, id }: RegistryChange,
  before: ModelRegistry | undefined,
  after: ModelRegistry | undefined,
): readonly ChangedField[] {
  return compare(jsonOf(kind, id, before), jsonOf(kind, id, after), "");
}

function jsonOf(kind: string, id: string, registry: ModelRegistry | undefined) {
  const names = { useProtoFieldName: true };
  if (kind === "provider") {
    const found = registry?.providers.find(({ spec }) => spec?.providerId === id)?.spec;
    return found && toJson(ProviderSpecSchema, found, names);
  }
  const found = registry?.models.find(({ spec }) => spec?.id === id)?.spec;
  return found && toJson(ModelSpecSchema, found, names);
}

function isAction(action: string): action is keyof typeof signs {
  return action === "create" || action === "update" || action === "delete";
}
