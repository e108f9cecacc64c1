import { createHash } from "node:crypto";
import { create, equals, toBinary } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { OfferedPlugin } from "@reeve/contracts/agent";
import { OfferedPluginSchema } from "@reeve/contracts/agent";
import { canonicalJson } from "@reeve/contracts/digest/canonical-json";
import type {
  ExecutePluginToolRequest,
  ExecutePluginToolResponse,
  RunHookRequest,
  RunHookResponse,
} from "@reeve/contracts/extensions/plugin";
import type { PluginHost } from "@reeve/engine/ports/plugin-host";
import { PluginFailure } from "@reeve/engine/ports/plugin-host";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { descriptorProblem } from "./descriptor-problem.ts";
import type { Supplier } from "./supplier.ts";

const describeIntervalMs = 30_000;
const defaultDeadlineMs = 10_000;
const defaultToolMs = 60_000;
const maxTotalBytes = 524_288;

/** A configured plugin. */
export interface RegisteredPlugin {
  readonly id: string;
  readonly ignoresFailures: boolean;
  readonly supplier: Supplier;
}

/**
 * The plugins of a deployment: what they say of themselves, and who calls them. Disposing ends their threads and connections: what is
 * asked later fails with a PluginFailure after which another runtime may succeed.
 */
export class PluginRegistry implements PluginHost, AsyncDisposable {
  readonly #plugins: ReadonlyMap<string, RegisteredPlugin>;
  readonly #log: Logger;
  #offers: readonly OfferedPlugin[] = [];
  /** The ids of the plugins that did not answer when they were last asked. */
  readonly #away = new Set<string>();
  /** What `refresh` last said has changed. */
  #reported: readonly OfferedPlugin[] = [];
  /** Why each plugin that cannot be used gave no description, with addresses and paths that only the log may name. */
  readonly #details = new Map<string, string>();
  #isDisposed = false;

  constructor(plugins: readonly RegisteredPlugin[], log: Logger) {
    this.#plugins = new Map(plugins.map((each) => [each.id, each]));
    this.#log = log;
  }

  /** What the plugins said of themselves when they were last asked, ordered by id. */
  get offers(): readonly OfferedPlugin[] {
    return this.#offers;
  }

  /** Asks each plugin what it offers. Returns whether anything has changed since it last did. One that cannot be used stays, with the reason. */
  async refresh(signal: AbortSignal): Promise<boolean> {
    const before = this.#reported;
    const asked = [...this.#plugins.values()].map((plugin) => this.#offerOf(plugin, signal));
    const offers = withinLimit((await Promise.all(asked)).toSorted(byId));
    const isSame =
      offers.length === before.length &&
      offers.every((offer, index) => {
        const other = before[index];
        return other !== undefined && equals(OfferedPluginSchema, offer, other);
      });
    this.#offers = offers;
    if (isSame) return false;
    for (const { pluginDescriptor: descriptor, problem } of offers) {
      const { id = "", version } = descriptor ?? {};
      const detail = this.#details.get(id);
      if (problem === "") this.#log.info({ plugin: id, version }, "plugin is available");
      else this.#log.warn({ plugin: id, problem, detail }, "plugin cannot be used");
    }
    return true;
  }

  /** Reports a change. One whose report fails is reported again. */
  async report(onChange: () => Promise<void>): Promise<void> {
    const offers = this.#offers;
    try {
      await onChange();
      this.#reported = offers;
    } catch (error) {
      this.#log.warn({ err: error }, "plugins were not announced; trying again later");
    }
  }

  /** Asks the plugins again and again, and reports each change, until `signal` aborts. */
  async watch(onChange: () => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(describeIntervalMs, signal);
      if (await this.refresh(signal)) await this.report(onChange);
    }
  }

