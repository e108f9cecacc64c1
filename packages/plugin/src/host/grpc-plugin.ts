import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ChannelOptions, ServiceError } from "@grpc/grpc-js";
import { Client, Metadata, credentials, status } from "@grpc/grpc-js";
import type {
  ExecutePluginToolRequest,
  ExecutePluginToolResponse,
  PluginDescriptor,
  RunHookRequest,
  RunHookResponse,
} from "@reeve/contracts/extensions/plugin";
import { DescribePluginsRequestSchema, PluginService } from "@reeve/contracts/extensions/plugin";
import { PluginFailure } from "@reeve/engine/ports/plugin-host";
import { onAbort } from "@reeve/platform/async/on-abort";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { GrpcTarget } from "./plugin-config.ts";
import type { Supplier } from "./supplier.ts";

const describeTimeoutMs = 10_000;
const maxMessageBytes = 4 * 2 ** 20;
/** gRPC servers treat pings more frequent than every five minutes as an attack. */
const keepaliveMs = 310_000;
const maxReconnectDelayMs = 5_000;
const maxCharacters = 500;

/** A plugin of a server. Calls go to the addresses of its name in turn. */
export class GrpcPlugin implements Supplier {
  readonly origin = "grpc";
  readonly #id: string;
  readonly #client: Client;
  readonly #metadata = new Metadata();

  constructor(id: string, { target, tls, metadata }: GrpcTarget) {
    this.#id = id;
    const options: ChannelOptions = {
      "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
      "grpc.service_config_disable_resolution": 1,
      "grpc.max_receive_message_length": maxMessageBytes,
      "grpc.keepalive_time_ms": keepaliveMs,
      "grpc.max_reconnect_backoff_ms": maxReconnectDelayMs,
      "grpc.primary_user_agent": "reeve-runtime",
      ...(tls?.serverName !== undefined && { "grpc.ssl_target_name_override": tls.serverName }),
    };
    const security = tls
      ? credentials.createSsl(tls.ca, tls.key, tls.cert)
      : credentials.createInsecure();
    this.#client = new Client(target, security, options);
    for (const [name, value] of Object.entries(metadata)) this.#metadata.set(name, value);
  }

  async describe(signal: AbortSignal): Promise<PluginDescriptor> {
    const { plugins } = await this.#call(
      PluginService.method.describePlugins,
      create(DescribePluginsRequestSchema),
      describeTimeoutMs,
      signal,
    );
    const own = plugins.find(({ id }) => id === this.#id);
    if (own !== undefined) return own;
    const names = plugins.map(({ id }) => id).join(", ");
    throw new PluginFailure(`its server has other plugins: ${names || "none"}`, {
      retryable: false,
    });
  }

  async codeDigest(): Promise<string> {
    return "";
  }

  runHook(
    request: RunHookRequest,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<RunHookResponse> {
    return this.#call(PluginService.method.runHook, request, deadlineMs, signal);
  }

  executeTool(
    request: ExecutePluginToolRequest,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<ExecutePluginToolResponse> {
    return this.#call(PluginService.method.executePluginTool, request, deadlineMs, signal);
  }

  async #call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<MessageShape<O>> {
    const { promise, resolve, reject } = Promise.withResolvers<MessageShape<O>>();
    const call = this.#client.makeUnaryRequest(
      `/${PluginService.typeName}/${method.name}`,
      (message: MessageShape<I>) => Buffer.from(toBinary(method.input, message)),
      (bytes: Buffer) => fromBinary(method.output, bytes),
      request,
      this.#metadata,
      { deadline: Date.now() + deadlineMs },
      (error, response) => {
        if (error !== null) reject(failureOf(error, deadlineMs));
        else if (response !== undefined) resolve(response);
      },
    );
    using _ = onAbort(signal, () => call.cancel());
    return await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
  }
}

/** Statuses after which the same request may succeed. A deadline is none: the same hook would exceed it again. */
const temporary: ReadonlySet<number> = new Set([
  status.UNAVAILABLE,
  status.RESOURCE_EXHAUSTED,
  status.ABORTED,
  status.CANCELLED,
]);

function failureOf(error: ServiceError, deadlineMs: number): PluginFailure {
  const details = processRedaction.text(error.details).slice(0, maxCharacters);
  const message =
    error.code === status.DEADLINE_EXCEEDED
      ? `it did not answer within ${deadlineMs / 1_000} s`
      : `it ended the request with ${status[error.code]}: ${details}`;
  // A status with metadata comes from a server.
  const isOurs = Object.keys(error.metadata.getMap()).length === 0;
  const mayHaveBegun = !(
    error.code === status.UNAVAILABLE &&
    isOurs &&
    /connect|resol/i.test(details)
  );
  return new PluginFailure(message, {
    retryable: temporary.has(error.code),
    mayHaveBegun,
    cause: error,
  });
}
