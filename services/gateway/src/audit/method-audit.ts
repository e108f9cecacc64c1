import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import type { Audit } from "@reeve/contracts/access/audit";
import { audit, Recording } from "@reeve/contracts/access/audit";

/** Returns how calls of a method are recorded, as its contract declares it. */
export function auditOf(method: DescMethod): Audit {
  const known = declared.get(method);
  if (known !== undefined) return known;
  const found = getOption(method, audit);
  declared.set(method, found);
  return found;
}

/** The options that were read: each read decodes the option. */
const declared = new WeakMap<DescMethod, Audit>();

/** Whether a call of a method changes something, and so is recorded before its response is sent. */
export function isChange(method: DescMethod): boolean {
  return auditOf(method).recording === Recording.CHANGE;
}

/** Returns what a call of a method does: `run.start`; the name of the method if calls that succeed are not recorded. */
export function actionOf(method: DescMethod): string {
  return auditOf(method).action || method.name;
}

/** Returns the name of a method with its service: `reeve.run.v1.RunService/StartRun`. */
export function methodName(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

/** Returns the actions of the methods that only read. */
export function readActionsOf(services: readonly DescService[]): ReadonlySet<string> {
  const methods = services.flatMap((service) => service.methods.map(auditOf));
  const reads = methods.filter(({ recording }) => recording === Recording.READ);
  return new Set(reads.map(({ action }) => action));
}
