import { setImmediate as yieldTurn } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import type { DocumentPassage, Passage } from "@reeve/contracts/extensions/knowledge";
import { queryWords, wordsOf } from "@reeve/memory/words-of";

/** A passage that matches, without the collection that it is from. */
export type Match = Omit<Passage, "$typeName" | "$unknown" | "collectionId">;

/** A document that an index has. */
export interface IndexedDocument {
  readonly documentId: string;
  readonly name: string;
}

/** Adding this many passages takes a few milliseconds. Other work of the process then gets a turn. */
const passagesPerTurn = 100;
/** The name of a document counts less than its text. */
const nameWeight = 0.5;

/**
 * The words of the documents of a collection, in memory: SQLite with FTS5. Words are those by which memories are compared, so that scripts
 * without spaces are found too; English endings do not count. It can be rebuilt from the documents at any time.
 */
export class PassageIndex {
  readonly #database = new DatabaseSync(":memory:");
  readonly #insertPassage;
  readonly #insertWords;
  readonly #select;

  constructor() {
    this.#database.exec(`
      create table passages (
        id integer primary key, object text, document_id text, name text, page integer, first_line integer, last_line integer, text text
      );
      create index passages_by_object on passages (object);
      create virtual table words using fts5 (name, body, content='', contentless_delete=1, tokenize='porter unicode61');
    `);
    this.#insertPassage = this.#database.prepare(
      "insert into passages (object, document_id, name, page, first_line, last_line, text) values (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#insertWords = this.#database.prepare(
      "insert into words (rowid, name, body) values (?, ?, ?)",
    );
    this.#select = this.#database.prepare(
      `select document_id, name, page, first_line, last_line, text, -score as score from passages
       join (select rowid, bm25(words, ${nameWeight}, 1.0) as score from words where words match ? order by score limit ?) as found
       on passages.id = found.rowid order by score desc, passages.id`,
    );
  }

  /** Adds a document. It is found once all of it is added. */
  async add(
    object: string,
    { documentId, name }: IndexedDocument,
    passages: readonly DocumentPassage[],
  ): Promise<void> {
    const nameWords = wordsOf(name).join(" ");
    for (const [index, { page, firstLine, lastLine, text }] of passages.entries()) {
      const row = [object, documentId, name, page, firstLine, lastLine, text] as const;
      const { lastInsertRowid } = this.#insertPassage.run(...row);
      this.#insertWords.run(lastInsertRowid, nameWords, wordsOf(text).join(" "));
      if (index % passagesPerTurn === passagesPerTurn - 1) await yieldTurn();
    }
  }

  /** Removes what `add` added for an object. */
  remove(object: string): void {
    this.#database
      .prepare("delete from words where rowid in (select id from passages where object = ?)")
      .run(object);
    this.#database.prepare("delete from passages where object = ?").run(object);
  }

  /** Returns the passages with a word of the query, best match first. */
  search(query: string, limit: number): readonly Match[] {
    const words = [...queryWords(query)].slice(0, maxQueryWords);
    if (words.length === 0) return [];
    const expression = words.map((word) => `"${word.replaceAll('"', "")}"`).join(" OR ");
    return this.#select.all(expression, limit).map((row) => ({
      documentId: String(row["document_id"]),
      documentName: String(row["name"]),
      page: Number(row["page"]),
      firstLine: Number(row["first_line"]),
      lastLine: Number(row["last_line"]),
      text: String(row["text"]),
      score: Number(row["score"]),
    }));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** SQLite limits the depth of an expression. */
const maxQueryWords = 200;
