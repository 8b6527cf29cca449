"""Links from a task to its run."""

from __future__ import annotations

from typing import Any

from airflow.providers.common.compat.sdk import BaseOperatorLink, XCom

RUN_URL = "managed_spark_run_url"
LOG_URL = "managed_spark_log_url"


class _StoredLink(BaseOperatorLink):
    """A link that the operator stores as soon as there is a run, so that it can be used while the task waits."""

    key = ""

    @property
    def xcom_key(self) -> str:
        """Key under which Airflow 3 reads the link."""
        return self.key

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        return XCom.get_value(ti_key=ti_key, key=self.key) or ""


class RunLink(_StoredLink):
    name = "Run"
    key = RUN_URL


class LogLink(_StoredLink):
    name = "Log"
    key = LOG_URL
