import { setTimeout as wait } from "node:timers/promises";
import { equals } from "@bufbuild/protobuf";
import type { DescribeToolsResponse } from "@reeve/contracts/tool-provider";
import { DescribeToolsResponseSchema } from "@reeve/contracts/tool-provider";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Tool } from "@reeve/calls/ports/tool";
import { callProvider } from "./call-provider.ts";
import { describedTool } from "./provided-tool.ts";
import { ProviderChannel } from "./provider-channel.ts";
import type { ProviderConfig } from "./provider-config.ts";

const firstDelayMs = 500;
/** How often a provider is asked for its tools. */
const lookMs = 30_000;
const maxTools = 256;

export interface ToolProviderPorts {
  readonly log: Logger;
  /** Is called whenever the provider's tools have changed. */
  readonly onTools: () => void;
}

/** A provider of tools, asked for them again and again; those that it last listed stay while it is away. */
export class ToolProvider implements AsyncDisposable {
  readonly name: string;
  readonly #config: ProviderConfig;
  readonly #ports: ToolProviderPorts;
  readonly #channel: ProviderChannel;
  readonly #end = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  readonly #living: Promise<void>;
  #described: DescribeToolsResponse | undefined;
  #tools: readonly Tool[] = [];

  /** Asks for the tools at once. */
  constructor(name: string, config: ProviderConfig, ports: ToolProviderPorts) {
    this.name = name;
    this.#config = config;
    this.#ports = { ...ports, log: ports.log.child({ provider: name }) };
    const keys = Object.keys(config.metadata);
    if (config.tls === undefined && keys.length > 0) {
      this.#ports.log.warn({ keys }, "metadata is sent to the tool provider without tls");
    }
    this.#channel = new ProviderChannel(config);
    this.#living = this.#live(this.#end.signal);
  }

  /** The tools that the provider last listed, by the names by which models call them. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Resolves when the provider has been asked for the first time. */
  get tried(): Promise<void> {
    return this.#first.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the toolhost goes away", "AbortError"));
    await this.#living;
    this.#channel[Symbol.dispose]();
  }

  async #live(signal: AbortSignal): Promise<void> {
    for (let delayMs = firstDelayMs; !signal.aborted;) {
      let pauseMs = lookMs;
      try {
        this.#take(await this.#channel.describe(signal));
        delayMs = firstDelayMs;
      } catch (error) {
        const { log } = this.#ports;
        if (!signal.aborted) log.warn({ err: error, delayMs }, "tool provider does not answer");
        pauseMs = delayMs;
        delayMs = Math.min(delayMs * 2, lookMs);
      }
      this.#first.resolve();
      await wait(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    this.#first.resolve();
  }

  #take(described: DescribeToolsResponse): void {
    described.tools.sort((a, b) => (a.name < b.name ? -1 : 1));
    const known = this.#described;
    if (known !== undefined && equals(DescribeToolsResponseSchema, known, described)) return;
    this.#described = described;
    const { log, onTools } = this.#ports;
    const tools = new Map<string, Tool>();
    for (const tool of described.tools.slice(0, maxTools)) {
      const read = describedTool(this.name, this.#config, tool);
      if (read.kind === "refused") {
        log.warn({ tool: tool.name, reason: read.reason }, "tool of a provider left out");
      } else if (tools.has(tool.name)) {
        log.warn({ tool: tool.name, reason: "it is there twice" }, "tool of a provider left out");
      } else {
        tools.set(tool.name, this.#toolOf(tool.name, read.descriptor));
      }
    }
    if (described.tools.length > maxTools) {
      log.warn({ tools: described.tools.length, maxTools }, "provider has too many tools");
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
    return { descriptor, call: (context, signal) => callProvider(call, context, signal) };
  }
}
