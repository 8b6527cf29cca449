from managed_spark import Client, FunctionFailed

workspace = Client().workspace("demo")

# The function is ready when the block begins, and the end of the block stops it.
with workspace.function(
    "examples/05-function/serve.py", "sevens", name="example-sevens", cluster="demo-spark-3.5.9"
) as sevens:
    print(sevens(limit=1000))
    try:
        sevens(count=1000)
    except FunctionFailed as failure:
        print(f"{failure.type}: {failure.message}")
        print("".join(failure.lines))
