"""Apache Airflow with its own database, scheduler, API server and executor, in the folder that AIRFLOW_HOME names. All end with this process."""
from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import postgres

HOME = Path(os.environ["AIRFLOW_HOME"])
# Apart, since the user of the database may not see the home.
DATABASE = Path(tempfile.mkdtemp(prefix="intervale-postgres-"))
STARTED: list[subprocess.Popen] = []


def command(argv: list[str]) -> None:
    """A command of `airflow`, in this process: one import of Airflow for all of them."""
    from airflow.cli import cli_parser

    arguments = cli_parser.get_parser().parse_args(argv)
    arguments.func(arguments)


def launch(*arguments: str) -> None:
    log = open(HOME / f"{arguments[0]}.log", "wb")
    STARTED.append(
        subprocess.Popen(
            [sys.executable, "-m", "airflow", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    )


def until_answered(process: subprocess.Popen, answers: Callable[[], bool]) -> None:
    while not answers():
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with {process.returncode}; see the logs in {HOME}")
        time.sleep(0.1)


def is_open(url: str) -> bool:
    import psycopg2

    try:
        psycopg2.connect(f"postgresql://{url}").close()
        return True
    except psycopg2.OperationalError:
        return False


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v2/monitor/health", timeout=10) as answer:
            return answer.status == 200
    except OSError:
        return False


def stop() -> None:
    """Ends what was started last first: the database outlives those who use it."""
    while STARTED:
        process = STARTED.pop()
        for number in (signal.SIGINT, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                process.wait(20)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
    shutil.rmtree(DATABASE, ignore_errors=True)


atexit.register(stop)


def start() -> None:
    """A new database with the DAGs of the dags folder, and Airflow's processes at work on it. Airflow reads its configuration when it is first imported."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(
        AIRFLOW__API__HOST="127.0.0.1",
        AIRFLOW__API__PORT=str(port),
        AIRFLOW__API__BASE_URL=f"http://127.0.0.1:{port}",
        AIRFLOW__CORE__EXECUTION_API_SERVER_URL=f"http://127.0.0.1:{port}/execution/",
    )
    server, url = postgres.start(DATABASE)
    STARTED.append(server)
    os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"] = f"postgresql+psycopg2://{url}"
    os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_ASYNC"] = f"postgresql+asyncpg://{url}"
    until_answered(server, lambda: is_open(url))
    command(["db", "migrate"])
    command(["dags", "reserialize"])
    launch("api-server")
    # The tasks of a scheduler whose API server is not there yet fail.
    until_answered(STARTED[-1], lambda: answers(port))
    launch("scheduler", "--skip-serve-logs")


def runs(dag: str) -> list[dict]:
    """The runs of a DAG by the start of their intervals, with the state and the number of tries of their one task."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        found = session.scalars(select(DagRun).where(DagRun.dag_id == dag).order_by(DagRun.logical_date)).all()
        return [
            {
                "start": run.data_interval_start.isoformat(),
                "end": run.data_interval_end.isoformat(),
                "state": run.state,
                "type": run.run_type,
                "tries": max(task.try_number for task in run.task_instances),
            }
            for run in found
        ]


OPERATIONS = {"start": start, "command": command, "runs": runs, "stop": stop}
