import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { DescMessage, JsonValue, MessageShape } from "@bufbuild/protobuf";
import { fromJson, toJson } from "@bufbuild/protobuf";
import type {
  ExecutePluginToolRequest,
  ExecutePluginToolResponse,
  PluginDescriptor,
  RunHookRequest,
  RunHookResponse,
} from "@reeve/contracts/extensions/plugin";
import {
  ExecutePluginToolRequestSchema,
  ExecutePluginToolResponseSchema,
  PluginDescriptorSchema,
  RunHookRequestSchema,
  RunHookResponseSchema,
} from "@reeve/contracts/extensions/plugin";
import { PluginFailure } from "@reeve/engine/ports/plugin-host";
import type { Supplier } from "./supplier.ts";
import { PluginThread } from "./plugin-thread.ts";
import { threadProgram } from "./thread.ts";

const describeTimeoutMs = 10_000;
const maxHeapMiB = 256;

/**
 * A plugin whose module runs in threads of this process, with an empty environment: one for hooks, and one for tools, so that a long call
 * delays no hook. An endless loop ends its thread only; the next request starts another one.
 */
export class PackagePlugin implements Supplier {
  readonly origin = "package";
  readonly #module: URL;
  readonly #hooks = new PluginThread(() => this.#open());
  readonly #tools = new PluginThread(() => this.#open());
  /** SHA-256 of the module that this process runs. */
  #code: string | undefined;

  constructor(module: URL) {
    this.#module = module;
  }

  async describe(signal: AbortSignal): Promise<PluginDescriptor> {
    const answer = await this.#hooks.ask({ kind: "describe" }, describeTimeoutMs, signal);
    return parsed(PluginDescriptorSchema, answer);
  }

  async codeDigest(): Promise<string> {
    return (this.#code ??= this.#readCode());
  }

  async runHook(
    request: RunHookRequest,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<RunHookResponse> {
    const json = asObject(toJson(RunHookRequestSchema, request, allFields));
    const answer = await this.#hooks.ask({ kind: "hook", request: json }, deadlineMs, signal);
    return parsed(RunHookResponseSchema, answer);
  }

  async executeTool(
    request: ExecutePluginToolRequest,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<ExecutePluginToolResponse> {
    const json = asObject(toJson(ExecutePluginToolRequestSchema, request, allFields));
    const answer = await this.#tools.ask({ kind: "tool", request: json }, deadlineMs, signal);
    return parsed(ExecutePluginToolResponseSchema, answer);
  }

  #open(): Worker {
    const code = this.#readCode();
    // Runs are pinned to the code with which this process began.
    if (this.#code !== undefined && this.#code !== code) {
      const message = "its module has changed since this runtime started; restart the runtimes";
      throw new PluginFailure(message, { retryable: false, mayHaveBegun: false });
    }
    this.#code = code;
    return new Worker(threadProgram(), {
      eval: true,
      workerData: { module: this.#module.href },
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
      name: "plugin",
    });
  }

  #readCode(): string {
    try {
      const source = readFileSync(fileURLToPath(this.#module));
      return createHash("sha256").update(source).digest("hex");
    } catch (cause) {
      const failure = { retryable: false, mayHaveBegun: false, cause };
      throw new PluginFailure("its module cannot be read", failure);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#hooks, this.#tools].map((each) => each[Symbol.asyncDispose]()));
  }
}

const allFields = { alwaysEmitImplicit: true } as const;

function asObject(json: JsonValue): Record<string, JsonValue> {
  return json as Record<string, JsonValue>;
}

function parsed<Desc extends DescMessage>(schema: Desc, answer: unknown): MessageShape<Desc> {
  try {
    return fromJson(schema, (answer ?? {}) as JsonValue);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new PluginFailure(`its answer is not what the contract describes: ${problem}`, {
      retryable: false,
      cause,
    });
  }
}
