import { create } from "@bufbuild/protobuf";
import type { ModelCatalog, SkillDescriptor } from "@reeve/contracts/agent";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import type { Skill } from "@reeve/agent/skills/skill";
import type { Table } from "@reeve/jetstream/table/port";
import type { SkillStore } from "@reeve/models/skills/skill-store";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";

const key = "default";
const defaultIntervalMs = 30_000;

interface CatalogSource {
  readonly table: Pick<Table<ModelCatalog>, "get" | "put">;
  readonly skills: SkillStore;
  /** Returns the catalog of now with these skills. */
  readonly catalogWith: (skills: readonly SkillDescriptor[]) => ModelCatalog;
  readonly log: Pick<Logger, "warn">;
  /** Interval between looks at the stored catalog. Default: 30 seconds. */
  readonly intervalMs?: number;
}

/**
 * The catalog as this runtime announces it to gateways. All runtimes write the same record, and the last one wins: they are expected to
 * have the same skills and plugins.
 */
export class AnnouncedCatalog {
  readonly #source: CatalogSource;
  #offered: readonly SkillDescriptor[];
  #written: string | undefined;

  constructor(source: CatalogSource) {
    this.#source = source;
    this.#offered = source.skills.descriptors;
  }

  /** Writes the catalog, and warns if it had skills of another runtime that differ. */
  async announce(signal: AbortSignal): Promise<void> {
    const { table, catalogWith, log } = this.#source;
    const own = digestsOf(this.#offered);
    const before = await table.get(key, signal);
    if (before !== undefined) {
      const stored = digestsOf(before.record.skills);
      if (stored !== own && stored !== this.#written) {
        const skills = differing(before.record.skills, this.#offered);
        log.warn({ skills }, "the catalog had other skills; all runtimes need the same ones");
      }
    }
    await table.put(key, catalogWith(this.#offered), signal);
    this.#written = own;
  }

  /**
   * Uses other skills: runs can open them before an agent can name them, and this runtime offers them once they are stored. May be called
   * again if it throws.
   */
  async useSkills(changed: readonly Skill[], signal: AbortSignal): Promise<void> {
    const { skills } = this.#source;
    skills.add(changed);
    this.#offered = changed.map(({ descriptor }) => descriptor);
    await this.announce(signal);
    skills.replace(changed);
  }

  /**
   * Writes the catalog again when it has no skills or no plugins although this runtime has some, until `signal` aborts. Those that differ
   * stay: two runtimes would replace each other's without end.
   */
  async restore(signal: AbortSignal): Promise<void> {
    const { log, intervalMs = defaultIntervalMs } = this.#source;
    for (;;) {
      await sleep(intervalMs, signal);
      try {
        await this.#restoreOnce(signal);
      } catch (error) {
        signal.throwIfAborted();
        const problem = error instanceof Error ? error.message : String(error);
        log.warn({ problem }, "the catalog of models, skills, and plugins cannot be examined");
      }
    }
  }

  async #restoreOnce(signal: AbortSignal): Promise<void> {
    const { table, catalogWith } = this.#source;
    const own = catalogWith(this.#offered);
    if (own.skills.length + own.plugins.length === 0) return;
    const row = await table.get(key, signal);
    if (row === undefined) return await this.announce(signal);
    const { skills, plugins } = row.record;
    const lacksSkills = skills.length === 0 && own.skills.length > 0;
    const lacksPlugins = plugins.length === 0 && own.plugins.length > 0;
    if (!lacksSkills && !lacksPlugins) return;
    // The rest is of the runtime that wrote last, which may have newer settings.
    const restored = {
      ...row.record,
      skills: lacksSkills ? own.skills : skills,
      plugins: lacksPlugins ? own.plugins : plugins,
    };
    await table.put(key, create(ModelCatalogSchema, restored), signal);
    this.#written = digestsOf(restored.skills);
  }
}

function digestsOf(skills: readonly SkillDescriptor[]): string {
  return skills
    .map(({ name, digest }) => `${name}/${digest}`)
    .toSorted()
    .join();
}

/** Returns the names of at most 50 skills that only one of two lists has in its version. */
function differing(
  some: readonly SkillDescriptor[],
  others: readonly SkillDescriptor[],
): readonly string[] {
  const [left, right] = [versionsOf(some), versionsOf(others)];
  const names = [...some, ...others].flatMap(({ name, digest }) =>
    left.has(`${name}/${digest}`) && right.has(`${name}/${digest}`) ? [] : [name],
  );
  return [...new Set(names)].slice(0, 50);
}

function versionsOf(skills: readonly SkillDescriptor[]): ReadonlySet<string> {
  return new Set(skills.map(({ name, digest }) => `${name}/${digest}`));
}
