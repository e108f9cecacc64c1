"""Patterns of paths. Follows workspace_paths.py in its program."""

import fnmatch
import re

MOST_ALTERNATIVES = 64


class Glob:
    """A pattern of paths, matched folder by folder: a state is how much of it the folders so far have used up."""

    def __init__(self, pattern):
        self.patterns = [segments_of(one) for one in alternatives(pattern)]
        self.start = frozenset((index, 0) for index in range(len(self.patterns)))

    def step(self, states, name):
        """Whether a name matches in a folder, and the states of what lies below it."""
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
        """The states, and those that follow when `**` stands for no folder at all."""
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
        raise Complaint(f"the pattern {pattern} is absolute; write it relative to the workspace")
    segments = [segment for segment in pattern.split("/") if segment not in ("", ".")]
    if ".." in segments:
        raise Complaint(f"the pattern {pattern} leads out of the workspace")
    if not segments or "\0" in pattern:
        raise Complaint("the pattern is empty or not valid")
    # Two of `**` in a row say no more than one.
    once = [each for at, each in enumerate(segments) if each != "**" or segments[at - 1 : at] != ["**"]]
    return [None if segment == "**" else re.compile(fnmatch.translate(segment)) for segment in once]


def alternatives(pattern):
    """What a pattern with braces stands for: `a.{js,ts}` for `a.js` and `a.ts`."""
    waiting, done = [pattern], []
    while waiting:
        one = waiting.pop()
        found = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if found is None:
            done.append(one)
        else:
            waiting += [one[: found.start()] + choice + one[found.end() :] for choice in found[1].split(",")]
        if len(waiting) + len(done) > MOST_ALTERNATIVES:
            raise Complaint(f"the pattern {pattern} stands for more than {MOST_ALTERNATIVES} patterns")
    return done
