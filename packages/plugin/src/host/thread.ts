import type { Plugin } from "../index.ts";

/** What a thread is asked. `request` is a message of the contract as JSON. */
export type ThreadRequest =
  | { readonly id: number; readonly kind: "describe" }
  | { readonly id: number; readonly kind: "hook"; readonly request: HookJson }
  | { readonly id: number; readonly kind: "tool"; readonly request: ToolJson }
  | { readonly id: number; readonly kind: "abort" };

export type ThreadAnswer =
  /** The thread has received the request, and is not blocked. */
  | { readonly id: number; readonly began: true }
  | { readonly id: number; readonly aborted: true }
  | { readonly id: number; readonly answer: unknown }
  /** `isLoad`: the module does not load. */
  | { readonly id: number; readonly error: string; readonly isLoad: boolean };

interface HookJson {
  readonly phase?: string;
}

type Handler = ((snapshot: unknown, signal: AbortSignal) => unknown) | undefined;

interface ToolJson {
  readonly name?: string;
}

/** The source text of the program of a thread: it works in every build of this program. */
export const threadProgram = (): string => `(${runPluginThread.toString()})((url) => import(url))`;

/** Runs in the thread of a plugin, from its source text: it must not refer to anything outside of itself. */
function runPluginThread(load: (url: string) => Promise<{ readonly default?: unknown }>): void {
  // What servers may answer at most. The process has stricter limits for each kind of answer.
  const maxCharacters = 4 * 2 ** 20;
  const maxErrorCharacters = 4_000;
  const { parentPort: port, workerData } = process.getBuiltinModule("node:worker_threads");
  if (port === null) return;
  const phases: Record<string, string> = {
    runStart: "HOOK_PHASE_RUN_START",
    stepStart: "HOOK_PHASE_STEP_START",
    beforeInference: "HOOK_PHASE_BEFORE_INFERENCE",
    afterInference: "HOOK_PHASE_AFTER_INFERENCE",
    toolGate: "HOOK_PHASE_TOOL_GATE",
    beforeTool: "HOOK_PHASE_BEFORE_TOOL",
    afterTool: "HOOK_PHASE_AFTER_TOOL",
    stepEnd: "HOOK_PHASE_STEP_END",
    runEnd: "HOOK_PHASE_RUN_END",
    activate: "HOOK_PHASE_ACTIVATE",
    deactivate: "HOOK_PHASE_DEACTIVATE",
  };
  const running = new Map<number, AbortController>();
  const loaded: Promise<Plugin> = load(workerData.module).then((module) => {
    const plugin: unknown = module.default;
    if (typeof plugin !== "object" || plugin === null) {
      throw new Error("its module has no default export that is an object");
    }
    return plugin as Plugin;
  });
  let loadError: unknown;
  // Each request reports it.
  loaded.catch((error: unknown) => {
    loadError = error;
  });
  const describe = (plugin: Plugin) => ({
    id: plugin.id,
    version: plugin.version,
    phases: Object.keys(plugin.hooks ?? {}).map((name) => {
      const phase = phases[name];
      if (phase === undefined) throw new Error(`there is no phase "${name}"`);
      return phase;
    }),
    sectionSchema: plugin.sectionSchema,
    stateKeys: Object.entries(plugin.state ?? {}).map(([name, { merge, schema }]) => ({
      name,
      merge: `MERGE_MODE_${merge.toUpperCase()}`,
      schema,
    })),
    tools: Object.entries(plugin.tools ?? {}).map(([name, tool]) => ({
      name,
      description: tool.description,
      inputSchema: tool.inputSchema,
      permissionClass: tool.permissionClass,
      idempotent: tool.idempotent,
      timeLimit: tool.timeLimitMs && `${tool.timeLimitMs / 1_000}s`,
    })),
    deadline: plugin.deadlineMs && `${plugin.deadlineMs / 1_000}s`,
    handlesActions: plugin.onAction !== undefined,
  });
  const answerTo = async (request: ThreadRequest, signal: AbortSignal): Promise<unknown> => {
    const plugin = await loaded;
    if (request.kind === "hook") {
      const { phase } = request.request;
      const names = Object.keys(phases).filter((name) => phases[name] === phase);
      const handlers = { ...plugin.hooks, onAction: plugin.onAction } as Record<string, Handler>;
      const hook = handlers[phase === "HOOK_PHASE_ACTION" ? "onAction" : (names[0] ?? "")];
      if (hook === undefined) throw new Error(`it has no hook for ${phase}`);
      return (await hook(request.request, signal)) ?? {};
    }
    if (request.kind === "tool") {
      const tool = plugin.tools?.[request.request.name ?? ""];
      if (tool === undefined) throw new Error(`it has no tool "${request.request.name}"`);
      try {
        const content: unknown = await tool.execute(request.request as never, signal);
        return { content: String(content), isError: false };
      } catch (error) {
        return { content: error instanceof Error ? error.message : String(error), isError: true };
      }
    }
    return describe(plugin);
  };
  // As text, because an answer may have what cannot be sent to another thread.
  const bounded = (answer: unknown): unknown => {
    const text = JSON.stringify(answer);
    if (text.length <= maxCharacters) return JSON.parse(text);
    throw new Error(`it answered ${text.length} characters, more than ${maxCharacters}`);
  };
  port.on("message", (request: ThreadRequest) => {
    const { id } = request;
    if (request.kind === "abort") {
      running.get(id)?.abort();
      port.postMessage({ id, aborted: true });
      return;
    }
    const abort = new AbortController();
    running.set(id, abort);
    port.postMessage({ id, began: true });
    answerTo(request, abort.signal)
      .then((answer) => port.postMessage({ id, answer: bounded(answer) }))
      .catch((error: unknown) => {
        const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        const isLoad = loadError !== undefined && error === loadError;
        port.postMessage({ id, error: text.slice(0, maxErrorCharacters), isLoad });
      })
      .finally(() => running.delete(id));
  });
}
