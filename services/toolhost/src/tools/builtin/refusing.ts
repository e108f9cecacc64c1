import type { Tool } from "@reeve/calls/ports/tool";

/** A tool as it is where it cannot work: each call of it is told why. */
export function refusingTool({ descriptor }: Tool, why: string): Tool {
  return { descriptor, call: () => Promise.resolve({ content: why, isError: true }) };
}
