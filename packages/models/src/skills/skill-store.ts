import type { Skill } from "@reeve/agent/skills/skill";
import type { SkillDescriptor } from "@reeve/contracts/agent";
import type { SkillSource } from "@reeve/engine/ports/skill-source";
import { settledWithin } from "@reeve/platform/async/settled-within";

/** How large the earlier versions may be that are kept for runs in progress. */
const maxEarlierBytes = 67_108_864;

/** The skills of this runtime, and the latest of their earlier versions, which runs in progress may still open. */
export class SkillStore implements SkillSource {
  #current: readonly Skill[];
  /** By name and digest, the latest last. */
  readonly #versions = new Map<string, Skill>();
  readonly #settleMs: number;
  /** Called after each change. */
  readonly #waiting = new Set<() => void>();

  /** `settleMs` is the time within which a change of the skills is seen here. Default: 0, for skills that never change. */
  constructor(skills: readonly Skill[], { settleMs = 0 }: { readonly settleMs?: number } = {}) {
    this.#current = skills;
    this.#settleMs = settleMs;
    this.replace(skills);
  }

  get descriptors(): readonly SkillDescriptor[] {
    return this.#current.map(({ descriptor }) => descriptor);
  }

  /** Puts other skills in the place of the current ones. */
  replace(skills: readonly Skill[]): void {
    this.#current = skills;
    this.add(skills);
  }

  /** Adds versions that runs may open, before they become the current ones. */
  add(skills: readonly Skill[]): void {
    for (const skill of skills) {
      const key = keyOf(skill.descriptor);
      this.#versions.delete(key);
      this.#versions.set(key, skill);
    }
    this.#forgetOldest();
    for (const notify of this.#waiting) notify();
  }

  async settle(hasAll: () => boolean, signal: AbortSignal): Promise<void> {
    if (this.#settleMs === 0 || hasAll()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const notify = () => {
      if (hasAll()) resolve();
    };
    this.#waiting.add(notify);
    try {
      await settledWithin(promise, this.#settleMs, signal);
    } finally {
      this.#waiting.delete(notify);
    }
  }

  version(name: string, digest: string): Skill | undefined {
    return this.#versions.get(keyOf({ name, digest }));
  }

  #forgetOldest(): void {
    const current = new Set(this.#current.map(({ descriptor }) => keyOf(descriptor)));
    const earlier = [...this.#versions].filter(([key]) => !current.has(key));
    let bytes = earlier.reduce((sum, [, skill]) => sum + sizeOf(skill), 0);
    for (const [key, skill] of earlier) {
      if (bytes <= maxEarlierBytes) return;
      bytes -= sizeOf(skill);
      this.#versions.delete(key);
    }
  }
}

function sizeOf({ descriptor }: Skill): number {
  return Number(descriptor.sizeBytes);
}

function keyOf({ name, digest }: Pick<SkillDescriptor, "name" | "digest">): string {
  return `${name}/${digest}`;
}
