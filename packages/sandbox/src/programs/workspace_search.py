"""Finds files of the workspace and lines in them. Concatenated after workspace_globs.py. Links are never followed."""

MAX_DEPTH = 100
MAX_NAMED = 5
MAX_LINE = 300
# Characters that end a line or control a terminal.
CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


class Search:
    """A walk over a folder of the workspace, in the order of names, and a record of the paths that were skipped."""

    def __init__(self):
        self.skipped = {}

    def skip(self, why, path):
        self.skipped.setdefault(why, []).append(path)

    def walk(self, folder, prefix, wanted, depth=0):
        """Yields matching entries as (folder, path, entry).

        `wanted` returns, for a name, whether it matches, and the filter for the entries below it, or None.
        """
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = prefix + entry.name
            matches, below = wanted(entry.name)
            if matches:
                yield folder, path, entry
            if below is None or not entry.is_dir(follow_symlinks=False):
                continue
            if depth == MAX_DEPTH:
                self.skip("nested too deeply", path)
                continue
            try:
                inner = os.open(entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            except OSError:
                self.skip("not readable", path)
                continue
            try:
                yield from self.walk(inner, path + "/", below, depth + 1)
            finally:
                os.close(inner)

    def report(self):
        for why, paths in self.skipped.items():
            more = f" and {len(paths) - MAX_NAMED} more" if len(paths) > MAX_NAMED else ""
            print_line(f"[{why}: {', '.join(map(shown, paths[:MAX_NAMED]))}{more}]")


def everything(_):
    return True, everything


def anything_here(_):
    return True, None


def matching(glob, states):
    def wanted(name):
        matches, below = glob.step(states, name)
        return matches, matching(glob, below) if below else None

    return wanted


def list_files(path, recursive, most):
    search = Search()
    parts = parts_of(path)
    wanted = everything if recursive else anything_here
    print_entries(search, search.walk(folder_of(parts), prefix_of(parts), wanted), most, f"{path} is empty")


def glob_files(pattern, path, most):
    search = Search()
    parts = parts_of(path)
    glob = Glob(pattern)
    found = search.walk(folder_of(parts), prefix_of(parts), matching(glob, glob.start))
    print_entries(search, found, most, f"no path in {path} matches {pattern}")


def print_entries(search, found, most, otherwise):
    printed = 0
    for _, path, entry in found:
        if printed == most:
            print_line(f"[truncated after {most} entries; use a deeper path or a narrower pattern]")
            break
        try:
            print_line(description_of(path, entry))
            printed += 1
        except FileNotFoundError:
            # The entry was removed after the folder was read.
            continue
        except OSError:
            search.skip("not readable", path)
    if printed == 0 and not search.skipped:
        print_line(f"[{otherwise}]")
    search.report()


def description_of(path, entry):
    found = entry.stat(follow_symlinks=False)
    if stat.S_ISDIR(found.st_mode):
        return f"{shown(path)}/"
    if stat.S_ISREG(found.st_mode):
        return f"{shown(path)} ({found.st_size} bytes)"
    return f"{shown(path)} ({'link' if stat.S_ISLNK(found.st_mode) else 'special file'})"


def grep(pattern, path, glob, ignore_case, most, most_bytes):
    try:
        regex = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise Complaint(f"the pattern is not a valid regular expression: {error}")
    search = Search()
    printed = 0
    for name, text in texts_in(search, path, glob, most_bytes):
        for number, line in enumerate(text.split(b"\n"), 1):
            line = line.decode("utf-8", "replace")
            match = regex.search(line)
            if match is None:
                continue
            if printed == most:
                print_line(f"[truncated after {most} lines; use a deeper path or a narrower pattern]")
                return search.report()
            print_line(f"{shown(name)}:{number}:{around(line, match.start())}")
            # A later line may exceed the time limit. This line is reported even then.
            sys.stdout.flush()
            printed += 1
    if printed == 0:
        print_line("[no line matches]")
    search.report()


def texts_in(search, path, glob, most_bytes):
    """Yields the text files at a path: the file itself, or the files in the folder that match `glob`."""
    parts = parts_of(path)
    if parts and stat.S_ISREG(os.stat(parts[-1], dir_fd=folder_of(parts[:-1]), follow_symlinks=False).st_mode):
        found = [(folder_of(parts[:-1]), "/".join(parts), None)]
    else:
        found = search.walk(folder_of(parts), prefix_of(parts), file_filter(glob))
    for folder, name, entry in found:
        if entry is not None and not entry.is_file(follow_symlinks=False):
            continue
        try:
            with os.fdopen(open_in(folder, name.split("/")[-1], os.O_RDONLY, name), "rb") as file:
                text = file.read(most_bytes + 1)
        except (OSError, Complaint):
            search.skip("not readable", name)
            continue
        if len(text) > most_bytes:
            search.skip(f"larger than {most_bytes} bytes, not searched", name)
        elif b"\0" in text[:PROBE]:
            search.skip("binary, not searched", name)
        elif text:
            yield name, text.removesuffix(b"\n")


def file_filter(pattern):
    if pattern is None:
        return everything
    # A pattern without a slash matches names in any folder.
    glob = Glob(pattern if "/" in pattern else f"**/{pattern}")
    return matching(glob, glob.start)


def prefix_of(parts):
    return "".join(f"{part}/" for part in parts)


def around(line, at):
    """Returns the part of a line around a match, without characters that would break the line."""
    begin = max(0, min(at - MAX_LINE // 3, len(line) - MAX_LINE))
    part = line[begin : begin + MAX_LINE]
    cut = ("…" if begin > 0 else "") + part + ("…" if begin + MAX_LINE < len(line) else "")
    return CONTROLS.sub("\ufffd", cut.rstrip("\r"))


def shown(path):
    """Returns a path with unprintable characters escaped, so that it fits on one line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path)


def print_line(line):
    sys.stdout.buffer.write(line.encode("utf-8", "backslashreplace") + b"\n")


run(list=list_files, glob=glob_files, grep=grep)
