import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type {
  ServerCredentials as Credentials,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { ExecuteToolRequest } from "@reeve/contracts/extensions/tool-provider";
import {
  DescribeToolsResponseSchema,
  ExecuteToolRequestSchema,
  ExecuteToolResponseSchema,
} from "@reeve/contracts/extensions/tool-provider";

type Description = MessageInitShape<typeof DescribeToolsResponseSchema>;
type Said = NonNullable<MessageInitShape<typeof ExecuteToolResponseSchema>["event"]>;

/** A call, as the provider of a test sees it. */
export interface ServedCall {
  readonly request: ExecuteToolRequest;
  readonly metadata: Readonly<Record<string, unknown>>;
  say(event: Said): void;
  /** Sends bytes that are not a message of the contract. */
  sayBytes(bytes: Uint8Array): void;
  end(): void;
  fail(code: status, details: string): void;
  /** Resolves when the caller cancels the call. */
  readonly cancelled: Promise<void>;
}

/** A tool provider with the behavior that a test gives it: an ordinary gRPC server. */
export class ProviderServer implements AsyncDisposable {
  readonly #server = new Server();
  readonly calls: ServedCall[] = [];
  description: Description;
  port = 0;

  private constructor(description: Description, serve: (call: ServedCall) => void) {
    this.description = description;
    this.#server.addService(definition, {
      DescribeTools: (_: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) =>
        answer(null, encoded(DescribeToolsResponseSchema, this.description)),
      ExecuteTool: (stream: ServerWritableStream<Buffer, Buffer>) => {
        const call = servedCall(stream);
        this.calls.push(call);
        serve(call);
      },
    });
  }

  static async start(
    description: Description,
    serve: (call: ServedCall) => void,
    credentials: Credentials = ServerCredentials.createInsecure(),
    port = 0,
  ): Promise<ProviderServer> {
    const server = new ProviderServer(description, serve);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    server.#server.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
    server.port = await promise;
    return server;
  }

  /** Ends at once, like a killed process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }
}

const asIs = (bytes: Buffer) => bytes;

const common = {
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
  requestStream: false,
} as const;

const definition: ServiceDefinition = {
  DescribeTools: {
    ...common,
    path: "/reeve.tool.v1.ToolProviderService/DescribeTools",
    responseStream: false,
  },
  ExecuteTool: {
    ...common,
    path: "/reeve.tool.v1.ToolProviderService/ExecuteTool",
    responseStream: true,
  },
};

function servedCall(stream: ServerWritableStream<Buffer, Buffer>): ServedCall {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.on("cancelled", () => resolve());
  // A caller that is gone is not an error of the test.
  stream.on("error", () => undefined);
  return {
    request: fromBinary(ExecuteToolRequestSchema, stream.request),
    metadata: stream.metadata.getMap(),
    say: (event) => stream.write(encoded(ExecuteToolResponseSchema, { event })),
    sayBytes: (bytes) => stream.write(Buffer.from(bytes)),
    end: () => stream.end(),
    fail: (code, details) => stream.emit("error", { code, details }),
    cancelled: promise,
  };
}

function encoded<
  Desc extends typeof DescribeToolsResponseSchema | typeof ExecuteToolResponseSchema,
>(schema: Desc, message: MessageInitShape<Desc>): Buffer {
  return Buffer.from(toBinary(schema, create(schema, message)));
}

/** The arguments of the tools of tests. */
export const textSchema: JsonObject = {
  type: "object",
  properties: { text: { type: "string" } },
  additionalProperties: false,
};
