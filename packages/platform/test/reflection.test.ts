import type { MessageInitShape } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, createClient } from "@connectrpc/connect";
import { RunService } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServerReflectionRequestSchema } from "../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection } from "../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import type { Served } from "./support/served.ts";
import { served } from "./support/served.ts";

let bench: Served;

beforeAll(async () => {
  bench = await served();
});
afterAll(() => bench[Symbol.asyncDispose]());

type Question = NonNullable<MessageInitShape<typeof ServerReflectionRequestSchema>>;

async function* once<Request>(request: Request) {
  yield await Promise.resolve(request);
}

/** Sends one request, and returns the reply. */
async function answerTo(question: Question) {
  const client = createClient(ServerReflection, bench.transport);
  for await (const answer of client.serverReflectionInfo(once(question))) return answer;
  throw new Error("the server sent no reply");
}

async function filesFor(question: Question): Promise<readonly string[]> {
  const { messageResponse } = await answerTo(question);
  if (messageResponse.case !== "fileDescriptorResponse") return [];
  return messageResponse.value.fileDescriptorProto.map(
    (bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name,
  );
}

const symbol = (value: string): Question => ({
  messageRequest: { case: "fileContainingSymbol", value },
});

describe("reflection", () => {
  test("lists the services", async () => {
    const { messageResponse } = await answerTo({
      messageRequest: { case: "listServices", value: "" },
    });
    expect(messageResponse).toMatchObject({
      case: "listServicesResponse",
      value: { service: [{ name: RunService.typeName }] },
    });
  });

  test.each([
    "reeve.run.v1.RunService",
    "reeve.run.v1.RunService.StartRun",
    "reeve.run.v1.StartRunRequest",
    "reeve.run.v1.StartRunRequest.agent_id",
    "reeve.run.v1.OnBusy",
  ])("gives the file of %s, with all that it imports", async (name) => {
    const files = await filesFor(symbol(name));
    expect(files).toContain("reeve/run/v1/run_service.proto");
    expect(files).toContain("google/protobuf/timestamp.proto");
    expect(new Set(files).size).toBe(files.length);
  });

  test("returns a file by its name", async () => {
    const name = "reeve/thread/v1/message.proto";
    const messageRequest = { case: "fileByFilename", value: name } as const;
    expect(await filesFor({ messageRequest })).toContain(name);
  });

  test.each(["reeve.run.v1.Nothing", "", "\0", "reeve.run.v1"])(
    "does not know %j",
    async (name) => {
      const { messageResponse, originalRequest } = await answerTo(symbol(name));
      expect(messageResponse).toMatchObject({
        case: "errorResponse",
        value: { errorCode: Code.NotFound },
      });
      expect(originalRequest).toMatchObject(symbol(name));
    },
  );

  test("refuses an empty request", async () => {
    const { messageResponse } = await answerTo({});
    expect(messageResponse).toMatchObject({ value: { errorCode: Code.InvalidArgument } });
  });

  test("finds extensions", async () => {
    const containingType = "google.protobuf.FieldOptions";
    const { messageResponse } = await answerTo({
      messageRequest: { case: "allExtensionNumbersOfType", value: containingType },
    });
    if (messageResponse.case !== "allExtensionNumbersResponse") throw new Error("no numbers");
    const [extensionNumber = 0] = messageResponse.value.extensionNumber;
    const value = { containingType, extensionNumber };
    const files = await filesFor({ messageRequest: { case: "fileContainingExtension", value } });
    expect(files.length).toBeGreaterThan(0);
  });

  test("serves the older version with the same results", async () => {
    const client = createClient(ServerReflectionAlpha, bench.transport);
    const named = { case: "fileContainingSymbol", value: RunService.typeName } as const;
    for await (const answer of client.serverReflectionInfo(
      once({ host: "h", messageRequest: named }),
    )) {
      expect(answer).toMatchObject({
        validHost: "h",
        originalRequest: { messageRequest: named },
        messageResponse: { case: "fileDescriptorResponse" },
      });
      break;
    }
  });
});
