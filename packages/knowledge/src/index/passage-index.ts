import { setImmediate as yieldTurn } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import type { DocumentPassage, Passage } from "@reeve/contracts/extensions/knowledge";
import { queryWords, wordsOf } from "@reeve/memory/words-of";

/** A passage that matches, without the collection that it is from. */
export type Match = Omit<Passage, "$typeName" | "$unknown" | "collectionId">;

/** Where a passage is: the object with the text of its document, and its place there, starting at 0. */
export interface PassagePlace {
  readonly object: string;
  readonly ordinal: number;
}

/** A passage that has a word of a query. */
export interface WordMatch extends PassagePlace {
  readonly match: Match;
}

/** A document that an index has. */
export interface IndexedDocument {
  readonly documentId: string;
  readonly name: string;
}

/** Adding or removing this many passages takes a few milliseconds. Other work of the process then gets a turn. */
const passagesPerTurn = 100;
/** The name of a document counts less than its text. */
const nameWeight = 0.5;
/** Each word reads the list of its passages, while all other work of the process waits. */
const maxQueryWords = 32;

/**
 * The words of the documents of a collection, in memory: SQLite with FTS5. Words are those by which memories are compared, so that scripts
 * without spaces are found too; English endings do not count. It can be rebuilt from the documents at any time. Changes must not overlap.
 */
export class PassageIndex {
  readonly #database = new DatabaseSync(":memory:");
  readonly #insertDocument;
  readonly #insertPassage;
  readonly #insertWords;
  readonly #select;
  readonly #selectAt;

  constructor() {
    this.#database.exec(`
      create table documents (id integer primary key, object text unique, document_id text, name text);
      create table passages (
        id integer primary key, document integer, ordinal integer, page integer, first_line integer, last_line integer, text text
      );
      create unique index passages_by_place on passages (document, ordinal);
      create virtual table words using fts5 (name, body, content='', contentless_delete=1, tokenize='porter unicode61');
    `);
    const prepare = (sql: string) => this.#database.prepare(sql);
    this.#insertDocument = prepare(
      "insert into documents (object, document_id, name) values (?, ?, ?)",
    );
    this.#insertPassage = prepare(
      "insert into passages (document, ordinal, page, first_line, last_line, text) values (?, ?, ?, ?, ?, ?)",
    );
    this.#insertWords = prepare("insert into words (rowid, name, body) values (?, ?, ?)");
    const columns = "object, ordinal, document_id, name, page, first_line, last_line, text";
    this.#select = prepare(
      `select ${columns}, -score as score
       from (select rowid, bm25(words, ${nameWeight}, 1.0) as score from words where words match ? order by score limit ?) as found
       join passages on passages.id = found.rowid join documents on documents.id = passages.document
       order by score desc, passages.id`,
    );
    this.#selectAt = prepare(
      `select ${columns} from documents join passages on passages.document = documents.id where object = ? and ordinal = ?`,
    );
  }

  /** Adds a document. It is found once all of it is added. After an exception, none of it is. */
  async add(
    object: string,
    { documentId, name }: IndexedDocument,
    passages: readonly DocumentPassage[],
  ): Promise<void> {
    const { lastInsertRowid: document } = this.#insertDocument.run(object, documentId, name);
    try {
      for (const [ordinal, { page, firstLine, lastLine, text }] of passages.entries()) {
        const row = [document, ordinal, page, firstLine, lastLine, text] as const;
        const { lastInsertRowid } = this.#insertPassage.run(...row);
        // The first passage stands for the document.
        const nameWords = ordinal === 0 ? wordsOf(name).join(" ") : "";
        this.#insertWords.run(lastInsertRowid, nameWords, wordsOf(text).join(" "));
        if (ordinal % passagesPerTurn === passagesPerTurn - 1) await yieldTurn();
      }
    } catch (error) {
      await this.remove(object);
      throw error;
    }
  }

  /** Removes what `add` added for an object. */
  async remove(object: string): Promise<void> {
    const of = "select passages.id from passages join documents on documents.id = document";
    const some = `${of} where object = ? limit ${passagesPerTurn}`;
    const dropWords = this.#database.prepare(`delete from words where rowid in (${some})`);
    const drop = this.#database.prepare(`delete from passages where id in (${some})`);
    for (;;) {
      dropWords.run(object);
      if (drop.run(object).changes === 0) break;
      await yieldTurn();
    }
    this.#database.prepare("delete from documents where object = ?").run(object);
  }

  /** Returns the passages with a word of the query, best match first. Of a long query, the longest words count. */
  search(query: string, limit: number): readonly WordMatch[] {
    const words = [...queryWords(query)].toSorted((a, b) => b.length - a.length);
    const counted = words.slice(0, maxQueryWords);
    if (counted.length === 0) return [];
    const expression = counted.map((word) => `"${word.replaceAll('"', "")}"`).join(" OR ");
    return this.#select.all(expression, limit).map((row) => ({
      object: String(row["object"]),
      ordinal: Number(row["ordinal"]),
      match: matchOf(row, Number(row["score"])),
    }));
  }

  /** Returns the passage at a place, with a score. Undefined: the document was removed. */
  at({ object, ordinal }: PassagePlace, score: number): Match | undefined {
    const row = this.#selectAt.get(object, ordinal);
    return row && matchOf(row, score);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function matchOf(row: Readonly<Record<string, unknown>>, score: number): Match {
  return {
    documentId: String(row["document_id"]),
    documentName: String(row["name"]),
    page: Number(row["page"]),
    firstLine: Number(row["first_line"]),
    lastLine: Number(row["last_line"]),
    text: String(row["text"]),
    score,
  };
}
