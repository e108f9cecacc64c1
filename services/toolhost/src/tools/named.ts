import { z } from "zod";

const validName = /^[A-Za-z0-9-]{1,32}$/;

/** Settings by names that may stand in the names of tools. */
export function named<Value>(value: z.ZodType<Value>, taken: readonly string[] = []) {
  return z.record(z.string(), value).superRefine((entries, context) => {
    for (const name of Object.keys(entries)) {
      if (!validName.test(name)) {
        const message = "a name has letters, digits and -, and at most 32 of them";
        context.addIssue({ code: "custom", path: [name], message });
      } else if (taken.includes(name)) {
        context.addIssue({
          code: "custom",
          path: [name],
          message: "is the name of something else",
        });
      }
    }
  });
}
