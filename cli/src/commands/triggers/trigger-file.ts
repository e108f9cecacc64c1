import { readFile } from "node:fs/promises";
import type { TriggerSpec } from "@reeve/client";
import { ErrorReason } from "@reeve/contracts/error";
import { TriggerSpecSchema } from "@reeve/contracts/trigger";
import { Failure } from "@reeve/platform/failure";
import type { Terminal } from "../../terminal.ts";

const kind = {
  schema: TriggerSpecSchema,
  noun: "trigger",
  reason: ErrorReason.INVALID_REQUEST,
};

/**
 * Reads a trigger from a YAML or JSON file, or from standard input if `path` is `-`. Throws a Failure that lists everything that is
 * wrong with its shape.
 */
export async function readTriggerFile(
  path: string,
  terminal: Pick<Terminal, "read">,
): Promise<TriggerSpec> {
  const { parseMessageFile } = await import("@reeve/agent/spec/message-file");
  if (path === "-") return parseMessageFile(kind, await terminal.read(), "standard input");
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, `${path} cannot be read`, { cause });
  });
  return parseMessageFile(kind, text, path);
}
