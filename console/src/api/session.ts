/** The token of this tab. It is kept for the tab only, and never in a place that outlives it. */
const key = "reeve.token";

/** What else a tab keeps for who has signed in begins so. It is forgotten with the session: the next person has not chosen it. */
export const keptPrefix = "reeve.kept.";

type Listener = () => void;
const listeners = new Set<Listener>();
let problem: string | undefined;
let offered: string | undefined;
let renewing: Renewing | undefined;
/** The tokens that this session had before: streams that began with them may still be open. */
const replaced = new Set<string>();

/** Returns a token that replaces one which the server refuses. Undefined: there is none. */
type Renewing = (refused: string) => Promise<string | undefined>;

/** Who is signed in in this tab. */
export interface Session {
  readonly token: string | undefined;
  /** Why the last token is no longer used. */
  readonly problem: string | undefined;
  /** The token of an address that was opened in this tab. It is not used before the person agrees. */
  readonly offered: string | undefined;
}

let session: Session = read();

export function currentSession(): Session {
  return session;
}

export function onSessionChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function signIn(token: string): void {
  forgetKept();
  sessionStorage.setItem(key, token);
  offered = undefined;
  renewing = undefined;
  replaced.clear();
  change(undefined);
}

/** Replaces the token of the session by one for the same person. Returns false if the session has another one by now. */
export function renewToken(before: string, next: string): boolean {
  if (session.token !== before) return false;
  sessionStorage.setItem(key, next);
  replaced.add(before);
  change(problem);
  return true;
}

/** Takes note of how the session gets a new token, until it ends. */
export function renewWith(next: Renewing): void {
  renewing = next;
}

/** Returns the token that replaced one of the session, or renews it if the session has it still. Undefined: it cannot be renewed. */
export async function replaceToken(refused: string): Promise<string | undefined> {
  if (replaced.has(refused)) return session.token;
  const next = await renewing?.(refused);
  return next === session.token ? next : undefined;
}

export function signOut(reason?: string): void {
  forgetKept();
  sessionStorage.removeItem(key);
  renewing = undefined;
  replaced.clear();
  change(reason);
}

/** Continues as before, with a session or without one, and forgets the token that an address offered. */
export function declineOffer(): void {
  offered = undefined;
  change(problem);
}

/**
 * Takes the token of the address, `#token=…`, and removes it from the address bar and the history at once. It is not used before the
 * person agrees, also in a tab without a session: somebody else may have made the address, and would read what the person enters.
 */
export function takeTokenFromAddress(location: Location, history: History): void {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  if (token === "" || token === session.token) return;
  offered = token;
  change(problem);
}

function forgetKept(): void {
  for (const name of Object.keys(sessionStorage)) {
    if (name.startsWith(keptPrefix)) sessionStorage.removeItem(name);
  }
}

function change(reason: string | undefined): void {
  problem = reason;
  session = read();
  for (const listener of listeners) listener();
}

function read(): Session {
  return { token: sessionStorage.getItem(key) ?? undefined, problem, offered };
}
