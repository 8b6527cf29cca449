"""Client of the managed Spark platform.

    from managed_spark import Client

    run = Client().workspace("demo").run("job.py", cluster="demo-spark-3.5.9")
    for line in run.follow():
        print(line)
    run.result()
"""

from ._async.client import AsyncClient
from ._async.clusters import AsyncCluster
from ._async.notebooks import AsyncNotebook
from ._async.runs import AsyncFunction, AsyncRun
from ._async.workspaces import AsyncWorkspace
from ._cells import Cell
from ._cells import language_of as notebook_language
from ._generated import operations
from ._operation import Operation, PagedOperation
from ._sync.client import Client
from ._sync.clusters import Cluster
from ._sync.notebooks import Notebook
from ._sync.runs import Function, Run
from ._sync.workspaces import Workspace
from ._table import Table
from ._text import printable
from .errors import (
    ApiError,
    CellFailed,
    ClusterFailed,
    ConfigurationError,
    Conflict,
    DeadlineExceeded,
    Forbidden,
    FunctionFailed,
    Invalid,
    ManagedSparkError,
    NotFound,
    Overloaded,
    RunFailed,
    SqlFailed,
    Unauthenticated,
    Unreachable,
    UsageError,
)
from .settings import Settings, load_settings
from .version import VERSION as __version__

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncCluster",
    "AsyncFunction",
    "AsyncNotebook",
    "AsyncRun",
    "AsyncWorkspace",
    "Cell",
    "CellFailed",
    "Client",
    "Cluster",
    "ClusterFailed",
    "ConfigurationError",
    "Conflict",
    "DeadlineExceeded",
    "Forbidden",
    "Function",
    "FunctionFailed",
    "Invalid",
    "ManagedSparkError",
    "NotFound",
    "Notebook",
    "Operation",
    "Overloaded",
    "PagedOperation",
    "Run",
    "RunFailed",
    "Settings",
    "SqlFailed",
    "Table",
    "Unauthenticated",
    "Unreachable",
    "UsageError",
    "Workspace",
    "__version__",
    "load_settings",
    "notebook_language",
    "operations",
    "printable",
]
