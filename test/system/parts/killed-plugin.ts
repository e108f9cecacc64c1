import { mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { afterEach, expect, test } from "vitest";
import type { Deployment } from "../support/deployment.ts";
import { expectCompleted, watchToEnd } from "../support/watching.ts";

/** Files that a plugin server shares with a test. */
export class HookFiles implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "reeve-plugin-"));
  /** Each request adds the id of its hook. */
  readonly #attempts = join(this.#folder, "attempts");
  /** Effects of the plugin: each hook adds its id, unless it is there. */
  readonly #journal = join(this.#folder, "journal");
  /** While it is missing, the first attempt of a gate waits after its effect. */
  readonly #release = join(this.#folder, "release");

  constructor() {
    for (const file of [this.#attempts, this.#journal]) writeFileSync(file, "");
  }

  /** The environment of the server. */
  get env(): Readonly<Record<string, string>> {
    return {
      PLUGIN_ATTEMPTS: this.#attempts,
      PLUGIN_JOURNAL: this.#journal,
      PLUGIN_RELEASE: this.#release,
    };
  }

  attemptsOf(runId: string): readonly string[] {
    return hooksOf(this.#attempts, runId);
  }

  effectsOf(runId: string): readonly string[] {
    return hooksOf(this.#journal, runId);
  }

  /** Returns the id of the gate in which the plugin waits, once it does. */
  async gateOf(runId: string): Promise<string> {
    const watcher = watch(this.#attempts);
    const gate = () => this.attemptsOf(runId).find((hookId) => hookId.includes(":tool_gate:"));
    while (gate() === undefined) await once(watcher, "change");
    watcher.close();
    return gate() ?? "";
  }

  release(): void {
    writeFileSync(this.#release, "");
  }

  hold(): void {
    rmSync(this.#release, { force: true });
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}

function hooksOf(file: string, runId: string): readonly string[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line.startsWith(`${runId}:`));
}

/** A plugin that allows three calls of tools, as a server that a test kills. Its agent asks once how many are left. */
interface KilledPlugin {
  readonly pluginId: string;
  readonly model: string;
  readonly files: HookFiles;
  kill(): Promise<void>;
  /** Starts it again at its address. */
  start(): Promise<void>;
}

/** Tests that a run ends with each effect once, whatever is killed in the middle of a hook. */
export function testKilledPlugin(
  language: string,
  { plugin, deployment }: { plugin: () => KilledPlugin; deployment: () => Deployment },
  isSkipped = false,
): void {
  afterEach(() => {
    if (!isSkipped) plugin().files.hold();
  });

  /** Runs an agent, and interrupts it in the middle of the gate of its only call. Returns how often the gate was asked. */
  async function interrupted(name: string, interrupt: () => Promise<void>): Promise<number> {
    const { pluginId, model, files } = plugin();
    const agentId = `${pluginId}-${name}`;
    await deployment().agent(agentId, {
      model,
      pluginIds: [pluginId],
      sections: { [pluginId]: fromJson(ValueSchema, { max_calls: 3 }) },
    });
    const { run } = await deployment().reeve.runs.startRun({ agentId, input: "go" });
    const runId = run?.runId ?? "";
    const gate = await files.gateOf(runId);
    await interrupt();
    const events = await watchToEnd(deployment(), runId);
    expectCompleted(events);
    // The gate counted its call once: two of three are left.
    const results = events.flatMap(({ event }) =>
      event.case === "toolResult" ? [event.value.result?.content] : [],
    );
    expect(results).toEqual(["2"]);
    const recorded = events.flatMap(({ event }) =>
      event.case === "pluginHookFinished" ? [event.value.hookId] : [],
    );
    expect(new Set(recorded).size).toBe(recorded.length);
    // An attempt with another id would be an effect more.
    expect(files.effectsOf(runId)).toEqual(recorded);
    const attempts = files.attemptsOf(runId);
    expect(new Set(attempts)).toEqual(new Set(recorded));
    return attempts.filter((hookId) => hookId === gate).length;
  }

  // Requirement: RES-5, RES-11
  test.skipIf(isSkipped)(
    `in ${language}, is asked again when it was killed in the middle of a hook`,
    async () => {
      const attempts = await interrupted("plugin", async () => {
        await plugin().kill();
        await plugin().start();
      });
      expect(attempts).toBe(2);
    },
  );

  // Requirement: RES-5, DUR-3
  test.skipIf(isSkipped)(
    `in ${language}, is asked again by the next runtime when one was killed in the middle of a hook`,
    async () => {
      const attempts = await interrupted("runtime", async () => {
        await deployment().kill("runtime");
        await deployment().start("runtime");
      });
      expect(attempts).toBe(2);
    },
  );

  // Requirement: RES-5, DUR-3
  test.skipIf(isSkipped)(
    `in ${language}, has its answer recorded once when NATS was killed in the middle of a hook`,
    async () => {
      const attempts = await interrupted("nats", async () => {
        await deployment().killNats();
        // The answer comes while the log cannot be written.
        plugin().files.release();
        await deployment().startNats();
      });
      expect(attempts).toBeGreaterThan(0);
    },
  );
}
