import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import type { FilePartSchema } from "@reeve/contracts/content/parts";
import { ContentPartSchema } from "@reeve/contracts/content/parts";
import { StartRunRequestSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { png } from "@reeve/jetstream/test/support/files/png";
import { startRun } from "../../src/app/start-run.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { ann, memoryPorts, storeAgent } from "./memory-ports.ts";

const never = new AbortController().signal;

export type FileInit = Omit<MessageInitShape<typeof FilePartSchema>, "$typeName" | "$unknown">;
export type StartInit = Omit<
  MessageInitShape<typeof StartRunRequestSchema>,
  "$typeName" | "$unknown"
>;

export const file = (value: FileInit) =>
  create(ContentPartSchema, { part: { case: "file", value } });
export const image = (content = png(640, 480), mediaType = "image/png") =>
  file({ content, mediaType, name: "photo.png" });

const sees = { id: "sees", provider: "openai", modalities: ["text", "image"] };
const reads = { id: "reads", provider: "openai", modalities: ["text"] };

export async function ports(): Promise<MemoryPorts> {
  const models = create(ModelCatalogSchema, {
    models: [sees, reads],
    providers: [{ name: "openai", modalities: ["text", "image"] }],
  });
  const base = memoryPorts();
  const artifacts = new MemoryArtifactStore({ maxBytes: 30 * 1024 * 1024 });
  const all = { ...base, artifacts, offer: () => ({ ...base.offer(), models }) };
  await storeAgent(all, "writer", { model: "sees" });
  await storeAgent(all, "blind", { model: "reads" });
  await storeAgent(all, "careful", { model: "sees", fallbackModels: ["reads"] });
  return all;
}

export function start(all: MemoryPorts, init: StartInit) {
  const request = create(StartRunRequestSchema, { agentId: "writer", input: "look", ...init });
  return startRun(all, ann, request, never);
}

export async function* smallImage() {
  yield png(3, 4);
}

export const storedIn = (all: MemoryPorts) => all.artifacts.list("acme", never);

export async function createdIn(all: MemoryPorts, run: string) {
  const { events } = await all.log.read({ tenant: "acme", run }, emptyTail, never);
  return events[0]?.event.case === "runCreated" ? events[0].event.value : undefined;
}

/** Returns a store in which `before` precedes each put. As a remote store does, it checks the signal of every call. */
export function putIn(
  store: MemoryPorts["artifacts"],
  before: (draft: { readonly name: string }) => Promise<void>,
): MemoryPorts["artifacts"] {
  const put: MemoryPorts["artifacts"]["put"] = async (tenant, draft, content, signal) => {
    await before(draft);
    signal.throwIfAborted();
    return await store.put(tenant, draft, content, signal);
  };
  const remove: MemoryPorts["artifacts"]["delete"] = async (tenant, id, signal) => {
    signal.throwIfAborted();
    return await store.delete(tenant, id, signal);
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "put") return put;
      if (name === "delete") return remove;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export async function sentFiles(all: MemoryPorts, run: string): Promise<readonly string[]> {
  const { events } = await all.log.read({ tenant: "acme", run }, emptyTail, never);
  return events
    .flatMap(({ event }) =>
      event.case === "messageSubmitted" ? (event.value.message?.parts ?? []) : [],
    )
    .flatMap(({ part }) => (part.case === "file" ? [part.value.artifactId] : []));
}
