import { spawn } from "node:child_process";
import { once } from "node:events";

interface Delta {
  readonly content?: string;
  readonly tool_calls?: readonly {
    readonly id?: string;
    readonly function?: { readonly name?: string };
  }[];
}

/** The result of one run of the floor. */
export interface FloorRun {
  readonly firstTokenMs: number;
  readonly turns: number;
}

/**
 * A hand-written agent loop over fetch, in process: no durability, no sandbox, no events. It is the baseline for the overhead of
 * a system. `work` is executed by each of its tools; by default nothing.
 */
export async function floorRun(
  modelUrl: string,
  model: string,
  signal: AbortSignal,
  work: () => Promise<unknown> = () => Promise.resolve(),
): Promise<FloorRun> {
  const startedAt = performance.now();
  const tools = [
    { type: "function", function: { name: "search", parameters: { type: "object" } } },
  ];
  const messages: object[] = [{ role: "user", content: "go" }];
  let firstTokenMs = 0;
  for (let turns = 1; ; turns++) {
    const response = await fetch(`${modelUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, messages, tools, stream: true }),
      signal,
    });
    const calls: string[] = [];
    let buffered = "";
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      buffered += decoder.decode(bytes, { stream: true });
      const lines = buffered.split("\n");
      buffered = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.startsWith("data: {")) continue;
        const chunk = JSON.parse(line.slice(6)) as { choices: readonly { delta?: Delta }[] };
        const delta = chunk.choices[0]?.delta;
        if (delta?.content && firstTokenMs === 0) firstTokenMs = performance.now() - startedAt;
        for (const call of delta?.tool_calls ?? []) if (call.id !== undefined) calls.push(call.id);
      }
    }
    if (calls.length === 0) return { firstTokenMs, turns };
    messages.push({
      role: "assistant",
      tool_calls: calls.map((id) => ({
        id,
        type: "function",
        function: { name: "search", arguments: "{}" },
      })),
    });
    await Promise.all(calls.map(work));
    for (const id of calls) messages.push({ role: "tool", tool_call_id: id, content: "found" });
  }
}

/** Starts the bare interpreter, the minimum for every tool that executes Python. */
export async function barePython(): Promise<void> {
  const child = spawn("/usr/bin/python3", ["-I", "-c", "print(1)"], { stdio: "ignore" });
  await once(child, "exit");
}
