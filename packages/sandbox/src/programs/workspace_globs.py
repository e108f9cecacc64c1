"""Glob patterns. Concatenated after workspace_paths.py."""

import fnmatch
import re

MAX_ALTERNATIVES = 64


class Glob:
    """A glob pattern that is matched folder by folder. A state is the part of the pattern that the folders so far have matched."""

    def __init__(self, pattern):
        self.patterns = [segments_of(one) for one in alternatives(pattern)]
        self.start = frozenset((index, 0) for index in range(len(self.patterns)))

    def step(self, states, name):
        """Returns whether a name matches, and the states for the entries below it."""
        matches, below = False, set()
        for index, at in self.reached(states):
            segments = self.patterns[index]
            if at == len(segments):
                continue
            last = at == len(segments) - 1
            if segments[at] is None:
                matches = matches or last
                below.add((index, at))
            elif segments[at].match(name):
                matches = matches or last
                below.add((index, at + 1))
        return matches, frozenset(state for state in below if state[1] < len(self.patterns[state[0]]))

    def reached(self, states):
        """Returns the states, and those that follow if `**` matches no folder."""
        found = set()
        for index, at in states:
            segments = self.patterns[index]
            found.add((index, at))
            while at < len(segments) and segments[at] is None:
                at += 1
                found.add((index, at))
        return found


def segments_of(pattern):
    if pattern.startswith("/"):
        raise Complaint(f"the pattern {pattern} is absolute; use a pattern relative to the workspace")
    segments = [segment for segment in pattern.split("/") if segment not in ("", ".")]
    if ".." in segments:
        raise Complaint(f"the pattern {pattern} points outside the workspace")
    if not segments or "\0" in pattern:
        raise Complaint("the pattern is empty or invalid")
    # Consecutive `**` are equivalent to one.
    once = [each for at, each in enumerate(segments) if each != "**" or segments[at - 1 : at] != ["**"]]
    return [None if segment == "**" else re.compile(fnmatch.translate(segment)) for segment in once]


def alternatives(pattern):
    """Expands the braces of a pattern: `a.{js,ts}` becomes `a.js` and `a.ts`."""
    waiting, done = [pattern], []
    while waiting:
        one = waiting.pop()
        found = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if found is None:
            done.append(one)
        else:
            waiting += [one[: found.start()] + choice + one[found.end() :] for choice in found[1].split(",")]
        if len(waiting) + len(done) > MAX_ALTERNATIVES:
            raise Complaint(f"the pattern {pattern} expands to more than {MAX_ALTERNATIVES} patterns")
    return done
