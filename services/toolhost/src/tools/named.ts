import { z } from "zod";

const validName = /^[A-Za-z0-9-]{1,32}$/;

/** A record of settings, whose keys may be part of the names of tools. `taken` lists names that are in use elsewhere. */
export function named<Value>(value: z.ZodType<Value>, taken: readonly string[] = []) {
  return z.record(z.string(), value).superRefine((entries, context) => {
    for (const name of Object.keys(entries)) {
      if (!validName.test(name)) {
        const message = "a name may contain only letters, digits, and -, at most 32 of them";
        context.addIssue({ code: "custom", path: [name], message });
      } else if (taken.includes(name)) {
        context.addIssue({
          code: "custom",
          path: [name],
          message: "is a reserved name",
        });
      }
    }
  });
}
