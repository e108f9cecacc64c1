import type { AgentSpec, SkillDescriptor } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { suggestion } from "../tools/catalog-filter.ts";
import type { Toolbelt } from "../tools/toolbelt.ts";
import { openSkillName } from "../tools/open-skill.ts";

/** As the contract says, whose violation is enough for more. */
const maxSkills = 32;

/** Returns a violation for each skill of a spec that the deployment does not have. */
export function skillViolations(
  { skills }: Pick<AgentSpec, "skills">,
  offered: readonly SkillDescriptor[],
): readonly Violation[] {
  if (skills.length > maxSkills) return [];
  const known = offered.map(({ name }) => name);
  return skills.flatMap((name, index) => {
    if (known.includes(name)) return [];
    const list = known.length === 0 ? "it has none" : `it has: ${known.slice(0, 30).join(", ")}`;
    const description = `the deployment has no skill "${name}"; ${list}${suggestion(name, known)}`;
    return [{ field: `skills[${index}]`, description, reason: "SKILL_NOT_FOUND" }];
  });
}

/** Returns a warning if an agent has skills and cannot open them. */
export function skillWarnings(
  { skills }: Pick<AgentSpec, "skills">,
  { tools, excluded }: Pick<Toolbelt, "tools" | "excluded">,
): readonly string[] {
  if (skills.length === 0 || tools.some(({ name }) => name === openSkillName)) return [];
  const reason = excluded.get(openSkillName) ?? "it is not offered";
  return [
    `skills: the agent cannot open them, because it does not have ${openSkillName}: ${reason}`,
  ];
}

/** Returns the skills of an agent, ordered by name. Those that the deployment does not have are left out. */
export function skillsOf(
  { skills }: Pick<AgentSpec, "skills">,
  offered: readonly SkillDescriptor[],
): readonly SkillDescriptor[] {
  const named = new Set(skills);
  return offered
    .filter(({ name }) => named.has(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
