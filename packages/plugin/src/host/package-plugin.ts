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
import { onAbort } from "@reeve/platform/async/on-abort";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { Supplier } from "./supplier.ts";
import type { ThreadAnswer, ThreadRequest } from "./thread.ts";
import { threadProgram } from "./thread.ts";

const describeTimeoutMs = 10_000;
const maxHeapMiB = 256;

type Question = ThreadRequest extends infer Each
  ? Each extends { readonly kind: "abort" }
    ? never
    : Omit<Each, "id">
  : never;

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: PluginFailure) => void;
}

/**
 * A plugin whose module runs in a thread of this process, with an empty environment. A hook that exceeds its deadline ends the thread,
 * so that an endless loop stops nothing else; the next request starts another one.
 */
export class PackagePlugin implements Supplier {
  readonly origin = "package";
  readonly #module: URL;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #lastId = 0;
  /** SHA-256 of the module that this process runs. */
  #code: string | undefined;

  constructor(module: URL) {
    this.#module = module;
  }

  async describe(signal: AbortSignal): Promise<PluginDescriptor> {
    const answer = await this.#ask({ kind: "describe" }, describeTimeoutMs, signal);
    return parsed(PluginDescriptorSchema, answer);
  }

  async codeDigest(): Promise<string> {
    this.#started();
    return this.#code ?? "";
  }

  async runHook(
    request: RunHookRequest,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<RunHookResponse> {
    const json = asObject(toJson(RunHookRequestSchema, request, allFields));
    const answer = await this.#ask({ kind: "hook", request: json }, deadlineMs, signal);
    return parsed(RunHookResponseSchema, answer);
  }

  async executeTool(
    request: ExecutePluginToolRequest,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<ExecutePluginToolResponse> {
    const json = asObject(toJson(ExecutePluginToolRequestSchema, request, allFields));
    const answer = await this.#ask({ kind: "tool", request: json }, deadlineMs, signal);
    return parsed(ExecutePluginToolResponseSchema, answer);
  }

  async #ask(question: Question, deadlineMs: number, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const thread = this.#started();
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { resolve, reject });
    thread.postMessage({ ...question, id }, []);
    const timer = setTimeout(() => {
      reject(
        new PluginFailure(`it did not answer within ${deadlineMs / 1_000} s`, { retryable: false }),
      );
      void this.#end(thread, "its thread was ended because another request took too long");
    }, deadlineMs);
    using _ = onAbort(signal, () => {
      thread.postMessage({ id, kind: "abort" }, []);
      reject(new PluginFailure("the request was aborted", { retryable: true }));
    });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  #started(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const code = this.#readCode();
    // Runs are pinned to the code with which this process began.
    if (this.#code !== undefined && this.#code !== code) {
      const message = "its module has changed since this runtime started; restart the runtimes";
      throw new PluginFailure(message, { retryable: false, mayHaveBegun: false });
    }
    this.#code = code;
    const thread = new Worker(threadProgram(), {
      eval: true,
      workerData: { module: this.#module.href },
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
      name: "plugin",
    });
    thread.unref();
    thread.on("message", (answer: ThreadAnswer) => this.#take(answer));
    thread.on("error", (error) => void this.#end(thread, `its thread broke: ${error.message}`));
    thread.on("exit", () => void this.#end(thread, "its thread ended"));
    this.#thread = thread;
    return thread;
  }

  #readCode(): string {
    try {
      const source = readFileSync(fileURLToPath(this.#module));
      return createHash("sha256").update(source).digest("hex");
    } catch (cause) {
      const message = `its module ${this.#module.pathname} cannot be read`;
      throw new PluginFailure(message, { retryable: false, mayHaveBegun: false, cause });
    }
  }

  #take(answer: ThreadAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    if (waiting === undefined) return;
    if ("error" in answer) {
      const message = processRedaction.text(answer.error);
      waiting.reject(new PluginFailure(message, { retryable: false }));
    } else waiting.resolve(answer.answer);
  }

  async #end(thread: Worker, reason: string): Promise<void> {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const { reject } of this.#waiting.values()) {
      reject(new PluginFailure(reason, { retryable: true }));
    }
    this.#waiting.clear();
    await thread.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#thread !== undefined) await this.#end(this.#thread, "the runtime ends");
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
