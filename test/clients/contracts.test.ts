import type { DescMessage } from "@bufbuild/protobuf";
import { create, createFileRegistry, fromBinary, toJson } from "@bufbuild/protobuf";
import type { DescriptorProto, FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
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

test("a client of newer contracts may send fields and values that the gateway does not know", async () => {
  const events = await seenBy(
    (message, file) => {
      if (message.name === "StartRunRequest")
        message.field.push(field("priority_of_tomorrow", 900));
      const kind = file.enumType.find(({ name }) => name === "ChatContextKind");
      if (kind !== undefined && !kind.value.some(({ number }) => number === 900)) {
        kind.value.push({
          ...kind.value[1],
          name: "CHAT_CONTEXT_KIND_HOLOGRAM",
          number: 900,
        } as never);
      }
    },
    { priorityOfTomorrow: "high", chatContext: { kind: 900 } },
  );
  expect(events.at(-1)).toMatchObject({ status: { status: "RUN_STATUS_COMPLETED" } });
});

const kinds = new Set(["text", "status", "step", "error", "toolCall", "toolResult"]);

function field(name: string, number: number) {
  const jsonName = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const [label, type] = [FieldDescriptorProto_Label.OPTIONAL, FieldDescriptorProto_Type.STRING];
  return create(FieldDescriptorProtoSchema, { name, number, jsonName, label, type });
}
