import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import { MemoryObjects } from "@reeve/jetstream/objects/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { CollectionEditor } from "@reeve/knowledge/collection-editor";
import { Collections } from "@reeve/knowledge/collections";
import { parseText } from "@reeve/knowledge/test/text-parser";
import { hashedEmbedder } from "@reeve/models/embeddings/hashed-embedder";
import type { Benchmark, Figure } from "../../figure.ts";
import { timesOf } from "../../measure.ts";
import type { Question } from "./generated-corpus.ts";
import { generatedCorpus } from "./generated-corpus.ts";

const user = { tenant: "bench", subject: "bench" };
const collectionId = "corpus";
const limit = 5;

const kinds = ["same words", "other forms", "misspelled"] as const;

type Search = (query: string) => Promise<readonly string[]> | readonly string[];

/**
 * Recall among five passages, and the time of a search, over a generated corpus with known answers. The floor scans all texts for the words
 * of the query. The embeddings are those of the provider `scripted`: they show what fusion does with other forms of words, not with meaning.
 */
export const knowledge: Benchmark = {
  name: "knowledge",
  maxMs: 180_000,
  async *measure(signal): AsyncIterable<Figure> {
    const { documents, questions } = generatedCorpus({ documents: 400, sections: 25 });
    const stores = {
      table: new MemoryTable<CollectionRecord>(),
      objects: new MemoryObjects({ maxBytes: 64 * 1_048_576 }),
    };
    const embedder = hashedEmbedder("bench");
    const editor = new CollectionEditor(stores, { parse: parseText, now: () => 0, embedder });
    await editor.create(user, { collectionId, title: "", readers: [] }, signal);
    for (const [name, text] of documents) {
      const draft = { name, mediaType: "", read: async () => Buffer.from(text) };
      await editor.addDocument(user, collectionId, draft, signal);
    }
    const ways = {
      words: searchIn(new Collections(stores), signal),
      hybrid: searchIn(new Collections(stores, embedder), signal),
    };
    const sections = questions.map(({ section }) => section.toLowerCase());
    const scan: Search = (query) => scanned(sections, query);
    const asked = questions.filter((_, index) => index % 200 === 0);
    const queries = asked.map((each) => each["same words"]);
    const scanTimes = await timesPerQuery(scan, queries);
    const scanRecall = new Map<string, number>();
    for (const kind of kinds) scanRecall.set(kind, await recallOf(scan, kind, asked));
    for (const [way, search] of Object.entries(ways)) {
      const first = await timesOf(1, () => search("first"));
      yield { name: `index of ${sections.length} sections, ${way}`, unit: "ms", values: first };
      for (const kind of kinds) {
        const name = `recall@${limit}, ${kind}, ${way}`;
        const values = [await recallOf(search, kind, asked)];
        yield { name, unit: "%", values, floors: [scanRecall.get(kind) ?? 0] };
      }
      yield {
        name: `a search, ${way}`,
        unit: "ms",
        values: await timesPerQuery(search, queries),
        floors: scanTimes,
      };
    }
  },
};

function searchIn(collections: Collections, signal: AbortSignal): Search {
  return async (query) => {
    const wanted = { collectionIds: [collectionId], query, limit };
    const { passages } = await collections.search(user, wanted, signal);
    return passages.map(({ text }) => text);
  };
}

async function recallOf(
  search: Search,
  kind: (typeof kinds)[number],
  asked: readonly Question[],
): Promise<number> {
  let found = 0;
  for (const { answer, [kind]: query } of asked) {
    // Whole, so that the number of one section is not a part of that of another.
    const isAnswer = new RegExp(`${answer}\\b`);
    if ((await search(query)).some((text) => isAnswer.test(text))) found += 1;
  }
  return (100 * found) / asked.length;
}

async function timesPerQuery(search: Search, queries: readonly string[]) {
  const times: number[] = [];
  for (const query of queries) times.push(...(await timesOf(1, () => search(query))));
  return times;
}

/** Returns the texts with the most words of a query. */
function scanned(texts: readonly string[], query: string): readonly string[] {
  const words = query
    .toLowerCase()
    .split(/\W+/)
    .filter((word) => word.length > 3);
  const counted = texts.map((text) => ({
    text,
    count: words.filter((word) => text.includes(word)).length,
  }));
  const ordered = counted.toSorted((a, b) => b.count - a.count);
  return ordered.slice(0, limit).map(({ text }) => text);
}
