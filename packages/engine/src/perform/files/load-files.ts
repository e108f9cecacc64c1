import { Failure } from "@reeve/platform/failure";
import type {
  PromptFile,
  PromptMessage,
  PromptPart,
  RenderedRequest,
} from "../../domain/model/model.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import type { ModelRequest } from "../../ports/model-provider.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { ArtifactReader, RunPorts } from "../../ports/run-ports.ts";

/** The files of a request. Disposing drops them, and gives their memory to other requests. */
type LoadedFiles = Disposable & { readonly files: Pick<ModelRequest, "files"> };

/** How many copies of a file a request has: its bytes and chunks, as base64, in JSON, and as the body that is sent. */
const copies = 5;

/**
 * Returns the bytes of the files in a request. Waits until this process has memory for them, of which one tenant gets at most half, or one larger
 * request. A file that was deleted, or that is damaged, is
 * missing. Throws a ModelFailure that may be retried if the store does not answer.
 */
export async function loadFiles(
  { head: { created } }: RunState,
  { messages }: Pick<RenderedRequest, "messages">,
  { artifacts, fileMemory }: ArtifactReader & Pick<RunPorts, "fileMemory">,
  signal: AbortSignal,
): Promise<LoadedFiles> {
  const wanted = new Map<string, PromptFile>();
  for (const part of messages.flatMap(partsOf)) {
    if (part.kind === "file") wanted.set(part.artifactId, part);
  }
  if (wanted.size === 0) return { files: {}, [Symbol.dispose]: () => undefined };
  const bytes = [...wanted.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const tenant = created?.tenant ?? "";
  const memory = await fileMemory?.acquire(tenant, bytes * copies, signal);
  try {
    const files = new Map<string, Uint8Array>();
    for (const id of wanted.keys()) {
      const content = await bytesOf(id, artifacts.read(tenant, id, signal));
      if (content !== undefined) files.set(id, content);
    }
    const drop = () => {
      files.clear();
      memory?.[Symbol.dispose]();
    };
    return { files: { files }, [Symbol.dispose]: drop };
  } catch (error) {
    memory?.[Symbol.dispose]();
    throw error;
  }
}

const none: readonly PromptPart[] = [];

function partsOf(message: PromptMessage): readonly PromptPart[] {
  if (message.role === "user") return message.parts ?? none;
  return message.role === "tool" ? (message.files ?? none) : none;
}

async function bytesOf(
  artifactId: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<Uint8Array | undefined> {
  try {
    return Buffer.concat(await Array.fromAsync(chunks));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.kind !== "unavailable") return undefined;
    const message = `file ${artifactId} was not read: ${error.message}`;
    throw new ModelFailure("unavailable", message, { cause: error });
  }
}
