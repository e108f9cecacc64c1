import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import { fromBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import {
  type Client,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
} from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer, loadSync } from "@grpc/proto-loader";
import { RunService } from "@reeve/contracts/run";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";

const root = join(import.meta.dirname, "../..");
const options = { keepCase: true, enums: String, defaults: true, oneofs: true };
let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start();
  await deployment.agent("talk");
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

/** Creates a client of a service from its name. */
function clientOf(definition: Parameters<typeof loadPackageDefinition>[0], name: string): Client {
  let found: unknown = loadPackageDefinition(definition);
  for (const part of name.split(".")) found = (found as Record<string, unknown>)[part];
  const Service = found as ServiceClientConstructor;
  return new Service(new URL(deployment.url).host, credentials.createInsecure());
}

interface Started {
  readonly run: { readonly run_id: string };
}
interface Watched {
  readonly events: readonly { readonly sequence: number; readonly event: string }[];
  readonly through_sequence: number;
}

async function startAndWatch(client: Client): Promise<readonly Watched[]> {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${deployment.token}`);
  // Methods of a client that is generated at run time have no types.
  const methods = client as unknown as {
    StartRun(
      request: object,
      metadata: Metadata,
      done: (error: Error | null, reply: Started) => void,
    ): void;
    WatchRun(request: object, metadata: Metadata): AsyncIterable<Watched>;
  };
  const started = await new Promise<Started>((resolve, reject) => {
    methods.StartRun({ agent_id: "talk", input: "talk" }, metadata, (error, reply) =>
      error === null ? resolve(reply) : reject(error),
    );
  });
  const watched: Watched[] = [];
  for await (const message of methods.WatchRun({ run_id: started.run.run_id }, metadata)) {
    watched.push(message);
  }
  client.close();
  return watched;
}

function expectWhole(watched: readonly Watched[]): void {
  const events = watched.flatMap((message) => message.events);
  expect(events[0]?.event).toBe("status");
  expect(events.at(-1)?.event).toBe("status");
  const sequences = events.map(({ sequence }) => sequence);
  expect(sequences).toEqual([...new Set(sequences)].toSorted((a, b) => a - b));
  expect(events.filter(({ event }) => event === "text").length).toBeGreaterThan(1);
}

/** Returns the descriptors of a symbol's files, from the server's reflection service. */
async function reflected(
  version: "v1" | "v1alpha",
  symbol: string,
): Promise<readonly FileDescriptorProto[]> {
  const file = join(root, `packages/platform/proto/grpc/reflection/${version}/reflection.proto`);
  const client = clientOf(loadSync(file, options), `grpc.reflection.${version}.ServerReflection`);
  // Methods of a client that is generated at run time have no types.
  const { ServerReflectionInfo: ask } = client as unknown as {
    ServerReflectionInfo(): NodeJS.ReadWriteStream &
      AsyncIterable<{
        readonly file_descriptor_response?: { readonly file_descriptor_proto: readonly Buffer[] };
      }>;
  };
  const call = ask.call(client);
  call.write({ file_containing_symbol: symbol } as unknown as string);
  try {
    for await (const { file_descriptor_response: files } of call) {
      return (files?.file_descriptor_proto ?? []).map((bytes) =>
        fromBinary(FileDescriptorProtoSchema, bytes),
      );
    }
    return [];
  } finally {
    call.end();
    client.close();
  }
}

test.each(["v1", "v1alpha"] as const)(
  "a gRPC client without generated code starts and watches a run through reflection %s",
  async (version) => {
    const files = await reflected(version, "reeve.run.v1.RunService");
    const set = toBinary(
      FileDescriptorSetSchema,
      create(FileDescriptorSetSchema, { file: [...files] }),
    );
    const definition = loadFileDescriptorSetFromBuffer(Buffer.from(set), options);
    expectWhole(await startAndWatch(clientOf(definition, "reeve.run.v1.RunService")));
  },
);

test("a gRPC-Web client, as in browsers, starts and watches a run", async () => {
  const transport = createGrpcWebTransport({ baseUrl: deployment.url });
  const runs = createClient(RunService, transport);
  const headers = { authorization: `Bearer ${deployment.token}` };
  const { run } = await runs.startRun({ agentId: "talk", input: "talk" }, { headers });
  const sequences: number[] = [];
  for await (const { events } of runs.watchRun({ runId: run?.runId ?? "" }, { headers })) {
    sequences.push(...events.map(({ sequence }) => sequence));
  }
  expect(sequences.length).toBeGreaterThan(5);
  expect(sequences).toEqual([...new Set(sequences)].toSorted((a, b) => a - b));
});

/** Calls a method over plain HTTP. */
async function call(method: string, body: object) {
  const response = await fetch(`${deployment.url}/reeve.run.v1.RunService/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${deployment.token}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("plain HTTP with JSON starts a run and reads it", async () => {
  const started = await call("StartRun", { agentId: "talk", input: "talk" });
  expect(started.status).toBe(200);
  const { runId } = started.body["run"] as { runId: string };
  expect((await call("GetRun", { runId })).body["run"]).toMatchObject({ runId, agentId: "talk" });
  expect((await call("GetRun", { runId: "run_doesnotexist" })).body).toMatchObject({
    code: "not_found",
  });
});
