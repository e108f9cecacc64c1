import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ChannelOptions, ClientReadableStream, ServiceError } from "@grpc/grpc-js";
import { Client, Metadata, credentials } from "@grpc/grpc-js";
import type {
  DescribeToolsResponse,
  ExecuteToolRequest,
  ExecuteToolResponse,
} from "@reeve/contracts/extensions/tool-provider";
import {
  DescribeToolsRequestSchema,
  DescribeToolsResponseSchema,
  ExecuteToolRequestSchema,
  ExecuteToolResponseSchema,
  ToolProviderService,
} from "@reeve/contracts/extensions/tool-provider";
import { create } from "@bufbuild/protobuf";
import { onAbort } from "@reeve/platform/async/on-abort";
import { headersWithSecrets } from "../../secrets/secret-references.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import type { ProviderConfig } from "./provider-config.ts";

const describeTimeoutMs = 10_000;
/** Bytes of one message of a provider. */
const maxMessageBytes = 16 * 2 ** 20;
/** gRPC servers treat pings more frequent than every five minutes as an attack. */
const keepaliveMs = 310_000;
const maxReconnectDelayMs = 15_000;

/** Only calls that certainly were not executed are repeated. gRPC itself repeats a call that was never sent, or never accepted. */
const retryPolicy = {
  maxAttempts: 4,
  initialBackoff: "0.2s",
  maxBackoff: "2s",
  backoffMultiplier: 2,
  retryableStatusCodes: ["UNAVAILABLE"],
};

/** The connections to one provider. Calls go to the addresses of its name in turn. */
export class ProviderChannel implements Disposable {
  readonly #withoutRetry: Client;
  readonly #withRetry: Client;
  readonly #config: ProviderConfig;
  readonly #secrets: Secrets;

  constructor(config: ProviderConfig, secrets: Secrets) {
    this.#withoutRetry = clientOf(config, false);
    this.#withRetry = clientOf(config, true);
    this.#config = config;
    this.#secrets = secrets;
  }

  /** Requests the list of tools. Rejects with the gRPC status of the provider, or with the Failure of a secret. */
  async describe(signal: AbortSignal): Promise<DescribeToolsResponse> {
    const metadata = await this.#metadataFor(this.#config.catalog_tenant ?? "", signal);
    const { promise, resolve, reject } = Promise.withResolvers<DescribeToolsResponse>();
    const call = this.#withRetry.makeUnaryRequest(
      pathOf("describeTools"),
      serializer(DescribeToolsRequestSchema),
      deserializer(DescribeToolsResponseSchema),
      create(DescribeToolsRequestSchema),
      metadata,
      { deadline: Date.now() + describeTimeoutMs },
      (error, response) => {
        if (error !== null || response === undefined) reject(error ?? new Error("no response"));
        else resolve(response);
      },
    );
    using _ = onAbort(signal, () => call.cancel());
    return await promise;
  }

  /**
   * Executes one call with the secrets of its tenant, and yields the events of the provider. Rejects with the gRPC status with
   * which the call ended, or with the Failure of a secret before the call is sent. If `mayRepeat`, the call is repeated when the
   * provider became unavailable before its first event.
   */
  async *execute(
    request: ExecuteToolRequest,
    mayRepeat: boolean,
    deadlineMs: number,
    signal: AbortSignal,
  ): AsyncIterable<ExecuteToolResponse> {
    const metadata = await this.#metadataFor(request.tenant, signal);
    const client = mayRepeat ? this.#withRetry : this.#withoutRetry;
    const stream: ClientReadableStream<ExecuteToolResponse> = client.makeServerStreamRequest(
      pathOf("executeTool"),
      serializer(ExecuteToolRequestSchema),
      deserializer(ExecuteToolResponseSchema),
      request,
      metadata,
      { deadline: deadlineMs },
    );
    using _ = onAbort(signal, () => stream.cancel());
    try {
      yield* stream as AsyncIterable<ExecuteToolResponse>;
    } finally {
      // The reader may have stopped early. The provider must not continue then.
      stream.on("error", () => undefined);
      stream.cancel();
    }
  }

  async #metadataFor(tenant: string, signal: AbortSignal): Promise<Metadata> {
    const { metadata } = this.#config;
    return metadataOf(await headersWithSecrets(metadata, tenant, this.#secrets, signal));
  }

  [Symbol.dispose](): void {
    this.#withoutRetry.close();
    this.#withRetry.close();
  }
}

/** Whether an error is a gRPC status. */
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
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.keepalive_time_ms": keepaliveMs,
    "grpc.max_reconnect_backoff_ms": maxReconnectDelayMs,
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
