"""Airflow operators for the managed Spark platform.

    from managed_spark_airflow.operators import ManagedSparkJobOperator

    ManagedSparkJobOperator(task_id="sum", workspace="demo", script="sum.py", cluster="demo-spark-3.5.9", deferrable=True)
"""

from __future__ import annotations

from typing import Any, Dict

__version__ = "0.1.0"


def get_provider_info() -> Dict[str, Any]:
    """Returns what Airflow asks a provider for: the connection type with its form, and the links of the operators."""
    package = __name__
    return {
        "package-name": "airflow-provider-managed-spark",
        "name": "Managed Spark",
        "description": "Jobs, notebooks, SQL and clusters of the managed Spark platform.",
        "versions": [__version__],
        "connection-types": [
            {
                "connection-type": "managed_spark",
                "hook-name": "Managed Spark",
                "hook-class-name": f"{package}.hook.ManagedSparkHook",
                "ui-field-behaviour": {
                    "hidden-fields": ["schema", "port"],
                    "relabeling": {"host": "URL", "login": "User name", "password": "Personal token, or the user's password"},
                    "placeholders": {"host": "https://spark.example.com", "login": "empty with a token"},
                },
                "conn-fields": {
                    "tenant": {
                        "label": "Tenant",
                        "description": "Id or name; needed with a password if the user belongs to several",
                        "schema": {"type": ["string", "null"]},
                    },
                    "allow_http": {
                        "label": "Allow plain HTTP, which does not encrypt",
                        "schema": {"type": ["boolean", "null"], "default": False},
                    },
                },
            }
        ],
        "extra-links": [f"{package}.links.RunLink", f"{package}.links.LogLink"],
    }
