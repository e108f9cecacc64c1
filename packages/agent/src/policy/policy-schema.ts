import { fromJson } from "@bufbuild/protobuf";
import type { Limits } from "@reeve/contracts/agent";
import { LimitsSchema } from "@reeve/contracts/agent";
import { PermissionClass } from "@reeve/contracts/tool";
import { allRoles, roleName, roleNamed } from "@reeve/platform/rpc/roles";
import { ruleViolations } from "@reeve/platform/strict/assert-valid";
import { readShape } from "@reeve/platform/strict/read-shape";
import { z } from "zod";
import { approvalTimesSchema } from "../approval-times/approval-times-schema.ts";
import { guardrailsSchema } from "../guardrails/guardrails-section.ts";
import { policyPermission } from "../permission/permission-levels.ts";
import { permissionSchema } from "../permission/permission-schema.ts";
import { parseNetworkEntry } from "../spec/network-entry.ts";
import { limitValues } from "../spec/limits.ts";
import { parseNamePattern } from "../tools/name-pattern.ts";
import { permissionClassOf } from "../tools/permission-classes.ts";
import { closestName } from "../text/closest-name.ts";
import type { Policy, PolicyLists, PolicyRule } from "./policy.ts";
import { runContexts } from "./policy.ts";

/** How many rules a policy may have, and how many entries a list of it. */
export const maxRules = 200;
const maxEntries = 1_000;

const text = z.string().min(1, "is empty").max(255, "has more than 255 characters");

function listOf<Item>(entry: z.ZodType<Item>) {
  // An empty list of what is allowed would look like no list.
  const empty = 'is empty; leave it out, or deny "*"';
  return z.array(entry).min(1, empty).max(maxEntries, `has more than ${maxEntries} entries`);
}

/** Reads each entry of a list by a function that returns undefined for what it does not accept. */
function parsed<Item>(
  parse: (text: string) => Item | undefined,
  expected: (text: string) => string,
) {
  return text.transform((given, context): Item => {
    const item = parse(given);
    if (item !== undefined) return item;
    context.addIssue(expected(given));
    return z.NEVER;
  });
}

const pattern = parsed(parseNamePattern, (given) => `"${given}" ends with an escape character`);
const patterns = listOf(pattern);

const classNames = Object.keys(PermissionClass)
  .map((name) => name.toLowerCase())
  .filter((name) => permissionClassOf(name) !== undefined);

/** A class, or a pattern that matches one: a pattern for nothing would be a mistake that nobody sees. */
const classPattern = parsed(
  (given) => {
    const found = parseNamePattern(given);
    return found !== undefined && classNames.some((name) => found.matches(name))
      ? found
      : undefined;
  },
  (given) => oneOf(given, "class", classNames),
);

const networkHost = parsed(
  (given) => parseNetworkEntry(given, "operator"),
  (given) => `"${given}" is not host:port, such as example.org:443, *.example.org:443, or *:443`,
);

/** A class that the policy may grant. */
const grantable = parsed(
  (given) => (given === "execute" ? PermissionClass.EXECUTE : undefined),
  (given) => `"${given}" cannot be granted: only execute can; an agent names other classes itself`,
);

const role = parsed(roleNamed, (given) => oneOf(given, "role", [...allRoles].map(roleName)));

const context = parsed(
  (given) => runContexts.find((known) => known === given),
  (given) => oneOf(given, "context", runContexts),
);

const lists: z.ZodType<PolicyLists> = z
  .strictObject({
    tool_classes: listOf(classPattern).optional(),
    tools: patterns.optional(),
    mcp_servers: patterns.optional(),
    providers: patterns.optional(),
    models: patterns.optional(),
    network_hosts: listOf(networkHost).optional(),
    images: patterns.optional(),
    pools: patterns.optional(),
  })
  .refine((given) => Object.keys(given).length > 0, 'lists nothing; leave it out, or deny "*"')
  .transform(withoutUndefined);

/** Limits in the form of a limits file. */
const limits = z.record(z.string(), z.json()).transform((given, { issues }): Limits => {
  const shape = readShape(LimitsSchema, given, { nulls: "refused" });
  const report = (field: string, message: string) =>
    void issues.push({
      code: "custom",
      path: field === "" ? [] : field.split("."),
      message,
      input: given,
    });
  for (const { field, description } of shape.violations) report(field, description);
  if (shape.violations.length > 0) return z.NEVER;
  const message = fromJson(LimitsSchema, shape.json);
  for (const { field, description } of ruleViolations(LimitsSchema, message)) {
    report(field, description);
  }
  if (limitValues(message).size === 0) report("", "sets no limit; leave it out");
  return message;
});

const ruleName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}$/,
    "is not a name of at most 63 characters: a-z, 0-9, and . _ -",
  );

/** Guards as they are written: a run records them, and every worker reads them again. */
const guardrails = z.record(z.string(), z.json()).superRefine((given, { addIssue }) => {
  const { error } = guardrailsSchema.safeParse(given);
  for (const { path, message } of error?.issues ?? []) {
    addIssue({ code: "custom", path, message });
  }
});

const rule = z
  .strictObject({
    name: ruleName,
    when: z
      .strictObject({
        tenants: patterns.optional(),
        roles: listOf(role).optional(),
        contexts: listOf(context).optional(),
        threads: patterns.optional(),
      })
      .optional(),
    allow: lists.optional(),
    deny: lists.optional(),
    grant: z.strictObject({ tool_classes: listOf(grantable) }).optional(),
    limits: limits.optional(),
    permission: permissionSchema.optional(),
    guardrails: guardrails.optional(),
  })
  .refine(
    ({ allow, deny, grant, limits: bounds, permission, guardrails: guards }) =>
      [allow, deny, grant, bounds, permission, guards].some((part) => part !== undefined),
    "has no effect; add allow, deny, grant, limits, permission, or guardrails",
  )
  .transform(
    ({
      name,
      when,
      allow = {},
      deny = {},
      grant,
      limits: bounds,
      permission,
      guardrails: guards,
    }): PolicyRule => ({
      name,
      tenants: when?.tenants,
      roles: when?.roles && new Set(when.roles),
      contexts: when?.contexts && new Set(when.contexts),
      threads: when?.threads,
      allow,
      deny,
      grant: new Set(grant?.tool_classes),
      limits: bounds,
      permission: permission && policyPermission(name, permission),
      guardrails: guards,
    }),
  );

/** The content of a policy file. */
export const policySchema: z.ZodType<Policy> = z.strictObject({
  rules: z
    .array(rule)
    .max(maxRules, `has more than ${maxRules} rules`)
    .superRefine((rules, { addIssue }) => {
      const seen = new Set<string>();
      for (const [index, { name }] of rules.entries()) {
        if (seen.has(name))
          addIssue({
            code: "custom",
            path: [index, "name"],
            message: `"${name}" is the name of an earlier rule`,
          });
        seen.add(name);
      }
    }),
  approvals: approvalTimesSchema.optional(),
});

function oneOf(given: string, noun: string, known: readonly string[]): string {
  const closest = closestName(given, known);
  const hint = closest === undefined ? "" : `; did you mean ${closest}?`;
  return `"${given}" is no ${noun}${hint}; there are: ${known.join(", ")}`;
}

/** An absent list differs from one that is undefined. */
function withoutUndefined(given: {
  readonly [Key in keyof PolicyLists]: PolicyLists[Key] | undefined;
}): PolicyLists {
  return Object.fromEntries(Object.entries(given).filter(([, list]) => list !== undefined));
}
