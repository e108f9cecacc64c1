import { Signalled } from "./signalled.ts";

/** Any number of parties that wait for the same thing. */
export class Audience {
  readonly #members = new Set<Signalled>();

  get size(): number {
    return this.#members.size;
  }

  say(): void {
    for (const member of this.#members) member.say();
  }

  join(): Signalled {
    const member = new Signalled();
    this.#members.add(member);
    return member;
  }

  leave(member: Signalled): void {
    this.#members.delete(member);
  }
}
