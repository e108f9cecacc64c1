import type { DescMessage } from "@bufbuild/protobuf";
import { create, createFileRegistry, fromBinary, toJson } from "@bufbuild/protobuf";
import type { DescriptorProto, FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { clientContracts } from "../../scripts/client-contracts.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Deployment } from "../system/support/deployment.ts";

let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start();
  await deployment.agent("talk");
});

afterAll(() => deployment[Symbol.asyncDispose]());

type Change = (message: DescriptorProto, file: FileDescriptorProto) => void;

/** Starts and watches a run as a client with code generated from changed contracts. Returns the events that it read, as JSON. */
async function seenBy(change: Change, request: object = {}): Promise<readonly Event[]> {
  const set = fromBinary(FileDescriptorSetSchema, clientContracts({ comments: false }));
  for (const file of set.file) for (const message of file.messageType) change(message, file);
  const registry = createFileRegistry(set);
  const service = registry.getService("reeve.run.v1.RunService");
  if (service === undefined) throw new Error("the contracts have no RunService");
  const transport = createGrpcTransport({ baseUrl: deployment.url });
  // Types generated at run time have no static types.
  const runs = createClient(service, transport) as unknown as Methods;
  const headers = { authorization: `Bearer ${deployment.token}` };
  const start = registry.getMessage("reeve.run.v1.StartRunRequest") as DescMessage;
  const whole = create(start, { agentId: "talk", input: "talk", ...request });
  const { run } = await runs.startRun(whole, { headers });
  const response = registry.getMessage("reeve.run.v1.WatchRunResponse") as DescMessage;
  const events: Event[] = [];
  for await (const message of runs.watchRun({ runId: run.runId }, { headers })) {
    const { events: more = [] } = toJson(response, message as never) as { events?: Event[] };
    events.push(...more);
  }
  return events;
}

interface Methods {
  startRun(request: object, options: object): Promise<{ readonly run: { readonly runId: string } }>;
  watchRun(request: object, options: object): AsyncIterable<object>;
}

type Event = Readonly<Record<string, unknown>> & { readonly sequence: number };

// Requirement: EVT-7
test("a client of older contracts, without newer fields and events, works with the gateway", async () => {
  const newer = new Set(["cost_summary", "usage", "end_status", "memory_enabled", "depth"]);
  const events = await seenBy((message) => {
    message.field = message.field.filter(({ name }) => !newer.has(name));
  });
  expect(events.flatMap(({ text }) => (text === undefined ? [] : [text])).length).toBeGreaterThan(
    1,
  );
  // An unknown event arrives with its sequence and without content.
  const unknown = events.filter((event) => !Object.keys(event).some((key) => kinds.has(key)));
  expect(unknown.length).toBeGreaterThan(0);
  expect(events.at(-1)).toMatchObject({ status: { status: "RUN_STATUS_COMPLETED" } });
});

// Requirement: EVT-7
test("a client of newer contracts works with the gateway, and learns by name what it does not know", async () => {
  expect((await seenBy(addNewer)).at(-1)).toMatchObject({
    status: { status: "RUN_STATUS_COMPLETED" },
  });
  const newer = { priorityOfTomorrow: "high", chatContext: { kind: 900 } };
  const refusal = await seenBy(addNewer, newer).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: Code.InvalidArgument });
  const text = String(refusal);
  expect(text).toContain("reeve.run.v1.StartRunRequest has no field number 900");
  expect(text).toContain("reeve.run.v1.ChatContextKind has no value 900");
});

function addNewer(message: DescriptorProto, file: FileDescriptorProto) {
  if (message.name === "StartRunRequest") message.field.push(field("priority_of_tomorrow", 900));
  const kind = file.enumType.find(({ name }) => name === "ChatContextKind");
  if (kind === undefined || kind.value.some(({ number }) => number === 900)) return;
  const [, known] = kind.value;
  if (known === undefined) throw new Error("ChatContextKind has no values");
  kind.value.push({ ...known, name: "CHAT_CONTEXT_KIND_HOLOGRAM", number: 900 });
}

const kinds = new Set(["text", "status", "step", "error", "toolCall", "toolResult"]);

function field(name: string, number: number) {
  const jsonName = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const [label, type] = [FieldDescriptorProto_Label.OPTIONAL, FieldDescriptorProto_Type.STRING];
  return create(FieldDescriptorProtoSchema, { name, number, jsonName, label, type });
}
