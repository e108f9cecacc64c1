"""The whole workspace as a tar stream, out and in. Follows workspace_paths.py in its program."""

import tarfile


def snapshot(most):
    """Files, folders and links as they are; nothing else. Who made them, and when, is not told."""
    given = 0

    def told(entry):
        nonlocal given
        given += entry.size
        if given > most:
            raise Complaint(f"the workspace has more than {most} bytes")
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry if entry.isreg() or entry.isdir() or entry.issym() or entry.islnk() else None

    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        pending = [("", name) for name in sorted(os.listdir(ROOT), reverse=True)]
        # Not by tarfile's own recursion: what is nested deeply, or closed to its owner, belongs to the workspace as well.
        while pending:
            above, name = pending.pop()
            path = os.path.join(above, name)
            full = os.path.join(ROOT, path)
            try:
                mode = os.lstat(full).st_mode
                if stat.S_ISREG(mode) and not mode & stat.S_IRUSR:
                    os.chmod(full, stat.S_IMODE(mode) | stat.S_IRUSR)
                if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
                    os.chmod(full, stat.S_IMODE(mode) | stat.S_IRWXU)
                archive.add(full, path, recursive=False, filter=told)
                if stat.S_ISDIR(mode):
                    pending.extend((path, below) for below in sorted(os.listdir(full), reverse=True))
            except FileNotFoundError:
                # A call that began meanwhile took it away.
                continue
    sys.stdout.buffer.flush()


def restore():
    """Lays an archive in. No entry leads out of the workspace: this runs where nothing else is to be reached."""
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
        for entry in archive:
            if not (entry.isreg() or entry.isdir() or entry.issym() or entry.islnk()):
                continue
            full = os.path.normpath(os.path.join(ROOT, entry.name))
            if not full.startswith(ROOT + "/"):
                raise Complaint(f"{entry.name} lies outside of the workspace")
            entry.mode &= 0o777
            archive.extract(entry, ROOT, numeric_owner=True)


def clear():
    """Takes everything away. Folders are moved up before they are emptied, so that no depth is too much."""
    count = 0
    while entries := list(os.scandir(ROOT)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)
            for below in list(os.scandir(entry.path)):
                if below.is_dir(follow_symlinks=False):
                    os.chmod(below.path, 0o700)
                    count += 1
                    os.rename(below.path, os.path.join(ROOT, f".reeve-{os.urandom(8).hex()}-{count}"))
                else:
                    os.unlink(below.path)
            os.rmdir(entry.path)


run(snapshot=snapshot, restore=restore, clear=clear)
