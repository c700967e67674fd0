"""Runs the pipeline of ../../readings.ts for each of Airflow's data intervals."""

import os
import re
from datetime import timedelta
from pathlib import Path

import pendulum
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, CronDataIntervalTimetable, RetryDecision, RetryPolicy

PIPELINE = os.environ.get("READINGS_PIPELINE", str(Path(__file__).resolve().parents[2] / "readings.ts"))
BERLIN = pendulum.timezone("Europe/Berlin")


class UnlessInVain(RetryPolicy):
    """A wrong command line (exit code 2) and what a guard refused (6) fail at once: the next try would end alike. Everything else may pass."""

    def evaluate(self, exception, try_number, max_tries, context=None):
        code = re.search(r"exit code (\d+)", str(exception))
        if code and code[1] in ("2", "6"):
            return RetryDecision.fail(f"tablectl ended with {code[1]}")
        return RetryDecision.default()

    def serialize(self):
        return {}


with DAG(
    dag_id="readings",
    # Data intervals: `schedule="@daily"` would give each run an interval whose start is its end. The zone is the pipeline's.
    schedule=CronDataIntervalTimetable("0 0 * * *", timezone=BERLIN),
    start_date=pendulum.datetime(2024, 3, 28, tz=BERLIN),
    # The example ends after a week; a real one goes on.
    end_date=pendulum.datetime(2024, 4, 3, tz=BERLIN),
    # Every day since the start is run; with False only the newest, and the others by `airflow backfill create`.
    catchup=True,
    # Runs of several days at once do each other no harm, and neither do two runs of one day.
    max_active_runs=4,
    default_args={
        "retries": 3,
        "retry_delay": timedelta(minutes=1),
        "retry_exponential_backoff": True,
        "retry_policy": UnlessInVain(),
    },
):
    BashOperator(
        task_id="run",
        # `exec`: what Airflow ends is then tablectl itself, which leaves nothing half done.
        bash_command='exec tablectl run "$PIPELINE" --interval "$START/$END" --json',
        env={
            "PIPELINE": PIPELINE,
            "START": "{{ data_interval_start | ts }}",
            "END": "{{ data_interval_end | ts }}",
        },
        append_env=True,
    )
