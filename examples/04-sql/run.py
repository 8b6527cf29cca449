from managed_spark import Client

workspace = Client().workspace("demo")
orders = workspace.sql(
    """
    select id as day, cast(id % 3 as string) as shop, 10 + id * 1.5D as revenue
    from range(90)
    """,
    cluster="demo-spark-3.5.9",
)
frame = orders.to_pandas()
print(frame.groupby("shop")["revenue"].sum().to_string())
print("Column revenue is", frame["revenue"].dtype)
