import { PermissionClass } from "@reeve/contracts/tool";
import { runtimeTool } from "./runtime-tool.ts";

export const openSkillName = "open_skill";

/** The tool with which a model reads a skill. Only agents with skills have it. */
export const openSkill = runtimeTool(
  openSkillName,
  PermissionClass.KNOWLEDGE,
  "Opens a skill: returns its instructions and the list of its files, or one of these files.",
  {
    name: { type: "string", description: "Name of the skill." },
    file: {
      type: ["string", "null"],
      description: "Path of a file of the skill. Left out: its instructions.",
    },
    offset: {
      type: "integer",
      minimum: 0,
      description: "The character to start at. Default: 0.",
    },
  },
  ["name"],
);
