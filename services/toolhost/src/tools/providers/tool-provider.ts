import { setImmediate as otherWork } from "node:timers/promises";
import { equals } from "@bufbuild/protobuf";
import type { DescribeToolsResponse } from "@reeve/contracts/extensions/tool-provider";
import { DescribeToolsResponseSchema } from "@reeve/contracts/extensions/tool-provider";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { Tool } from "@reeve/calls/ports/tool";
import type { Secrets } from "../../secrets/secrets.ts";
import { callProvider } from "./call-provider.ts";
import { checkedResult } from "./checked-result.ts";
import { describedTool } from "./provided-tool.ts";
import { ProviderChannel } from "./provider-channel.ts";
import type { ProviderConfig } from "./provider-config.ts";

/** Interval between two requests for the tools. */
const describeIntervalMs = 30_000;
/** Delays after a request that failed. */
const retryBackoff = { firstDelayMs: 500, maxDelayMs: describeIntervalMs };
const maxTools = 256;

export interface ToolProviderPorts {
  readonly log: Logger;
  readonly secrets: Secrets;
  /** Called when the tools of the provider have changed. */
  readonly onTools: () => void;
}

/** A tool provider, which is asked for its tools regularly. Those that it last listed stay while it is unavailable. */
export class ToolProvider implements AsyncDisposable {
  readonly name: string;
  readonly #config: ProviderConfig;
  readonly #ports: ToolProviderPorts;
  readonly #channel: ProviderChannel;
  readonly #end = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  readonly #polling: Promise<void>;
  #described: DescribeToolsResponse | undefined;
  #tools: readonly Tool[] = [];
  #problem: string | undefined = "it has not answered yet";

  /** Requests the tools at once. */
  constructor(name: string, config: ProviderConfig, ports: ToolProviderPorts) {
    this.name = name;
    this.#config = config;
    this.#ports = { ...ports, log: ports.log.child({ provider: name }) };
    const keys = Object.keys(config.metadata);
    if (config.tls === undefined && keys.length > 0) {
      this.#ports.log.warn({ keys }, "metadata is sent to the tool provider without TLS");
    }
    this.#channel = new ProviderChannel(config, ports.secrets);
    this.#polling = this.#poll(this.#end.signal);
  }

  /** The tools that the provider last listed, under the names by which models call them. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Why it does not answer. Undefined: it answered the last request for its tools. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when the first request has succeeded or failed. */
  get tried(): Promise<void> {
    return this.#first.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the toolhost ends", "AbortError"));
    await this.#polling;
    this.#channel[Symbol.dispose]();
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(retryBackoff);
    while (!signal.aborted) {
      let delayMs = describeIntervalMs;
      try {
        await this.#take(await this.#channel.describe(signal), signal);
        this.#problem = undefined;
        backoff.reset();
      } catch (error) {
        this.#problem = processRedaction.text(
          error instanceof Error ? error.message : String(error),
        );
        const { log } = this.#ports;
        delayMs = backoff.next();
        if (!signal.aborted)
          log.warn({ err: error, delayMs }, "tool provider does not answer; trying again");
      }
      this.#first.resolve();
      await sleep(delayMs, signal).catch(() => undefined);
    }
    this.#first.resolve();
  }

  async #take(described: DescribeToolsResponse, signal: AbortSignal): Promise<void> {
    described.tools.sort((a, b) => (a.name < b.name ? -1 : 1));
    const known = this.#described;
    if (known !== undefined && equals(DescribeToolsResponseSchema, known, described)) return;
    this.#described = described;
    const { log, onTools } = this.#ports;
    const tools = new Map<string, Tool>();
    for (const tool of described.tools.slice(0, maxTools)) {
      await otherWork();
      signal.throwIfAborted();
      const read = describedTool(this.name, this.#config, tool);
      if (read.kind === "refused") {
        log.warn({ tool: tool.name, reason: read.reason }, "tool of a tool provider left out");
      } else if (tools.has(tool.name)) {
        log.warn(
          { tool: tool.name, reason: "it is listed twice" },
          "tool of a tool provider left out",
        );
      } else {
        tools.set(tool.name, this.#toolOf(tool.name, read.descriptor));
      }
    }
    if (described.tools.length > maxTools) {
      log.warn(
        { tools: described.tools.length, maxTools },
        "tool provider lists too many tools; the last are left out",
      );
    }
    this.#tools = [...tools.values()];
    log.info({ tools: this.#tools.length }, "tool provider answered");
    onTools();
  }

  #toolOf(tool: string, descriptor: Tool["descriptor"]): Tool {
    const call = {
      channel: this.#channel,
      provider: this.name,
      tool,
      idempotent: descriptor.idempotent,
      timeLimitMs: this.#config.time_limit_seconds * 1_000,
    };
    return {
      descriptor,
      call: async (context, signal) =>
        checkedResult(descriptor, await callProvider(call, context, signal)),
    };
  }
}
