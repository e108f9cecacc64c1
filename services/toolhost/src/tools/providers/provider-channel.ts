import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ChannelOptions, ClientReadableStream, ServiceError } from "@grpc/grpc-js";
import { Client, Metadata, credentials } from "@grpc/grpc-js";
import type {
  DescribeToolsResponse,
  ExecuteToolRequest,
  ExecuteToolResponse,
} from "@reeve/contracts/tool-provider";
import {
  DescribeToolsRequestSchema,
  DescribeToolsResponseSchema,
  ExecuteToolRequestSchema,
  ExecuteToolResponseSchema,
  ToolProviderService,
} from "@reeve/contracts/tool-provider";
import { create } from "@bufbuild/protobuf";
import type { ProviderConfig } from "./provider-config.ts";

const describeMs = 10_000;
/** Bytes of one message of a provider. */
const maxBytes = 16 * 2 ** 20;
/** gRPC servers take pings that come more often than every five minutes for an attack. */
const keepaliveMs = 310_000;
const longestPauseMs = 15_000;

/** Only what certainly was not executed is asked again. gRPC itself repeats a call that never left, or was never taken. */
const retryPolicy = {
  maxAttempts: 4,
  initialBackoff: "0.2s",
  maxBackoff: "2s",
  backoffMultiplier: 2,
  retryableStatusCodes: ["UNAVAILABLE"],
};

/** The connections to one provider: to every address of its name, in turn. */
export class ProviderChannel implements Disposable {
  readonly #once: Client;
  readonly #again: Client;
  readonly #metadata: Metadata;

  constructor(config: ProviderConfig) {
    this.#once = clientOf(config, false);
    this.#again = clientOf(config, true);
    this.#metadata = metadataOf(config.metadata);
  }

  /** Asks for the tools. Rejects with the status that the provider gave. */
  async describe(signal: AbortSignal): Promise<DescribeToolsResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<DescribeToolsResponse>();
    const call = this.#again.makeUnaryRequest(
      pathOf("describeTools"),
      serializer(DescribeToolsRequestSchema),
      deserializer(DescribeToolsResponseSchema),
      create(DescribeToolsRequestSchema),
      this.#metadata,
      { deadline: Date.now() + describeMs },
      (error, response) => {
        if (error !== null || response === undefined) reject(error ?? new Error("no response"));
        else resolve(response);
      },
    );
    const cancel = () => call.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    return await promise.finally(() => signal.removeEventListener("abort", cancel));
  }

  /**
   * Makes one call, and gives what the provider says of it. Rejects with the status that it ended with. One that may be
   * repeated is made again when the provider went away before its first word.
   */
  async *execute(
    request: ExecuteToolRequest,
    mayRepeat: boolean,
    deadlineMs: number,
    signal: AbortSignal,
  ): AsyncIterable<ExecuteToolResponse> {
    const client = mayRepeat ? this.#again : this.#once;
    const stream: ClientReadableStream<ExecuteToolResponse> = client.makeServerStreamRequest(
      pathOf("executeTool"),
      serializer(ExecuteToolRequestSchema),
      deserializer(ExecuteToolResponseSchema),
      request,
      this.#metadata,
      { deadline: deadlineMs },
    );
    const cancel = () => stream.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      yield* stream as AsyncIterable<ExecuteToolResponse>;
    } finally {
      signal.removeEventListener("abort", cancel);
      // A reader that has seen enough leaves the provider nothing to do.
      stream.on("error", () => undefined);
      stream.cancel();
    }
  }

  [Symbol.dispose](): void {
    this.#once.close();
    this.#again.close();
  }
}

/** Whether an error is a status of gRPC. */
export function isStatus(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}

function clientOf(config: ProviderConfig, retriesCalls: boolean): Client {
  const { typeName: service } = ToolProviderService;
  const serviceConfig = {
    loadBalancingConfig: [{ round_robin: {} }],
    methodConfig: [
      { name: [{ service, method: "DescribeTools" }], retryPolicy },
      { name: [{ service, method: "ExecuteTool" }], ...(retriesCalls && { retryPolicy }) },
    ],
  };
  const { tls } = config;
  const options: ChannelOptions = {
    "grpc.service_config": JSON.stringify(serviceConfig),
    "grpc.service_config_disable_resolution": 1,
    "grpc.max_receive_message_length": maxBytes,
    "grpc.keepalive_time_ms": keepaliveMs,
    "grpc.max_reconnect_backoff_ms": longestPauseMs,
    "grpc.primary_user_agent": "reeve-toolhost",
    ...(tls?.serverName !== undefined && { "grpc.ssl_target_name_override": tls.serverName }),
  };
  const security = tls
    ? credentials.createSsl(tls.ca, tls.key, tls.cert)
    : credentials.createInsecure();
  return new Client(config.target, security, options);
}

function pathOf(method: keyof typeof ToolProviderService.method): string {
  return `/${ToolProviderService.typeName}/${ToolProviderService.method[method].name}`;
}

function metadataOf(entries: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(entries)) metadata.set(name, value);
  return metadata;
}

function serializer<Desc extends DescMessage>(schema: Desc) {
  return (message: MessageShape<Desc>): Buffer => Buffer.from(toBinary(schema, message));
}

function deserializer<Desc extends DescMessage>(schema: Desc) {
  return (bytes: Buffer): MessageShape<Desc> => fromBinary(schema, bytes);
}
