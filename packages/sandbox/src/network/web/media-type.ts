/** The media type of a response, in lowercase and without parameters, and its charset. */
export interface MediaType {
  readonly type: string;
  readonly charset: string | undefined;
}

const textual =
  /^text\/|[/+](?:json|xml|yaml)$|^application\/(?:javascript|x-www-form-urlencoded)$/;

export function mediaTypeOf(contentType: string | undefined): MediaType {
  const [type = "", ...parameters] = (contentType ?? "").split(";").map((part) => part.trim());
  const charset = parameters
    .map((parameter) => /^charset="?([^"]+)"?$/i.exec(parameter)?.[1])
    .find((each) => each !== undefined);
  return { type: type.toLowerCase(), charset };
}

export function isJson({ type }: MediaType): boolean {
  return /[/+]json$/.test(type);
}

/**
 * Returns the text of a body; undefined if it is no text. An unknown charset counts as UTF-8, and bytes that are invalid in a
 * charset become U+FFFD. A body without a media type is text if it is valid UTF-8.
 */
export function textOf(bytes: Uint8Array, { type, charset }: MediaType): string | undefined {
  if (type === "") return validText(bytes);
  return textual.test(type) ? decode(bytes, charset) : undefined;
}

/** Decodes bytes. Default of an absent or unknown charset: UTF-8. */
export function decode(bytes: Uint8Array, charset = "utf-8"): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function validText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
