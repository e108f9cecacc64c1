import type { Ajv } from "ajv";
import { _ } from "ajv";
import type { WorkBudget } from "./work-budget.ts";

/** What following a reference counts, in units of work. */
const unitsPerReference = 100;

/** Has each reference that a validation follows count as work: with references a small schema can ask for work without end. */
export function countReferences(ajv: Ajv, work: WorkBudget): void {
  for (const keyword of ["$ref", "$dynamicRef"]) {
    const usual = ajv.getKeyword(keyword);
    // An earlier draft does not know the dynamic ones.
    if (typeof usual !== "object" || !("code" in usual)) continue;
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      ...usual,
      keyword,
      code(context, ruleType) {
        const spend = context.gen.scopeValue("func", { ref: () => work.spend(unitsPerReference) });
        context.gen.code(_`${spend}()`);
        usual.code(context, ruleType);
      },
    });
  }
}
