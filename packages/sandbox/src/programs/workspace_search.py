"""Finds files of the workspace and lines in them. Follows workspace_globs.py in its program. No link is followed."""

MOST_DEPTH = 100
MOST_NAMED = 5
MOST_LINE = 300
# What ends a line, or does something to a terminal.
CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


class Search:
    """A walk over a folder of the workspace, in the order of names, and what it left out."""

    def __init__(self):
        self.left_out = {}

    def leave_out(self, why, path):
        self.left_out.setdefault(why, []).append(path)

    def walk(self, folder, prefix, wanted, depth=0):
        """All entries that `wanted` takes, as (folder, path, entry); it says for a name whether, and what of below."""
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = prefix + entry.name
            matches, below = wanted(entry.name)
            if matches:
                yield folder, path, entry
            if below is None or not entry.is_dir(follow_symlinks=False):
                continue
            if depth == MOST_DEPTH:
                self.leave_out("nested too deeply", path)
                continue
            try:
                inner = os.open(entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            except OSError:
                self.leave_out("not readable", path)
                continue
            try:
                yield from self.walk(inner, path + "/", below, depth + 1)
            finally:
                os.close(inner)

    def tell(self):
        for why, paths in self.left_out.items():
            more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
            say(f"[{why}: {', '.join(map(shown, paths[:MOST_NAMED]))}{more}]")


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
    tell_entries(search, search.walk(folder_of(parts), prefix_of(parts), wanted), most, f"{path} is empty")


def glob_files(pattern, path, most):
    search = Search()
    parts = parts_of(path)
    glob = Glob(pattern)
    found = search.walk(folder_of(parts), prefix_of(parts), matching(glob, glob.start))
    tell_entries(search, found, most, f"nothing in {path} matches {pattern}")


def tell_entries(search, found, most, otherwise):
    told = 0
    for _, path, entry in found:
        if told == most:
            say(f"[cut: there are more than these {most}; ask for a deeper path or a narrower pattern]")
            break
        try:
            say(described(path, entry))
            told += 1
        except FileNotFoundError:
            # Gone since the folder was read.
            continue
        except OSError:
            search.leave_out("not readable", path)
    if told == 0 and not search.left_out:
        say(f"[{otherwise}]")
    search.tell()


def described(path, entry):
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
        raise Complaint(f"the pattern is no regular expression: {error}")
    search = Search()
    told = 0
    for name, text in texts_in(search, path, glob, most_bytes):
        for number, line in enumerate(text.split(b"\n"), 1):
            line = line.decode("utf-8", "replace")
            match = regex.search(line)
            if match is None:
                continue
            if told == most:
                say(f"[cut: there are more than these {most} lines; ask for a deeper path or a narrower pattern]")
                return search.tell()
            say(f"{shown(name)}:{number}:{around(line, match.start())}")
            # Whatever a pattern does to later lines, these are found.
            sys.stdout.flush()
            told += 1
    if told == 0:
        say("[no line matches]")
    search.tell()


def texts_in(search, path, glob, most_bytes):
    """The text files at a path: the file itself, or those of the folder that `glob` takes."""
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
            search.leave_out("not readable", name)
            continue
        if len(text) > most_bytes:
            search.leave_out(f"larger than {most_bytes} bytes, not searched", name)
        elif b"\0" in text[:PROBE]:
            search.leave_out("binary, not searched", name)
        elif text:
            yield name, text.removesuffix(b"\n")


def file_filter(pattern):
    if pattern is None:
        return everything
    # A pattern without folders is one of names, wherever they are.
    glob = Glob(pattern if "/" in pattern else f"**/{pattern}")
    return matching(glob, glob.start)


def prefix_of(parts):
    return "".join(f"{part}/" for part in parts)


def around(line, at):
    """The part of a line around a match, on one line whatever it holds."""
    begin = max(0, min(at - MOST_LINE // 3, len(line) - MOST_LINE))
    part = line[begin : begin + MOST_LINE]
    cut = ("…" if begin > 0 else "") + part + ("…" if begin + MOST_LINE < len(line) else "")
    return CONTROLS.sub("\ufffd", cut.rstrip("\r"))


def shown(path):
    """A path on one line, whatever its names hold."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path)


def say(line):
    sys.stdout.buffer.write(line.encode("utf-8", "backslashreplace") + b"\n")


run(list=list_files, glob=glob_files, grep=grep)
