"""Apache Airflow with its own scheduler, API server and executor, in the folder that AIRFLOW_HOME names. It ends with this process."""
from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HOME = Path(os.environ["AIRFLOW_HOME"])
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


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v2/monitor/health", timeout=10) as answer:
            return answer.status == 200
    except OSError:
        return False


def stop() -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in STARTED:
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                pass
        until = time.monotonic() + 20
        while time.monotonic() < until and any(process.poll() is None for process in STARTED):
            time.sleep(0.05)
    STARTED.clear()


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
    command(["db", "migrate"])
    command(["dags", "reserialize"])
    launch("api-server")
    # The tasks of a scheduler whose API server is not there yet fail.
    while not answers(port):
        if STARTED[0].poll() is not None:
            raise RuntimeError(f"the API server ended; see {HOME}/api-server.log")
        time.sleep(0.1)
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