  /** Takes over what other runtimes know of plugins that do not answer this one, so that an unusable offer replaces none of them. */
  remember(known: readonly OfferedPlugin[]): void {
    this.#offers = this.#offers.map((offer) => {
      const other = known.find((each) => idOf(each) === idOf(offer) && each.problem === "");
      return offer.problem !== "" && this.#away.has(idOf(offer)) ? (other ?? offer) : offer;
    });
  }

  /** Whether a plugin did not answer when it was last asked, and nothing is known of what it offers. */
  isAway(pluginId: string): boolean {
    return this.#away.has(pluginId) && this.#offerNamed(pluginId)?.problem !== "";
  }

  async runHook(
    pinned: OfferedPlugin,
    request: RunHookRequest,
    signal: AbortSignal,
  ): Promise<RunHookResponse> {
    const { deadline } = pinned.pluginDescriptor ?? {};
    const deadlineMs = deadline === undefined ? defaultDeadlineMs : durationMs(deadline);
    const supplier = await this.#pinned(pinned, signal);
    return await supplier.runHook(request, deadlineMs, signal);
  }

  async executeTool(
    pinned: OfferedPlugin,
    request: ExecutePluginToolRequest,
    signal: AbortSignal,
  ): Promise<ExecutePluginToolResponse> {
    const supplier = await this.#pinned(pinned, signal);
    const tools = this.#offerNamed(idOf(pinned))?.pluginDescriptor?.tools ?? [];
    const { timeLimit } = tools.find(({ name }) => name === request.name) ?? {};
    const deadlineMs = timeLimit === undefined ? defaultToolMs : durationMs(timeLimit);
    return await supplier.executeTool(request, deadlineMs, signal);
  }

  /** Returns the supplier of the version that a run started with. Throws a PluginFailure if there is none now. */
  async #pinned(pinned: OfferedPlugin, signal: AbortSignal): Promise<Supplier> {
    this.#assertOpen();
    const id = idOf(pinned);
    const plugin = this.#plugins.get(id);
    // Another runtime may have it, or this one after its restart.
    if (plugin === undefined) {
      throw notSent("this runtime does not have it; set REEVE_PLUGINS of all runtimes");
    }
    let offer = this.#offerNamed(id);
    // It may be back as it was.
    if (offer === undefined || offer.problem !== "") {
      offer = await this.#offerOf(plugin, signal);
      this.#assertOpen();
      this.#offers = [...this.#offers.filter((each) => idOf(each) !== id), offer].toSorted(byId);
    }
    if (offer.problem !== "") throw notSent(offer.problem, { isElsewhere: !this.#away.has(id) });
    if (offer.digest === pinned.digest) return plugin.supplier;
    const [was, is] = [pinned.pluginDescriptor?.version, offer.pluginDescriptor?.version];
    throw notSent(
      `the run started with version ${was}, and the deployment has ${was === is ? "another code of this version" : `version ${is}`} now; offer the earlier one under this id until its runs have ended`,
    );
  }

  #assertOpen(): void {
    if (this.#isDisposed) throw notSent("the runtime ends");
  }

  #offerNamed(id: string): OfferedPlugin | undefined {
    return this.#offers.find((offer) => idOf(offer) === id);
  }

  async #offerOf(
    { id, ignoresFailures, supplier }: RegisteredPlugin,
    signal: AbortSignal,
  ): Promise<OfferedPlugin> {
    const common = { origin: supplier.origin, ignoresFailures };
    try {
      const descriptor = await supplier.describe(signal);
      this.#away.delete(id);
      this.#details.delete(id);
      const problem = descriptorProblem(id, descriptor);
      if (problem !== undefined) return unusable(id, common, problem);
      const code = await supplier.codeDigest();
      // Not the description: a runtime of another version may know other fields of it.
      const content = canonicalJson([id, descriptor.version, code]);
      const digest = createHash("sha256").update(content).digest("hex");
      return create(OfferedPluginSchema, { ...common, pluginDescriptor: descriptor, digest });
    } catch (error) {
      signal.throwIfAborted();
      const isAway = error instanceof PluginFailure && error.retryable;
      if (isAway) this.#away.add(id);
      else this.#away.delete(id);
      const before = this.#offerNamed(id);
      // A server that is away for a moment is asked by each hook. What it said stays.
      if (isAway && before?.problem === "") return before;
      this.#details.set(id, detailOf(error));
      return unusable(id, common, isAway ? "it does not answer" : "it gives no valid description");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    const all = [...this.#plugins.values()];
    await Promise.all(all.map(({ supplier }) => supplier[Symbol.asyncDispose]()));
  }
}

function idOf({ pluginDescriptor: descriptor }: OfferedPlugin): string {
  return descriptor?.id ?? "";
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function byId(a: OfferedPlugin, b: OfferedPlugin): number {
  return idOf(a) < idOf(b) ? -1 : 1;
}

/** All offers share one record with the models. Those that do not fit are unusable by name. */
function withinLimit(offers: readonly OfferedPlugin[]): readonly OfferedPlugin[] {
  let total = 0;
  return offers.map((offer) => {
    total += toBinary(OfferedPluginSchema, offer).length;
    if (total <= maxTotalBytes) return offer;
    const problem = `the descriptions of all plugins have more than ${maxTotalBytes} bytes`;
    return unusable(idOf(offer), offer, problem);
  });
}

function unusable(
  id: string,
  { origin, ignoresFailures }: Pick<OfferedPlugin, "origin" | "ignoresFailures">,
  problem: string,
): OfferedPlugin {
  return create(OfferedPluginSchema, {
    origin,
    ignoresFailures,
    pluginDescriptor: { id },
    problem,
  });
}

/** Another runtime may have the plugin while a deployment is rolled out, unless it is away. */
function notSent(message: string, { isElsewhere = true } = {}): PluginFailure {
  return new PluginFailure(message, { retryable: true, mayHaveBegun: false, isElsewhere });
}
