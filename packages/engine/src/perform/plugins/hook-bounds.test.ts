import { HookPhase, MergeMode } from "@reeve/contracts/extensions/plugin";
import { describe, expect, test } from "vitest";
import { callingModel } from "../../../test/support/models.ts";
import type { MemoryPlugin } from "../../../test/support/plugins/memory-plugins.ts";
import { MemoryPlugins } from "../../../test/support/plugins/memory-plugins.ts";
import { benchWith, endOf, later } from "../../../test/support/plugins/plugin-bench.ts";
import { WorkerBench } from "../../../test/support/worker-bench.ts";

describe("the actions of a plugin do not multiply", () => {
  test("beyond 64 that wait", async () => {
    let hooks = 0;
    const { bench } = await benchWith({
      guard: {
        descriptor: { phases: [HookPhase.RUN_START] },
        hook() {
          hooks++;
          return { actions: Array.from({ length: 16 }, () => ({ name: "again" })) };
        },
      },
    });
    await bench.drive("w");
    expect(hooks).toBeLessThan(300);
    expect((await endOf(bench)).error?.message).toMatch(/more than (64|256) actions/);
  });

  test("beyond 256 that follow one hook, also with delays", async () => {
    let hooks = 0;
    const { bench } = await benchWith(
      {
        guard: {
          descriptor: { phases: [HookPhase.RUN_START] },
          hook() {
            hooks++;
            return { actions: [later(1_000)] };
          },
        },
      },
      { spec: { hitlTools: ["count"] } },
    );
    await bench.drive("w");
    expect(hooks).toBe(257);
    expect((await endOf(bench)).error?.message).toContain("more than 256 actions");
  });
});

describe("hooks that run at the same time", () => {
  const count = 8;
  const calls = Array.from({ length: count }, (_, index) => ({
    providerCallId: `p${index}`,
    name: "other",
    argumentsText: "{}",
  }));

  /** Returns the hooks and the head of a run whose gates answer all at once. */
  async function answersAtOnce(plugins: readonly string[], answer: (n: number) => object) {
    const model = callingModel([], () => undefined);
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    const union = { name: "u", merge: MergeMode.UNION };
    const plugin: MemoryPlugin = {
      descriptor: { phases: [HookPhase.TOOL_GATE], stateKeys: [union] },
      async hook({ data }) {
        if (data.case === "action") return {};
        const answered = answer(++waiting);
        if (waiting === count * plugins.length) all.resolve();
        await all.promise;
        return answered;
      },
    };
    const bench = new WorkerBench({
      ...model,
      async *stream({ messages }) {
        const isDone = messages.some(({ role }) => role === "tool");
        const made = { calls: isDone ? [] : calls, finishReason: isDone ? "stop" : "tool_calls" };
        const turn = { messageJson: "{}", usage: undefined, model: "test", ...made };
        yield { kind: "turn", turn };
      },
    });
    bench.plugins = new MemoryPlugins(Object.fromEntries(plugins.map((id) => [id, plugin])));
    await bench.create({ pluginIds: [...plugins] });
    await bench.drive("w");
    return (await bench.events()).flatMap(({ event }) =>
      event.case === "pluginHookFinished" && event.value.phase === HookPhase.TOOL_GATE
        ? [event.value.error]
        : [],
    );
  }

  test("schedule together no more actions than a run may have", async () => {
    const actions = Array.from({ length: 16 }, () => later(3_600_000));
    const errors = await answersAtOnce(["guard"], () => ({ actions }));
    expect(errors.filter((error) => error === "")).toHaveLength(4);
    expect(errors.at(-1)).toContain("more than 64 actions");
  });

  test.each([[["guard"]], [["guard", "audit"]]])(
    "make together no value larger than it may be: of %s",
    async (plugins) => {
      const errors = await answersAtOnce(plugins, (n) => {
        const values = [{ kind: { case: "stringValue", value: String(n).padEnd(30_000) } }];
        return {
          patches: [{ key: "u", value: { kind: { case: "listValue", value: { values } } } }],
        };
      });
      expect(errors.filter((error) => error === "")).toHaveLength(2);
      expect(errors.at(-1)).toContain("larger than 65536 bytes");
    },
  );
});
