/** A question about a section of the corpus, in several forms. */
export interface Question {
  readonly section: string;
  /** What only this section says. */
  readonly answer: string;
  readonly "same words": string;
  readonly "other forms": string;
  readonly misspelled: string;
}

const topics = "expense invoice contract laptop badge parking server backup payroll visitor".split(
  " ",
);
const actions = "approve request return extend cancel replace report review archive transfer".split(
  " ",
);
const places = "lisbon oslo madrid vienna dublin prague zurich porto athens warsaw".split(" ");
const fillers =
  "the office keeps a record of each case and informs the team within some days before the next meeting takes place".split(
    " ",
  );

/** Generates documents in Markdown with sections, each with one fact that a question asks for. Always the same. */
export function generatedCorpus({
  documents: count,
  sections,
}: {
  readonly documents: number;
  readonly sections: number;
}) {
  const random = generator(7);
  const pick = (words: readonly string[]) => words[Math.floor(random() * words.length)] ?? "";
  const documents = new Map<string, string>();
  const questions: Question[] = [];
  for (let document = 0; document < count; document++) {
    const texts: string[] = [];
    for (let section = 0; section < sections; section++) {
      const [topic, action, place] = [pick(topics), pick(actions), pick(places)];
      const name = nameOf(random);
      const answer = `code ${document}-${section}`;
      const filler = Array.from({ length: 60 }, () => pick(fillers)).join(" ");
      const text = `# ${name}\n${filler}\nTo ${action} the ${topic} of ${name} in ${place}, use ${answer}.\n${filler}`;
      texts.push(text);
      questions.push({
        section: text,
        answer,
        "same words": `How do I ${action} the ${topic} of ${name} in ${place}?`,
        "other forms": `${name}s ${topic}s ${action}al ${place}`,
        misspelled: `${swapped(action)} ${swapped(topic)} ${swapped(name)} ${place}`,
      });
    }
    documents.set(`document-${document}.md`, texts.join("\n\n"));
  }
  return { documents, questions };
}

function nameOf(random: () => number): string {
  const letter = (from: string) => from[Math.floor(random() * from.length)] ?? "";
  const syllables = Array.from(
    { length: 3 },
    () => `${letter("bdfgklmnprstvz")}${letter("aeiou")}`,
  );
  return `${syllables.join("")}n`;
}

/** Returns a word with two letters in the other order. */
function swapped(word: string): string {
  const middle = Math.floor(word.length / 2);
  return `${word.slice(0, middle - 1)}${word[middle] ?? ""}${word[middle - 1] ?? ""}${word.slice(middle + 1)}`;
}

/** Returns numbers from 0 to 1 that look random, always the same. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
