"""Drafts: new files that atomically replace existing ones. Concatenated after workspace_paths.py."""


class Draft:
    """A file that has no name until it is complete, so that nothing remains if its writer fails or is killed.

    Some file systems do not support unnamed files. There, the file has a temporary name, and remains if its writer is killed.
    """

    def __init__(self, folder, mode):
        self.folder, self.name = folder, None
        given = 0o644 if mode is None else 0o600
        try:
            fd = os.open(".", os.O_WRONLY | os.O_TMPFILE, given, dir_fd=folder)
        except OSError as error:
            if error.errno not in NO_UNNAMED_FILES:
                raise
            self.name = draft_name()
            fd = os.open(self.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, given, dir_fd=folder)
        self.file = os.fdopen(fd, "wb")
        if mode is not None:
            os.fchmod(fd, mode)

    def __enter__(self):
        return self

    def put(self, name, check=lambda: None):
        """Replaces `name` with this file. `check` runs immediately before and may raise. A link is replaced, never followed."""
        self.file.flush()
        if self.name is None:
            beside = draft_name()
            os.link(f"/proc/self/fd/{self.file.fileno()}", beside, dst_dir_fd=self.folder, follow_symlinks=True)
            self.name = beside
        check()
        os.rename(self.name, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        self.name = None

    def __exit__(self, *_):
        if self.name is not None:
            os.unlink(self.name, dir_fd=self.folder)
        try:
            self.file.close()
        except OSError:
            # A write error was already raised by `put`, or the file is being discarded.
            pass


# Errors of kernels and file systems that do not support unnamed files.
NO_UNNAMED_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)


def draft_name():
    return f".reeve-{os.urandom(8).hex()}"
