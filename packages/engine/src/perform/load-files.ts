import { Failure } from "@reeve/platform/failure";
import type { PromptMessage, PromptPart, RenderedRequest } from "../domain/model/model.ts";
import type { RunState } from "../domain/state/run-state.ts";
import type { ModelRequest } from "../ports/model-provider.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/**
 * Returns the bytes of the files in a request. A file that was deleted is missing. Throws a Failure of kind `unavailable` if the store does
 * not answer.
 */
export async function loadFiles(
  { head: { created } }: RunState,
  { messages }: Pick<RenderedRequest, "messages">,
  { artifacts }: Pick<RunPorts, "artifacts">,
  signal: AbortSignal,
): Promise<Pick<ModelRequest, "files">> {
  const ids = messages
    .flatMap(partsOf)
    .flatMap((part) => (part.kind === "file" ? [part.artifactId] : []));
  if (ids.length === 0) return {};
  const tenant = created?.tenant ?? "";
  const files = new Map<string, Uint8Array>();
  for (const id of new Set(ids)) {
    const chunks = await bytesOf(artifacts.read(tenant, id, signal));
    if (chunks !== undefined) files.set(id, chunks);
  }
  return { files };
}

const none: readonly PromptPart[] = [];

function partsOf(message: PromptMessage): readonly PromptPart[] {
  if (message.role === "user") return message.parts ?? none;
  return message.role === "tool" ? (message.files ?? none) : none;
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    return Buffer.concat(await Array.fromAsync(chunks));
  } catch (error) {
    if (error instanceof Failure && error.kind === "not_found") return undefined;
    throw error;
  }
}
