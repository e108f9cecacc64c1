import { createHash } from "node:crypto";
import type { ModelRequest } from "@reeve/engine/ports/model-provider";

/** How many prompts are counted at a time. */
const maxPrompts = 1_000;

/** Counts how many times each prompt has failed, until it is answered. */
export class FailureCounts {
  readonly #counts = new Map<string, number>();

  /** Whether the prompt has to fail once more, at most `times` times. Counts this failure. */
  isDue(request: ModelRequest, times: number): boolean {
    const key = keyOf(request);
    const count = this.#counts.get(key) ?? 0;
    this.#counts.delete(key);
    if (count >= times) return false;
    const [oldest] = this.#counts.keys();
    if (oldest !== undefined && this.#counts.size >= maxPrompts) this.#counts.delete(oldest);
    this.#counts.set(key, count + 1);
    return true;
  }
}

function keyOf({ model, instructions, messages }: ModelRequest): string {
  const prompt = JSON.stringify([model.id, model.upstreamName, instructions, messages]);
  return createHash("sha256").update(prompt).digest("base64");
}
