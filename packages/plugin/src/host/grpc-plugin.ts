import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { create, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
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

const defaultDescribeTimeoutMs = 10_000;
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
  readonly #describeTimeoutMs: number;

  /** `describeTimeoutMs` is how long the server may take to describe its plugins. Default: 10 seconds. */
  constructor(
    id: string,
    { target, tls, metadata }: GrpcTarget,
    describeTimeoutMs = defaultDescribeTimeoutMs,
  ) {
    this.#id = id;
    this.#describeTimeoutMs = describeTimeoutMs;
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
      this.#describeTimeoutMs,
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
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    const isDescription = method.name === PluginService.method.describePlugins.name;
    const call = this.#client.makeUnaryRequest(
      `/${PluginService.typeName}/${method.name}`,
      (message: MessageShape<I>) => Buffer.from(toBinary(method.input, message)),
      (bytes: Buffer) => bytes,
      request,
      this.#metadata,
      { deadline: Date.now() + deadlineMs },
      (error, response) => {
        if (error !== null) reject(failureOf(error, deadlineMs, isDescription));
        else if (response !== undefined) resolve(response);
      },
    );
    using _ = onAbort(signal, () => call.cancel());
    return redacted(method.output, await promise);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
  }
}

/** A plugin may repeat the secrets of its metadata. What it returns is written to logs. */
function redacted<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array): MessageShape<Desc> {
  try {
    const message = fromBinary(schema, bytes);
    // The same bytes: there is no secret in them.
    if (processRedaction.bytes(bytes) === bytes) return message;
    return fromJson(schema, processRedaction.json(toJson(schema, message)));
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    const message = `its answer is not what the contract describes: ${processRedaction.text(problem)}`;
    throw new PluginFailure(message, { retryable: false, cause });
  }
}

/** Statuses after which the same request may succeed. A deadline is none: the same hook would exceed it again, unlike a description. */
const temporary: ReadonlySet<number> = new Set([
  status.UNAVAILABLE,
  status.RESOURCE_EXHAUSTED,
  status.ABORTED,
  status.CANCELLED,
  // The server has another version than the run.
  status.FAILED_PRECONDITION,
]);

/** What the client says of a request that it has not sent. A connection that drops later may have carried it. */
const unsent = /No connection established|Name resolution failed|ECONNREFUSED|Waiting for LB pick/;
const tooLarge = /larger than max/i;

function failureOf(error: ServiceError, deadlineMs: number, isDescription: boolean): PluginFailure {
  const { code } = error;
  // A status with metadata comes from a server.
  const isOurs = Object.keys(error.metadata.getMap()).length === 0;
  const isUnsent =
    isOurs &&
    (code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED) &&
    unsent.test(error.details);
  // The same message would be too large again.
  const isTooLarge = code === status.RESOURCE_EXHAUSTED && tooLarge.test(error.details);
  return new PluginFailure(messageOf(error, isOurs && !isTooLarge, deadlineMs), {
    retryable:
      isUnsent ||
      (temporary.has(code) && !isTooLarge) ||
      (isDescription && code === status.DEADLINE_EXCEEDED),
    mayHaveBegun: !isUnsent && code !== status.FAILED_PRECONDITION,
    cause: error,
  });
}

/** What the client says contains addresses, which are in the cause only. */
function messageOf(
  { code, details }: ServiceError,
  isInternal: boolean,
  deadlineMs: number,
): string {
  if (code === status.DEADLINE_EXCEEDED) return `it did not answer within ${deadlineMs / 1_000} s`;
  if (isInternal) return `its server gave no answer: ${status[code]}`;
  const text = processRedaction.text(details).slice(0, maxCharacters);
  return `it ended the request with ${status[code]}: ${text}`;
}
