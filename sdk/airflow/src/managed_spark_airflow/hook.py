"""The connection to the platform."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from airflow.providers.common.compat.sdk import BaseHook
from managed_spark import AsyncClient, Client, ManagedSparkError, Settings

#: Timeout of a connection test, which a user waits for.
TEST_SECONDS = 10.0


class ManagedSparkHook(BaseHook):
    """Creates clients of the platform from a connection of the type `managed_spark`.

    Its host is the URL of the platform. Its password is a personal token or, with a login, the password of that user.
    """

    conn_name_attr = "managed_spark_conn_id"
    default_conn_name = "managed_spark_default"
    conn_type = "managed_spark"
    hook_name = "Managed Spark"

    def __init__(self, managed_spark_conn_id: str = default_conn_name) -> None:
        super().__init__()
        self.managed_spark_conn_id = managed_spark_conn_id

    @classmethod
    def get_ui_field_behaviour(cls) -> Dict[str, Any]:
        """Returns the form for Airflow 2; Airflow 3 takes it from `get_provider_info`."""
        from . import get_provider_info

        described = get_provider_info()["connection-types"][0]["ui-field-behaviour"]
        placeholders = {**described["placeholders"], "extra": '{"tenant": "…", "allow_http": false}'}
        return {
            "hidden_fields": described["hidden-fields"],
            "relabeling": described["relabeling"],
            "placeholders": placeholders,
        }

    def client(self) -> Client:
        return Client(settings=settings_of(self.get_connection(self.managed_spark_conn_id)))

    async def async_client(self) -> AsyncClient:
        from airflow.providers.common.compat.connection import get_async_connection

        return AsyncClient(settings=settings_of(await get_async_connection(self.managed_spark_conn_id)))

    def test_connection(self) -> Tuple[bool, str]:
        """Logs in, and returns the name of the user."""
        try:
            with self.client() as client:
                client.set_timeout(TEST_SECONDS)
                user = client.user()
        except (ManagedSparkError, ValueError) as error:
            return False, str(error)
        return True, f"Logged in as {user['username']}."


def settings_of(connection: Any) -> Settings:
    host = connection.host or ""
    url = host if "://" in host else f"{connection.schema or 'https'}://{host}"
    if connection.port:
        url = f"{url.rstrip('/')}:{connection.port}"
    extra = connection.extra_dejson
    is_token = not connection.login
    return Settings(
        url=url.rstrip("/"),
        token=connection.password if is_token else None,
        username=connection.login or None,
        password=None if is_token else connection.password,
        tenant=_text(extra.get("tenant")),
        source=f"the connection {connection.conn_id}",
        allow_http=str(extra.get("allow_http") or "").lower() in ("1", "true", "yes"),
    )


def _text(value: Any) -> Optional[str]:
    return None if value in (None, "") else str(value)
