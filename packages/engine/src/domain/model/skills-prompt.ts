import { openSkillName } from "@reeve/agent/tools/open-skill";
import { runtimeSource } from "@reeve/agent/tools/runtime-tools";
import { workingAgent } from "../delegates/working-agent.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

/** Returns the list of skills that a frame can open; empty if it can open none. */
export function skillsPrompt(state: RunState, frame: Frame): string {
  const skills = workingAgent(state, frame).prepared?.skills ?? [];
  if (skills.length === 0 || frame.tools.get(openSkillName)?.source !== runtimeSource) return "";
  const lines = skills.map(({ name, description }) => `- ${name}: ${oneLine(description)}`);
  return `You have skills: instructions for kinds of work. Before work that one of them is about, call ${openSkillName} with its name, and follow what it says. The skills:\n${lines.join("\n")}`;
}

/** A description of several lines must not look like another skill. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
