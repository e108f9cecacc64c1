/** Secrets that are shorter are not redacted: such texts occur by chance. */
export const minSecretLength = 8;

/**
 * Returns the forms in which a secret can occur in a text: as it is, in JSON, in a URL or a form, in hexadecimal, and in base64
 * at every offset, such as in the header of basic authentication. Returns nothing for a secret that is too short to be recognized.
 */
export function secretForms(value: string): readonly string[] {
  if (value.length < minSecretLength) return [];
  const inUrl = percentEncoded(value);
  const forms = new Set([value, ...inJsonOfAll(value)]);
  for (const text of [value, inUrl]) {
    const bytes = Buffer.from(text);
    // The text of bytes that are read one character per byte.
    forms.add(bytes.toString("latin1"));
    for (const form of base64Forms(bytes)) forms.add(form);
    const hex = bytes.toString("hex");
    forms.add(hex).add(hex.toUpperCase());
  }
  const inForm = inUrl.replaceAll("%20", "+");
  for (const form of [inUrl, inForm]) forms.add(form).add(lowerCaseCodes(form));
  return [...forms].filter((form) => form.length >= minSecretLength);
}

/** What writers of JSON escape besides what they must: PHP slashes, Go characters of HTML, and Python all but ASCII. */
const jsonEscapes: readonly ((json: string) => string)[] = [
  (json) => json,
  (json) => json.replaceAll("/", String.raw`\/`),
  (json) => json.replaceAll(/[<>&\u2028\u2029]/g, codeUnit),
  inAscii,
  (json) => inAscii(json.replaceAll("/", String.raw`\/`)),
];

/** Returns a text as it is in JSON, and in JSON inside of JSON, of several languages. */
function inJsonOfAll(text: string): readonly string[] {
  const once = jsonEscapes.map((escape) => escape(inJson(text)));
  return [...once, ...once.flatMap((json) => jsonEscapes.map((escape) => escape(inJson(json))))];
}

function inAscii(json: string): string {
  return json.replaceAll(/[^\0-\x7F]/g, codeUnit);
}

/** Returns the escape of a character of the basic plane. Called for each half of a pair. */
function codeUnit(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Lone surrogates have no encoding. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function lowerCaseCodes(text: string): string {
  return text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

/** The characters that depend only on these bytes, whatever comes before and after them. */
function base64Forms(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor((shifted.length * 8) / 6);
    return (["base64", "base64url"] as const).map((alphabet) =>
      shifted.toString(alphabet).slice(from, to),
    );
  });
}
