import type { Ajv } from "ajv";
import { _ } from "ajv";
import type { WorkBudget } from "./work-budget.ts";

/** The work of following one reference. */
const unitsPerReference = 100;

/** Makes each reference that a validation follows count as work, because references let a small schema cause unlimited work. */
export function countReferences(ajv: Ajv, work: WorkBudget): void {
  for (const keyword of ["$ref", "$dynamicRef"]) {
    const original = ajv.getKeyword(keyword);
    // Draft 7 has no dynamic references.
    if (typeof original !== "object" || !("code" in original)) continue;
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      ...original,
      keyword,
      code(context, ruleType) {
        const spend = context.gen.scopeValue("func", { ref: () => work.spend(unitsPerReference) });
        context.gen.code(_`${spend}()`);
        original.code(context, ruleType);
      },
    });
  }
}
