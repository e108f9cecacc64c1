import { z } from "zod";

/** What one document may have at most. */
export const maxPassages = 10_000;
/** A passage has at most 1,200 characters, and the end of its last line. */
const maxPassageCharacters = 1_400;
const number = z.number().int().min(0).max(0xffff_ffff);

const passageSchema = z
  .strictObject({
    text: z.string().min(1).max(maxPassageCharacters),
    page: number,
    firstLine: number.min(1),
    lastLine: number.min(1),
  })
  .refine(({ firstLine, lastLine }) => firstLine <= lastLine, "ends before it begins");

/** Why a document cannot be read. The process that read it may be in the hands of the document, so it chooses one of these. */
export const problems = {
  damaged: "it is damaged",
  encoding: "it is no text in UTF-8 or UTF-16; save it as UTF-8",
  no_text: "it has no text; scanned pages need text recognition first",
  no_docx: "it is no valid DOCX",
  no_pdf: "it is no valid PDF",
  password: "it is protected by a password",
} as const;

/** The limits that a document can exceed. */
export const limits = {
  text: "it has more than 4 MiB of text",
  passages: `it has more than ${maxPassages} passages`,
  pages: "it has more than 5,000 pages",
  depth: "its elements nest more than 500 deep",
  inflated: "its text inflates to more than 32 MiB",
} as const;

export type Problem = keyof typeof problems;
export type Limit = keyof typeof limits;

/** What the process that reads a document answers. */
export const answerSchema = z.union([
  z.strictObject({
    passages: z.array(passageSchema).min(1).max(maxPassages),
    pageCount: number,
  }),
  z.strictObject({ unreadable: z.enum(keysOf(problems)) }),
  z.strictObject({ tooLarge: z.enum(keysOf(limits)) }),
]);

export type ReaderAnswer = z.infer<typeof answerSchema>;

function keysOf<Key extends string>(record: Readonly<Record<Key, string>>): [Key, ...Key[]] {
  // The type of `keys` forgets what the keys are.
  return Object.keys(record) as [Key, ...Key[]];
}
